//! Who, and where in history: replica ids, terms, log ids, revisions, digests.
//!
//! Depends on nothing of ours. Everything here is a plain value with one meaning.

#![deny(clippy::wildcard_enum_match_arm)]

mod digest;
mod hex;
mod history_id;
mod log_id;
mod position;
mod replica_id;
mod revision;
mod term;

pub use digest::Digest;
pub use hex::InvalidHex;
pub use history_id::HistoryId;
pub use log_id::LogId;
pub use position::Position;
pub use replica_id::ReplicaId;
pub use revision::{InvalidRevision, Revision, RevisionLag};
pub use term::Term;
