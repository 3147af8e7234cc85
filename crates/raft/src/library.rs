//! The Raft library's types, chosen once, and how they map to ours.

use bytes::Bytes;
use lockstep_position::{LogId, ReplicaId, Term};
use openraft::impls::leader_id_std;
use openraft::vote::RaftLeaderId;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;

use crate::machine_store::MachineStore;

openraft::declare_raft_types!(
    /// What the library is made of here.
    pub(crate) Library:
        D = Payload,
        R = Vec<u8>,
        NodeId = ReplicaId,
        Node = Member,
        Term = u64,
        // One leader for each term, so that a log id needs no leader in it.
        LeaderId = leader_id_std::LeaderId<u64, ReplicaId>,
);

pub(crate) type Raft = openraft::Raft<Library, MachineStore>;
pub(crate) type Entry = openraft::type_config::alias::EntryOf<Library>;
pub(crate) type EntryPayload = openraft::type_config::alias::PayloadOf<Library>;
pub(crate) type Vote = openraft::type_config::alias::VoteOf<Library>;
pub(crate) type Membership = openraft::Membership<ReplicaId, Member>;
pub(crate) type StoredMembership = openraft::type_config::alias::StoredMembershipOf<Library>;
pub(crate) type SnapshotMeta = openraft::type_config::alias::SnapshotMetaOf<Library>;
pub(crate) type Snapshot =
    openraft::type_config::alias::SnapshotOf<Library, lockstep_storage::SnapshotFile>;
pub(crate) type RawLogId = openraft::type_config::alias::LogIdOf<Library>;
pub(crate) type LeaderTerm = openraft::type_config::alias::CommittedLeaderIdOf<Library>;

/// One member of the group, as the library stores it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Member {
    /// The configured name.
    pub(crate) name: String,
    /// `host:port` when it became a member.
    pub(crate) address: String,
    /// When it became a member. Unit: milliseconds since 1970; 0 when unknown.
    pub(crate) since_unix_ms: u64,
    /// Names that an operator removed, with the addresses where they were. The
    /// library keeps nothing beside members, so each of them carries all.
    pub(crate) dismissed: BTreeMap<String, String>,
}

/// The names that an operator removed from the group, with the addresses where they were.
pub(crate) fn dismissed_from(membership: &Membership) -> BTreeMap<String, String> {
    let members = membership.nodes();
    let all = members.flat_map(|(_, member)| member.dismissed.clone());
    all.collect()
}

/// What is proposed: opaque bytes.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Payload(pub(crate) Bytes);

impl std::fmt::Debug for Payload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl std::fmt::Display for Payload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

// The library asks for serde; our own encodings never use it.
impl Serialize for Payload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Payload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(|bytes| Self(bytes.into()))
    }
}

/// The library's log id as ours.
pub(crate) fn log_id_of(raw: &RawLogId) -> LogId {
    LogId {
        term: Term::from_u64(raw.leader_id.term),
        index: raw.index,
    }
}

/// Our log id as the library's.
pub(crate) fn raw_log_id(log_id: LogId) -> RawLogId {
    RawLogId::new(LeaderTerm::new(log_id.term.as_u64()), log_id.index)
}

/// The library's vote as a stored one.
pub(crate) fn stored_vote(vote: &Vote) -> lockstep_storage::Vote {
    lockstep_storage::Vote {
        term: Term::from_u64(vote.leader_id.term()),
        candidate: *vote.leader_id.node_id(),
        committed: vote.committed,
    }
}

/// A stored vote as the library's.
pub(crate) fn vote_of(stored: lockstep_storage::Vote) -> Vote {
    let term = stored.term.as_u64();
    if stored.committed {
        Vote::new_committed(term, stored.candidate)
    } else {
        Vote::new(term, stored.candidate)
    }
}
