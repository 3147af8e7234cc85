//! The checkers, each a pure function of a run.

use serde::Serialize;

use crate::{Guarantee, Run, Verdict};

mod convergence;
mod coverage;
mod crash;
mod digest;
mod durability;
mod freshness;
mod ingest_log;
mod linear;
mod liveness;
mod provenance;
mod replay;
mod resources;
mod session;
mod witness;

pub use crash::is_suspicious;
pub use linear::{Act, Linear, RegisterOperation, linearize};
pub use witness::{Witness, contradiction};

/// One checker.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(into = "&'static str")]
pub enum CheckerId {
    /// C1: equal revisions have equal digests, and equal places of the log equal entries.
    Digest,
    /// C2: every message is what the log makes it.
    Replay,
    /// C3: nobody is taken back.
    Session,
    /// C4: when it is quiet, everybody holds what Kubernetes holds.
    Convergence,
    /// C5: every address was written by somebody.
    Provenance,
    /// C6: who says fresh is fresh.
    Freshness,
    /// C7: the log obeys its own rules.
    IngestLog,
    /// C8: what was seen is there.
    Durability,
    /// C9a: revisions obey real time.
    Witness,
    /// C9b: registers are linearizable, whatever revisions say.
    Linear,
    /// C10: the group heals, and in time.
    Liveness,
    /// C11: nothing grows without end.
    Resources,
    /// C12: nothing crashes.
    Crash,
    /// C13: enough happened to say anything.
    Coverage,
}

// === impl CheckerId ===

impl CheckerId {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Digest,
        Self::Replay,
        Self::Session,
        Self::Convergence,
        Self::Provenance,
        Self::Freshness,
        Self::IngestLog,
        Self::Durability,
        Self::Witness,
        Self::Linear,
        Self::Liveness,
        Self::Resources,
        Self::Crash,
        Self::Coverage,
    ];

    /// The number and the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Digest => "C1 digest",
            Self::Replay => "C2 replay",
            Self::Session => "C3 session",
            Self::Convergence => "C4 convergence",
            Self::Provenance => "C5 provenance",
            Self::Freshness => "C6 freshness",
            Self::IngestLog => "C7 ingest log",
            Self::Durability => "C8 durability",
            Self::Witness => "C9a witness",
            Self::Linear => "C9b linear",
            Self::Liveness => "C10 liveness",
            Self::Resources => "C11 resources",
            Self::Crash => "C12 crash",
            Self::Coverage => "C13 coverage",
        }
    }

    /// The promises that it checks; coverage checks none, it says whether the others could.
    #[must_use]
    pub const fn guarantees(self) -> &'static [Guarantee] {
        use Guarantee as G;
        match self {
            Self::Digest => &[G::Agreement],
            Self::Replay => &[
                G::Agreement,
                G::Monotonic,
                G::WholeFirst,
                G::NoFalseWithdrawal,
                G::NoChurn,
            ],
            Self::Session => &[G::Monotonic, G::FreshOrSaysSo],
            Self::Convergence => &[G::Convergence, G::Isolation],
            Self::Provenance => &[G::NoPhantom],
            Self::Freshness => &[G::FreshOrSaysSo],
            Self::IngestLog => &[
                G::OneVoice,
                G::NoFalseWithdrawal,
                G::NoChurn,
                G::Agreement,
                G::NoPhantom,
            ],
            Self::Durability => &[G::Durable, G::OneVoice],
            Self::Witness => &[G::Monotonic, G::Agreement],
            Self::Linear => &[G::Monotonic],
            Self::Liveness => &[G::Continuity, G::WholeFirst, G::FreshOrSaysSo],
            Self::Resources => &[G::Bounded, G::Isolation],
            Self::Crash => &[G::Continuity, G::Durable],
            Self::Coverage => &[],
        }
    }

    /// Runs it.
    #[must_use]
    pub fn check(self, run: &Run<'_>) -> Verdict {
        let mut verdict = Verdict::of(self);
        let check = match self {
            Self::Digest => digest::check,
            Self::Replay => replay::check,
            Self::Session => session::check,
            Self::Convergence => convergence::check,
            Self::Provenance => provenance::check,
            Self::Freshness => freshness::check,
            Self::IngestLog => ingest_log::check,
            Self::Durability => durability::check,
            Self::Witness => witness::check,
            Self::Linear => linear::check,
            Self::Liveness => liveness::check,
            Self::Resources => resources::check,
            Self::Crash => crash::check,
            Self::Coverage => coverage::check,
        };
        check(run, &mut verdict);
        verdict
    }
}

impl From<CheckerId> for &'static str {
    fn from(checker: CheckerId) -> Self {
        checker.name()
    }
}
