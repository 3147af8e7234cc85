//! A node's own account of where it is.

use lockstep_position::{HistoryId, LogId, ReplicaId};
use openraft::async_runtime::WatchReceiver;
use openraft::{Instant, RaftMetrics};
use std::collections::BTreeSet;
use std::time::Duration;

use crate::Role;
use crate::library::{Library, Member, dismissed_from, log_id_of};
use crate::node::Inner;

/// Where one replica is, as far as it knows itself.
///
/// purged ≤ snapshot ≤ applied ≤ committed ≤ last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaftStatus {
    /// This replica.
    pub id: ReplicaId,
    /// Its configured name.
    pub name: String,
    /// The part it plays, with the term.
    pub role: Role,
    /// The history that its folder belongs to, once known.
    pub history: Option<HistoryId>,
    /// The last entry in its log; `None` when there never was one.
    pub last: Option<LogId>,
    /// The last entry that it knows to be committed.
    pub committed: Option<LogId>,
    /// The last entry in its state.
    pub applied: Option<LogId>,
    /// The last entry that its newest snapshot covers.
    pub snapshot: Option<LogId>,
    /// The last entry that was cut from its log.
    pub purged: Option<LogId>,
    /// How long silence may last: a leader that no quorum has answered for longer proposes
    /// nothing, and a follower that is silent for longer counts as away.
    pub lease: Duration,
    /// Time since a quorum last answered this leader, itself included; `None` of any other
    /// replica, and before the first answer.
    pub quorum_acked_ago: Option<Duration>,
    /// The members of the group, sorted by id. Empty before bootstrap.
    pub members: Vec<MemberStatus>,
    /// Who is no member, and why.
    pub outside: OutsideStatus,
    /// Its data folder.
    pub disk: DiskStatus,
}

/// Who is no member of the group, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutsideStatus {
    /// Who is configured and no member; known to the leader only.
    pub outsiders: Vec<Outsider>,
    /// Names that an operator removed, sorted.
    pub dismissed: Vec<String>,
    /// Why this replica is no member, if a leader has told it so a moment ago.
    pub left_out: Option<String>,
}

/// A replica that is configured and no member, as the leader sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outsider {
    /// Its configured name.
    pub name: String,
    /// `host:port` where its peers dial it.
    pub address: String,
    /// Why it is no member, one sentence.
    pub why: String,
}

/// One member of the group, as one replica sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberStatus {
    /// The member.
    pub id: ReplicaId,
    /// Its configured name.
    pub name: String,
    /// `host:port` where its peers dial it.
    pub address: String,
    /// Whether it votes or only follows.
    pub voter: bool,
    /// The last index known to be equal to the leader's; known to the leader only.
    pub matched: Option<u64>,
    /// Time since the newest message that it acknowledged was sent; known to the leader only.
    pub acked_ago: Option<Duration>,
    /// When it became a member, by its leader's clock. Unit: milliseconds since 1970.
    pub since_unix_ms: Option<u64>,
}

/// What a data folder takes. Unit: bytes.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct DiskStatus {
    /// The file that holds log and vote.
    pub log_bytes: u64,
    /// All snapshot files together.
    pub snapshot_bytes: u64,
}

impl RaftStatus {
    /// Whether this replica leads without a quorum: none has answered within the
    /// lease, so it proposes nothing, and another may lead by now.
    #[must_use]
    pub fn lacks_quorum(&self) -> bool {
        let mut voters = self.members.iter().filter(|member| member.voter);
        let is_alone = voters.all(|voter| voter.id == self.id);
        let is_answered = self.quorum_acked_ago.is_some_and(|ago| ago < self.lease);
        self.role.leading().is_some() && !is_alone && !is_answered
    }

    /// What people call a replica: its configured name, or the id of one that is no member.
    #[must_use]
    pub fn name_of(&self, id: ReplicaId) -> String {
        let member = self.members.iter().find(|member| member.id == id);
        member.map_or_else(|| id.to_string(), |member| member.name.clone())
    }
}

/// Puts together what a node knows about itself.
pub(crate) fn status_of(node: &Inner) -> RaftStatus {
    let metrics = node.raft.metrics();
    let now = metrics.borrow_watched().clone();
    let bounds = node.folder.log().bounds();
    let applied = *node.applied.borrow();
    RaftStatus {
        id: now.id,
        name: node.peers.address().name.as_ref().to_owned(),
        role: *node.role.borrow(),
        history: node.peers.address().history.get().copied(),
        last: bounds.last,
        // What is applied is committed, even before the core has said so.
        committed: now.local_committed.as_ref().map(log_id_of).max(applied),
        applied,
        snapshot: now.snapshot.as_ref().map(log_id_of),
        purged: bounds.purged,
        lease: node.lease,
        quorum_acked_ago: now
            .last_quorum_acked
            .map(|acked| acked.into_inner().elapsed()),
        members: members_of(node, &now),
        outside: OutsideStatus {
            outsiders: node.outsiders.borrow().clone(),
            dismissed: dismissed_from(now.membership_config.membership())
                .into_keys()
                .collect(),
            left_out: node.notices.standing(),
        },
        disk: DiskStatus {
            log_bytes: node.folder.log().file_bytes(),
            snapshot_bytes: node.folder.snapshots().file_bytes(),
        },
    }
}

fn members_of(node: &Inner, now: &RaftMetrics<Library>) -> Vec<MemberStatus> {
    let voters: BTreeSet<ReplicaId> = now.membership_config.voter_ids().collect();
    let status = |(id, member): (&ReplicaId, &Member)| MemberStatus {
        id: *id,
        name: member.name.clone(),
        address: node.peers.address_of(member).to_owned(),
        voter: voters.contains(id),
        matched: now
            .replication
            .as_ref()
            .and_then(|matched| matched.get(id).cloned().flatten())
            .map(|matched| matched.index),
        acked_ago: now
            .heartbeat
            .as_ref()
            .and_then(|acked| acked.get(id).copied().flatten())
            .map(|acked| acked.into_inner().elapsed()),
        since_unix_ms: Some(member.since_unix_ms).filter(|since| *since > 0),
    };
    now.membership_config.nodes().map(status).collect()
}
