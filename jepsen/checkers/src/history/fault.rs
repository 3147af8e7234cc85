//! What was done to the group.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

use super::Replica;

/// One step of a fault. A fault lasts from its start to its end; one without an end lasts to
/// [`Phase::Healed`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fault {
    /// Which fault: unique in the run, the same at start and end.
    pub id: u64,
    /// Its class, such as `isolate-leader`: coverage is counted by it.
    pub class: String,
    /// Whether it is in force.
    pub installed: Installed,
    /// What it does; read at the start only.
    #[serde(default)]
    pub effect: Effect,
}

/// Whether a step of a fault is in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Installed {
    /// It is.
    Yes,
    /// It is not, for a reason: this machine cannot do it, or the group has no such replica.
    Skipped(String),
    /// Nobody knows: the run cannot be judged.
    Unclear(String),
}

/// What a fault does, as far as checkers excuse or demand something because of it. All sets
/// are empty unless said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Effect {
    /// These replicas are disturbed in some way. The others' sets count as this one too.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub touched: BTreeSet<Replica>,
    /// Their processes are killed, or end and may stay down.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub down: BTreeSet<Replica>,
    /// Their processes are stopped by a signal.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub paused: BTreeSet<Replica>,
    /// They cannot reach a quorum, from the start to the end of the fault.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub isolated: BTreeSet<Replica>,
    /// They cannot reach the API server.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub sourceless: BTreeSet<Replica>,
    /// Clients cannot reach them.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub clientless: BTreeSet<Replica>,
    /// Their disks lost something, or have an older copy.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub damaged: BTreeSet<Replica>,
    /// The API server is silent, wrong, slow or away for every replica.
    #[serde(skip_serializing_if = "is_false")]
    pub source: bool,
    /// Every watch of the source is open and delivers nothing (half-open).
    #[serde(skip_serializing_if = "is_false")]
    pub source_silent: bool,
    /// The fault makes a new history on purpose: a restore, or a forced recovery.
    #[serde(skip_serializing_if = "is_false")]
    pub new_history: bool,
    /// Clients stop reading, or come in storms.
    #[serde(skip_serializing_if = "is_false")]
    pub clients: bool,
}

/// How far a run has come. Each begins where it is written.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Work without faults.
    Warm,
    /// Faults may come.
    Faults,
    /// Every fault is taken back.
    Healed,
    /// Writers have stopped and the group had time: final reads follow, and all must succeed.
    Settled,
    /// The run is over as planned. Without it the history is a torso.
    Done,
}

fn is_false(value: &bool) -> bool {
    !value
}

// === impl Effect ===

impl Effect {
    /// Whether the replica is disturbed in any way.
    #[must_use]
    pub fn touches(&self, replica: Replica) -> bool {
        [
            &self.touched,
            &self.down,
            &self.paused,
            &self.isolated,
            &self.sourceless,
            &self.clientless,
            &self.damaged,
        ]
        .iter()
        .any(|set| set.contains(&replica))
    }
}
