//! What a run is held to: times, sizes and how much must have happened.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const SECOND: u64 = 1_000_000_000;

/// All limits. Times in nanoseconds. A file of them may leave out what it does not change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Times.
    pub times: Times,
    /// Sizes.
    pub sizes: Sizes,
    /// How much must have happened.
    pub coverage: Coverage,
}

/// How long things may take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Times {
    /// The age past which a replica is stale (T).
    pub fresh: u64,
    /// How long after that the last surface may still say fresh.
    pub fresh_grace: u64,
    /// The age past which a source is stale (T_src).
    pub source_fresh: u64,
    /// From the end of the last fault to a fresh replica, through a snapshot.
    pub recover: u64,
    /// From the end of the last fault to a leader.
    pub leader: u64,
    /// From the end of the last fault to the next acknowledged revision.
    pub ingest: u64,
    /// From quiet to convergence (D).
    pub converge: u64,
    /// From the opening of a stream to its first message.
    pub first_message: u64,
    /// How long two replicas may watch the source at once.
    pub two_watchers: u64,
}

/// What a replica may use. None: not limited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sizes {
    /// Resident memory of a replica. Unit: bytes.
    pub rss_bytes_max: Option<u64>,
    /// Open files of a replica.
    pub fds_max: Option<u64>,
    /// Bytes of log and snapshots on a replica's disk.
    pub disk_bytes_max: Option<u64>,
    /// Batches that wait to be proposed.
    pub proposals_max: Option<u64>,
    /// Answers that wait for one client.
    pub pending_max: u64,
    /// How much more than before the faults a replica may use when all is over; percent.
    pub growth_percent_max: u64,
    /// Growth below this many bytes is never held against a replica.
    pub growth_bytes_free: u64,
    /// A first message with fewer addresses than this must be the whole answer.
    pub first_message_partial_min: usize,
    /// Operations on one register that are tried for linearizability without trust in revisions.
    pub linear_operations_max: usize,
    /// Steps of that search before it gives up.
    pub linear_steps_max: u64,
}

/// How much must have happened before a run says anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Coverage {
    /// How often each class of fault must have been in force.
    pub faults: BTreeMap<String, u64>,
    /// How many operations must have succeeded while each of those classes was in force.
    pub operations_under_each_fault: u64,
    /// How many messages streams must have received.
    pub messages: u64,
    /// How often leadership must have moved.
    pub leader_changes: u64,
    /// How many snapshots must have been installed.
    pub snapshot_installs: u64,
    /// How many operations a second must have succeeded before the first fault.
    pub warm_operations_per_second: u64,
    /// What part of the operations may end unknown; percent, this number excluded.
    pub unknown_percent: u64,
}

impl Default for Times {
    fn default() -> Self {
        Self {
            fresh: 3 * SECOND,
            fresh_grace: SECOND / 2,
            source_fresh: 30 * SECOND,
            recover: 10 * SECOND,
            leader: 3 * SECOND,
            ingest: 5 * SECOND,
            converge: 5 * SECOND,
            first_message: SECOND,
            two_watchers: 10 * SECOND,
        }
    }
}

impl Default for Sizes {
    fn default() -> Self {
        Self {
            rss_bytes_max: None,
            fds_max: None,
            disk_bytes_max: None,
            proposals_max: None,
            pending_max: 1,
            growth_percent_max: 50,
            growth_bytes_free: 32 * 1024 * 1024,
            first_message_partial_min: 1000,
            linear_operations_max: 3000,
            linear_steps_max: 5_000_000,
        }
    }
}

impl Default for Coverage {
    fn default() -> Self {
        Self {
            faults: BTreeMap::new(),
            operations_under_each_fault: 10,
            messages: 100,
            leader_changes: 2,
            snapshot_installs: 1,
            warm_operations_per_second: 10,
            unknown_percent: 50,
        }
    }
}
