//! Histories of what replicas and clients did, and whether they keep the guarantees.
//!
//! ```text
//! simulation ──┐
//!              ├─▶ History ──checkers──▶ verdicts ──▶ report
//! laboratory ──┘   (events in memory,
//!                   or JSON lines)
//! ```
//!
//! Everything here is a pure function of a [`History`]: no clock, no I/O but the files that the
//! caller hands in. Times are those of one monotonic clock, real or simulated.

#![deny(clippy::wildcard_enum_match_arm)]

mod guarantee;
mod history;

pub use guarantee::Guarantee;
pub use history::*;
