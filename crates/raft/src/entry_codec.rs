//! Entries as records of the log and as messages: the same kind and payload in both.

use bytes::Bytes;
use lockstep_position::{LogId, ReplicaId, Term};
use lockstep_proto::peer::v1 as wire;
use lockstep_storage::Record;
use prost::Message;
use std::collections::{BTreeMap, BTreeSet};

use crate::library::{
    Entry, EntryPayload, Member, Membership, Payload, RawLogId, SnapshotMeta, StoredMembership,
    Vote, dismissed_from, log_id_of, raw_log_id, stored_vote, vote_of,
};

const BLANK: u8 = 0;
const NORMAL: u8 = 1;
const MEMBERSHIP: u8 = 2;

/// What bytes from a peer or from disk are not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// A field that must be there is not.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A field has a value that means nothing.
    #[error("`{0}` is not valid")]
    Invalid(&'static str),
}

// === entries ===

/// An entry as it is stored.
pub(crate) fn to_record(entry: Entry) -> Record {
    let log_id = log_id_of(&entry.log_id);
    let (kind, payload) = split(entry.payload);
    Record {
        log_id,
        kind,
        payload,
    }
}

/// A stored entry.
pub(crate) fn from_record(record: Record) -> Result<Entry, CodecError> {
    Ok(Entry {
        log_id: raw_log_id(record.log_id),
        payload: join(record.kind, record.payload)?,
    })
}

/// An entry as a message.
pub(crate) fn entry_to_wire(entry: Entry) -> wire::Entry {
    let record = to_record(entry);
    wire::Entry {
        log_id: Some(log_id_to_wire(record.log_id)),
        kind: u32::from(record.kind),
        payload: record.payload,
    }
}

/// An entry from a message.
pub(crate) fn entry_from_wire(entry: wire::Entry) -> Result<Entry, CodecError> {
    let log_id = entry.log_id.ok_or(CodecError::Missing("entry.log_id"))?;
    let kind = u8::try_from(entry.kind).map_err(|_| CodecError::Invalid("entry.kind"))?;
    from_record(Record {
        log_id: log_id_from_wire(log_id),
        kind,
        payload: entry.payload,
    })
}

fn split(payload: EntryPayload) -> (u8, Bytes) {
    match payload {
        EntryPayload::Blank => (BLANK, Bytes::new()),
        EntryPayload::Normal(Payload(bytes)) => (NORMAL, bytes),
        EntryPayload::Membership(membership) => {
            let encoded = membership_to_wire(&membership).encode_to_vec();
            (MEMBERSHIP, encoded.into())
        }
    }
}

fn join(kind: u8, payload: Bytes) -> Result<EntryPayload, CodecError> {
    match kind {
        BLANK => Ok(EntryPayload::Blank),
        NORMAL => Ok(EntryPayload::Normal(Payload(payload))),
        MEMBERSHIP => {
            let membership = wire::Membership::decode(payload)
                .map_err(|_| CodecError::Invalid("entry.payload"))?;
            membership_from_wire(membership).map(EntryPayload::Membership)
        }
        _ => Err(CodecError::Invalid("entry.kind")),
    }
}

// === membership and snapshot meta ===

fn membership_to_wire(membership: &Membership) -> wire::Membership {
    let voters = membership
        .get_joint_config()
        .iter()
        .map(|ids| wire::VoterSet {
            ids: ids.iter().map(|id| id.as_u64()).collect(),
        });
    let members = membership.nodes().map(|(id, member)| wire::Member {
        id: id.as_u64(),
        name: member.name.clone(),
        address: member.address.clone(),
        since_unix_ms: member.since_unix_ms,
    });
    let dismissed = dismissed_from(membership).into_iter();
    wire::Membership {
        voters: voters.collect(),
        members: members.collect(),
        dismissed: dismissed
            .map(|(name, address)| wire::Dismissed { name, address })
            .collect(),
    }
}

fn membership_from_wire(membership: wire::Membership) -> Result<Membership, CodecError> {
    let voters: Vec<BTreeSet<ReplicaId>> = membership
        .voters
        .into_iter()
        .map(|set| set.ids.into_iter().map(ReplicaId::from_u64).collect())
        .collect();
    let dismissed: BTreeMap<String, String> = membership
        .dismissed
        .into_iter()
        .map(|dismissed| (dismissed.name, dismissed.address))
        .collect();
    let members: BTreeMap<ReplicaId, Member> = membership
        .members
        .into_iter()
        .map(|member| {
            let id = ReplicaId::from_u64(member.id);
            let member = Member {
                name: member.name,
                address: member.address,
                since_unix_ms: member.since_unix_ms,
                dismissed: dismissed.clone(),
            };
            (id, member)
        })
        .collect();
    if voters.is_empty() && members.is_empty() {
        return Ok(Membership::default());
    }
    Membership::new(voters, members).map_err(|_| CodecError::Invalid("membership"))
}

