//! The group as its leader sees it at one moment.

use lockstep_position::ReplicaId;
use openraft::async_runtime::WatchReceiver;
use openraft::{Instant, ServerState};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::library::{Membership, Raft, RawLogId};

/// A voter that has acknowledged nothing for this long counts as away. A busy
/// machine delays heartbeats by hundreds of milliseconds.
const AWAY_AFTER: Duration = Duration::from_secs(2);
/// The same in heartbeats, for groups that are told to be patient.
const AWAY_AFTER_HEARTBEATS: u32 = 5;

/// The group as its leader sees it.
#[derive(Clone, Debug)]
pub(crate) struct GroupView {
    /// The replica that looks.
    pub(crate) own: ReplicaId,
    /// Whether it leads.
    pub(crate) leads: bool,
    /// The newest term that it knows of.
    pub(crate) term: u64,
    /// The leader that it knows of.
    pub(crate) leader: Option<ReplicaId>,
    /// The newest membership.
    pub(crate) membership: Membership,
    /// The entry that set it.
    pub(crate) at: Option<RawLogId>,
    /// Whether that entry is committed.
    pub(crate) is_committed: bool,
    /// The last index of its log.
    pub(crate) last: u64,
    /// How far each follower's log is known to be the leader's.
    pub(crate) matched: BTreeMap<ReplicaId, u64>,
    /// Those who acknowledged something a moment ago, the leader itself among them.
    pub(crate) present: BTreeSet<ReplicaId>,
}

impl GroupView {
    /// What `raft` knows now.
    pub(crate) fn of(raft: &Raft) -> Self {
        let metrics = raft.metrics();
        let now = metrics.borrow_watched().clone();
        let heartbeat = Duration::from_millis(raft.config().heartbeat_interval);
        let away_after = AWAY_AFTER.max(heartbeat.saturating_mul(AWAY_AFTER_HEARTBEATS));
        let acknowledged = now.heartbeat.unwrap_or_default().into_iter();
        let present = acknowledged
            .filter(|(_, at)| at.is_some_and(|at| at.into_inner().elapsed() < away_after))
            .map(|(id, _)| id)
            .chain([now.id]);
        let matched = now.replication.unwrap_or_default().into_iter();
        let at = *now.membership_config.log_id();
        Self {
            own: now.id,
            leads: now.state == ServerState::Leader,
            term: now.current_term,
            leader: now.current_leader,
            membership: now.membership_config.membership().clone(),
            at,
            is_committed: at == *now.committed_membership_config.log_id(),
            last: now.last_log_index.unwrap_or_default(),
            matched: matched
                .filter_map(|(id, matched)| Some((id, matched?.index)))
                .collect(),
            present: present.collect(),
        }
    }

    /// Entries that a member is behind the leader.
    pub(crate) fn behind(&self, id: ReplicaId) -> u64 {
        let matched = self.matched.get(&id).copied().unwrap_or_default();
        self.last.saturating_sub(matched)
    }

    /// The configured name of a member, or its id.
    pub(crate) fn name_of(&self, id: ReplicaId) -> String {
        let member = self.membership.get_node(&id);
        member.map_or_else(|| id.to_string(), |member| member.name.clone())
    }
}
