//! The replicated state machine: what a batch of commands means.
//!
//! The state has two layers. *Content* is what answers are made of; it alone
//! counts revisions and enters the digests. *Source memory* is what a new leader
//! must know to go on where the old one stopped; it rides in the same entries
//! and makes no revision.
//!
//! Applying is put and delete, nothing more: the leader joins, so that two
//! versions of the program cannot join one batch in two ways.

#![deny(clippy::wildcard_enum_match_arm)]

mod apply;
mod changed;
pub mod codec;
mod command;
mod content;
mod digest;
mod image;
mod memory;
mod propose;
mod state;

pub use apply::{Applied, Outcome};
pub use changed::Changed;
pub use command::{Batch, Command, Part};
pub use content::Content;
pub use image::{ImageError, StateImage};
pub use memory::SourceMemory;
pub use propose::{Propose, ProposeError};
pub use state::State;
