//! Objects: what the server stamps, fills in, refuses and merges.

mod cluster_address;
mod defaults;
mod delete;
pub(crate) mod metadata;
mod patch;
mod validate;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use delete::{Deletion, Preconditions, delete};
pub(crate) use patch::Patch;
pub(crate) use validate::name_of_type;
pub(crate) use write::{Part, Target, Written, apply_whole, create, patch, replace};
