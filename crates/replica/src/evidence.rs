//! What showed that a replica is wrong, as a file for people and tools.

use lockstep_position::{LogId, Position, ReplicaId};
use lockstep_raft::{KeptEntry, RaftStatus, StorageError};
use lockstep_state::codec;
use serde_json::{Value, json};
use std::time::Duration;

use crate::dispute::{Dispute, Verdict, Word};

/// Revisions whose digests are kept.
const RECENT_MAX: usize = 64;

/// Of one entry, as much as is read by people. Unit: characters.
const ENTRY_TEXT_MAX: usize = 4_096;

/// All that is known when a replica was found to be wrong.
#[derive(Debug)]
pub(crate) struct Found<'a> {
    pub(crate) why: &'a str,
    /// The wall clock, for people to compare with other logs.
    pub(crate) since_1970: Duration,
    pub(crate) status: RaftStatus,
    pub(crate) dispute: Option<&'a (Dispute, Verdict)>,
    pub(crate) newest: Position,
    /// Oldest first.
    pub(crate) recent: Vec<Position>,
    /// Of this replica's log, up to the revision in dispute.
    pub(crate) entries: Result<Vec<KeptEntry>, StorageError>,
}

/// The file's text: JSON, one object.
pub(crate) fn evidence(found: &Found<'_>) -> String {
    let status = &found.status;
    let skipped = found.recent.len().saturating_sub(RECENT_MAX);
    let recent = found.recent.iter().skip(skipped);
    let entries = match &found.entries {
        Ok(entries) => entries.iter().map(entry).collect(),
        Err(error) => json!({ "unreadable": error.to_string() }),
    };
    let value = json!({
        "why": found.why,
        "unix_ms": u64::try_from(found.since_1970.as_millis()).unwrap_or(u64::MAX),
        "version": env!("CARGO_PKG_VERSION"),
        "replica": status.id.to_string(),
        "name": status.name,
        "term": status.role.term().as_u64(),
        "newest": position(&found.newest),
        "dispute": found.dispute.map(|(dispute, verdict)| judged(dispute, *verdict, status)),
        "recent": recent.map(position).collect::<Value>(),
        "entries": entries,
    });
    format!("{value:#}\n")
}

fn judged(dispute: &Dispute, verdict: Verdict, status: &RaftStatus) -> Value {
    let held = |word: &Word| held(word, dispute, status);
    json!({
        "revision": dispute.own.position.revision.as_u64(),
        "verdict": verdict.word(),
        "own": held(&dispute.own),
        "others": dispute.others.iter().map(held).collect::<Value>(),
    })
}

fn held(word: &Word, dispute: &Dispute, status: &RaftStatus) -> Value {
    json!({
        "replica": word.replica.to_string(),
        "name": name_of(word.replica, status),
        "votes": dispute.voters.contains(&word.replica),
        "contradicts": word.position.contradicts(&dispute.own.position),
        "position": position(&word.position),
    })
}

fn name_of(id: ReplicaId, status: &RaftStatus) -> Option<&str> {
    let member = status.members.iter().find(|member| member.id == id);
    member.map(|member| member.name.as_str())
}

fn position(position: &Position) -> Value {
    json!({
        "history": position.history.to_string(),
        "revision": position.revision.as_u64(),
        "state_digest": position.state_digest.to_string(),
        "path_digest": position.path_digest.to_string(),
        "applied": position.applied.map(|log_id: LogId| log_id.to_string()),
    })
}

fn entry(entry: &KeptEntry) -> Value {
    let what = match &entry.payload {
        None => "consensus' own".to_owned(),
        Some(payload) => match codec::decode_batch(payload) {
            Ok(batch) => format!("{batch:?}").chars().take(ENTRY_TEXT_MAX).collect(),
            Err(error) => format!("unreadable: {error}"),
        },
    };
    json!({
        "log_id": entry.log_id.to_string(),
        "bytes": entry.payload.as_ref().map(|payload| payload.len()),
        "what": what,
    })
}
