//! The leader's view of Kubernetes: facts in, commands out.
//!
//! Pure: the catalogue holds no clock, no channel and no connection. A
//! [`FactSource`] is the port through which facts arrive.
//!
//! ```text
//! FactSource ──event──▶ observe: facts, references, what is touched
//!                          │
//!                       gate: has every kind been listed?
//!                          │
//!                       reconcile: wanted − committed ──▶ commands
//! ```
//!
//! What is wanted is a function of the facts alone, never of the order in which
//! they came: an item is recomputed whole from all current facts whenever one
//! of them changes.

#![deny(clippy::wildcard_enum_match_arm)]

mod audit;
mod catalog;
mod external;
mod facts;
mod gate;
mod join;
mod known;
mod owner;
mod pods;
mod reconcile;
mod references;
mod rivals;
mod servers;
#[expect(
    clippy::large_enum_variant,
    reason = "almost every event is of the large variant, and events are moved, not kept"
)]
mod source;
mod suspects;

pub use audit::{Difference, IncompleteList, Verdict, audit};
pub use catalog::Catalog;
pub use source::{FactSession, FactSource, Listed, Resume, SourceError, SourceEvent};
pub use suspects::Suspects;
