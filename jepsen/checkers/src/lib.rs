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
//!
//! A checker looks at the observations that it judges by and passes over all others, those of
//! tomorrow included: that is the one enum of ours that is matched with a wildcard.

mod checkers;
mod guarantee;
mod history;
mod judge;
mod limits;
mod run;
mod serial;
mod verdict;

pub use checkers::{
    Act, CheckerId, Linear, RegisterOperation, Witness, contradiction, is_suspicious, linearize,
};
pub use guarantee::Guarantee;
pub use history::*;
pub use judge::{Judgement, judge, judge_by};
pub use limits::{Coverage, Limits, Sizes, Times};
pub use run::{
    Commits, Committed, Ended, FaultSpan, Faults, Heard, OperationSpan, Run, Stream, Timeline,
};
pub use serial::{InvalidSerial, Serial};
pub use verdict::{Exemption, Validity, Verdict, Violation};
