//! Observations: what stands alone.

use lockstep_jepsen_model::Message;
use serde::{Deserialize, Serialize};

use super::{Digest, Entry, Fault, Phase, Replica, Rev, Truth};

/// Something was seen, or done without an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "f", content = "value", rename_all = "kebab-case")]
pub enum Seen {
    /// A stream got a message. Process: the stream.
    Msg(Told),
    /// A stream ended. Process: the stream.
    End(StreamEnd),
    /// A replica said where it is.
    Digest(Observed),
    /// A replica said how fresh it is.
    Claim(Claim),
    /// A committed entry was read from a replica's log.
    Entry(Entry),
    /// The leader was told that a revision is committed, and told the source's driver.
    Ack(Ack),
    /// A replica's durable vote was read.
    Vote(Vote),
    /// A replica plays another part in the group.
    Role(Role),
    /// A replica's process starts, ends, is paused or goes on.
    Life(Life),
    /// A replica made or installed a snapshot.
    Snapshot(Snapshot),
    /// What a replica uses.
    Resources(Resources),
    /// A line of a replica's log that says that something went badly wrong.
    LogLine(String),
    /// Which replicas have watches open at the API server.
    Watches(Vec<Replica>),
    /// All objects of the API server.
    Truth(Truth),
    /// The last read of one replica, after everything is over.
    Final(Final),
    /// A fault begins. Process: the nemesis.
    FaultStart(Fault),
    /// A fault ends. Process: the nemesis.
    FaultEnd(Fault),
    /// The run enters a phase. Process: the nemesis.
    Phase(Phase),
    /// The harness failed at something, so the run cannot be judged. Process: the nemesis.
    HarnessFailure(String),
}

/// One message of a stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// The revision that the message is labelled with; messages of one step share it.
    pub rev: Option<Rev>,
    /// Whether the replica calls itself stale as it sends, if the message says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale: Option<bool>,
    /// The age that the replica claims as it sends. Unit: milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_ms: Option<u64>,
    /// What it says.
    pub message: Message,
}

/// A stream ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamEnd {
    /// Who ended it.
    pub by: EndedBy,
    /// The gRPC status, such as `UNAVAILABLE`, or the error of the transport.
    pub code: String,
}

/// Who ended a stream.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndedBy {
    /// The client, on purpose.
    Client,
    /// The replica, with a status.
    Replica,
    /// The connection broke.
    Transport,
}

/// A replica said where it is. Process: its observer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    /// Which replica.
    pub replica: Replica,
    /// The revision.
    pub rev: Rev,
    /// The digest of the content at that revision.
    pub sigma: Digest,
    /// The digest of the path to that revision.
    pub chi: Digest,
    /// The term of the entry that was applied last.
    pub term: u64,
    /// The index of the entry that was applied last.
    pub applied: u64,
}

/// What a replica said of its freshness on one of its surfaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Which replica.
    pub replica: Replica,
    /// Where it said so.
    pub surface: Surface,
    /// When it was asked: the claim was made between then and the event's time.
    pub asked_at: u64,
    /// Whether its copy is fresh.
    pub fresh: bool,
    /// Whether its source is fresh, if the surface says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_fresh: Option<bool>,
    /// Whether it wants new streams, if the surface says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready: Option<bool>,
    /// The revision that it serves, if the surface says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rev: Option<Rev>,
    /// The age that it claims, if the surface says so. Unit: nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age: Option<u64>,
}

/// Where a replica says how fresh it is.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Surface {
    /// `/ready`.
    Ready,
    /// The health service of gRPC.
    Health,
    /// A metric.
    Metrics,
    /// The operator's status.
    Status,
    /// The headers of a stream.
    Headers,
}

/// The source's driver on the leader learns that a revision is committed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ack {
    /// The leader.
    pub replica: Replica,
    /// The revision.
    pub rev: Rev,
    /// The index of the entry.
    pub index: u64,
    /// When the batch was proposed.
    pub proposed_at: u64,
}

/// A durable vote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vote {
    /// Where.
    pub replica: Replica,
    /// The persistent id; another one after the disk was lost.
    pub id: u64,
    /// The term.
    pub term: u64,
    /// For whom, by persistent id.
    pub voted_for: Option<u64>,
}

/// The part that a replica plays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Role {
    /// Which replica.
    pub replica: Replica,
    /// Its term.
    pub term: u64,
    /// The part.
    pub role: RoleKind,
}

/// The part that a replica plays.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RoleKind {
    /// It leads.
    Leader,
    /// It follows, or tries to be elected.
    Follower,
    /// It follows without a vote.
    Learner,
}

/// A replica's process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Life {
    /// Which replica.
    pub replica: Replica,
    /// What it does from now on.
    pub state: LifeState,
}

/// What a process does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LifeState {
    /// It runs, from its start or after a pause.
    Up,
    /// It is paused.
    Paused,
    /// It ended with an exit code; none if a signal ended it.
    Down(Option<i32>),
    /// It found itself damaged or divergent and refuses to serve.
    Quarantined,
}

/// A snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Where.
    pub replica: Replica,
    /// Made or installed.
    pub act: SnapshotAct,
    /// The revision that it holds.
    pub rev: Rev,
    /// The index of the last entry that it covers.
    pub index: u64,
}

/// What was done with a snapshot.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SnapshotAct {
    /// It was made of this replica's state.
    Made,
    /// It came from the leader and replaced this replica's state.
    Installed,
}

/// What a replica uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Resources {
    /// Resident memory; none where it cannot be measured. Unit: bytes.
    pub rss_bytes: Option<u64>,
    /// Open files; none where they cannot be counted.
    pub fds: Option<u64>,
    /// Streams that it serves.
    pub streams: Option<u64>,
    /// The most answers that wait for one client.
    pub pending_max: Option<u64>,
    /// Batches that wait to be proposed.
    pub proposals: Option<u64>,
    /// Bytes of log and snapshots on the disk.
    pub disk_bytes: Option<u64>,
}

/// The last read of one replica.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Final {
    /// Which replica.
    pub replica: Replica,
    /// Its revision.
    pub rev: Rev,
    /// The digest of its content.
    pub sigma: Digest,
    /// The digest of its path.
    pub chi: Digest,
    /// The elements of the set, each as often as it is there, if there is such a set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elements: Option<Vec<u64>>,
}