/// What a snapshot covers, as a message.
pub(crate) fn meta_to_wire(meta: &SnapshotMeta) -> wire::SnapshotMeta {
    wire::SnapshotMeta {
        last: meta.last_log_id.as_ref().map(raw_to_wire),
        membership_log_id: meta.last_membership.log_id().as_ref().map(raw_to_wire),
        membership: Some(membership_to_wire(meta.last_membership.membership())),
    }
}

/// What a snapshot covers, from a message.
pub(crate) fn meta_from_wire(meta: wire::SnapshotMeta) -> Result<SnapshotMeta, CodecError> {
    let membership = meta.membership.ok_or(CodecError::Missing("membership"))?;
    Ok(SnapshotMeta {
        last_log_id: meta.last.map(raw_from_wire),
        last_membership: StoredMembership::new(
            meta.membership_log_id.map(raw_from_wire),
            membership_from_wire(membership)?,
        ),
    })
}

// === log ids and votes ===

/// A log id as a message.
pub(crate) fn log_id_to_wire(log_id: LogId) -> wire::LogId {
    wire::LogId {
        term: log_id.term.as_u64(),
        index: log_id.index,
    }
}

/// A log id from a message.
pub(crate) fn log_id_from_wire(log_id: wire::LogId) -> LogId {
    LogId {
        term: Term::from_u64(log_id.term),
        index: log_id.index,
    }
}

/// The library's log id as a message.
pub(crate) fn raw_to_wire(raw: &RawLogId) -> wire::LogId {
    log_id_to_wire(log_id_of(raw))
}

/// The library's log id from a message.
pub(crate) fn raw_from_wire(log_id: wire::LogId) -> RawLogId {
    raw_log_id(log_id_from_wire(log_id))
}

/// A vote as a message.
pub(crate) fn ballot_of(vote: &Vote) -> wire::Ballot {
    let stored = stored_vote(vote);
    wire::Ballot {
        term: stored.term.as_u64(),
        candidate: stored.candidate.as_u64(),
        committed: stored.committed,
    }
}

/// A vote from a message.
pub(crate) fn vote_from_wire(ballot: Option<wire::Ballot>) -> Result<Vote, CodecError> {
    let ballot = ballot.ok_or(CodecError::Missing("ballot"))?;
    Ok(vote_of(lockstep_storage::Vote {
        term: Term::from_u64(ballot.term),
        candidate: ReplicaId::from_u64(ballot.candidate),
        committed: ballot.committed,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log_id(index: u64) -> LogId {
        LogId {
            term: Term::from_u64(4),
            index,
        }
    }

    fn membership() -> Membership {
        let id = ReplicaId::from_u64;
        let member = |name: &str| Member {
            name: name.to_owned(),
            address: format!("{name}:4100"),
            since_unix_ms: 1_796_601_600_000,
            dismissed: BTreeMap::from([("d".to_owned(), "d:4100".to_owned())]),
        };
        let members = [
            (id(1), member("a")),
            (id(2), member("b")),
            (id(3), member("c")),
        ];
        Membership::new(
            vec![BTreeSet::from([id(1), id(2)]), BTreeSet::from([id(2)])],
            BTreeMap::from(members),
        )
        .unwrap()
    }

    #[test]
    fn every_kind_of_entry_reads_back_from_disk_and_from_the_wire() {
        let payloads = [
            EntryPayload::Blank,
            EntryPayload::Normal(Payload(Bytes::from_static(b"abc"))),
            EntryPayload::Membership(membership()),
        ];
        for payload in payloads {
            let entry = Entry {
                log_id: raw_log_id(log_id(9)),
                payload,
            };
            assert_eq!(from_record(to_record(entry.clone())).unwrap(), entry);
            assert_eq!(
                entry_from_wire(entry_to_wire(entry.clone())).unwrap(),
                entry
            );
        }
    }

    #[test]
    fn nonsense_is_refused_by_the_field_that_holds_it() {
        let entry = |log_id, kind, payload: &'static [u8]| wire::Entry {
            log_id,
            kind,
            payload: Bytes::from_static(payload),
        };
        let some = Some(log_id_to_wire(log_id(1)));
        let cases = [
            (entry(None, 0, b""), "`entry.log_id` is missing"),
            (entry(some, 3, b""), "`entry.kind` is not valid"),
            (entry(some, 256, b""), "`entry.kind` is not valid"),
            (entry(some, 2, b"\xff"), "`entry.payload` is not valid"),
        ];
        for (entry, wanted) in cases {
            assert_eq!(entry_from_wire(entry).unwrap_err().to_string(), wanted);
        }
        assert_eq!(
            vote_from_wire(None).unwrap_err().to_string(),
            "`ballot` is missing"
        );
    }

    #[test]
    fn what_a_snapshot_covers_reads_back() {
        let meta = SnapshotMeta {
            last_log_id: Some(raw_log_id(log_id(9))),
            last_membership: StoredMembership::new(Some(raw_log_id(log_id(3))), membership()),
        };
        assert_eq!(meta_from_wire(meta_to_wire(&meta)).unwrap(), meta);
    }
}
