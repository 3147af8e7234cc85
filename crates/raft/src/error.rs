//! Why an operation of a node failed: one enum per operation.

use lockstep_position::{ReplicaId, Term};
use std::io;
use std::time::Duration;

/// Why a node did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A configured value is out of range or contradicts another.
    #[error("{what}")]
    Config {
        /// What is wrong, with the place and the allowed values.
        what: String,
    },
    /// The data folder could not be opened or is refused; the source says why and what to do.
    #[error("the data folder cannot be used")]
    Storage(#[from] lockstep_storage::StorageError),
    /// The peer address could not be bound.
    #[error("cannot listen for peers on {address}")]
    Listen {
        /// The address asked for.
        address: String,
        /// The operating system's answer.
        #[source]
        source: io::Error,
    },
    /// What is on disk could not be brought back, or the library refused to
    /// start; also when a snapshot passed its checksum but the machine cannot
    /// decode it.
    #[error("consensus did not start: {what}")]
    Core {
        /// What it said.
        what: String,
    },
}

/// Why a proposal did not come back as applied.
///
/// The variants split on the only question a caller can act on: could the
/// payload still be committed later?
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProposeError {
    /// Definitely not appended: this replica does not lead the term asked for.
    #[error(
        "not the leader of {term}; the last known leader is {}",
        leader.map_or_else(|| "unknown".to_owned(), |leader| leader.to_string())
    )]
    NotLeader {
        /// The term that the caller believed to lead.
        term: Term,
        /// The leader that this replica knows of.
        leader: Option<ReplicaId>,
    },
    /// Definitely not appended: the payload exceeds the limit.
    #[error("entry of {size_bytes} bytes exceeds the limit of {limit_bytes} bytes")]
    TooLarge {
        /// The payload's size.
        size_bytes: usize,
        /// The configured `entry_bytes_max`.
        limit_bytes: usize,
    },
    /// Appended, then leadership was lost: it may or may not commit.
    #[error("leadership was lost after the entry was appended: its outcome is unknown")]
    OutcomeUnknown,
    /// The node has stopped; whether the payload was appended is unknown.
    #[error("the node has stopped")]
    Stopped,
}

/// Why a leader's confirmed position could not be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// No leader is known, so nobody can be asked.
    #[error("no leader is known")]
    NoLeader,
    /// The leader could not be asked, or could not confirm that it still leads.
    #[error("the leader did not confirm: {what}")]
    Refused {
        /// What it or the connection to it said.
        what: String,
    },
    /// No answer in time.
    #[error("no answer from the leader within {limit:?}")]
    Timeout {
        /// The time it was given.
        limit: Duration,
    },
    /// The node has stopped.
    #[error("the node has stopped")]
    Stopped,
}

/// Why a barrier was not passed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BarrierError {
    /// The leader's position could not be had.
    #[error("the leader's position is unknown")]
    Read(#[from] ReadError),
    /// The position is known but this replica has not caught up with it in time.
    #[error("index {index} was not applied within {limit:?}")]
    NotApplied {
        /// The index to reach.
        index: u64,
        /// The time it was given.
        limit: Duration,
    },
}

/// Why leadership was not handed over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HandOverError {
    /// Only the leader can hand over leadership. Nothing was tried.
    #[error("not the leader")]
    NotLeader {
        /// The leader that this replica knows of.
        leader: Option<ReplicaId>,
    },
    /// The replica asked for is not a voter of the group, or is this one. Nothing was tried.
    #[error("{to} is not another voter of the group")]
    NotAVoter {
        /// The replica asked for.
        to: ReplicaId,
    },
    /// The replica asked for did not catch up in time. This one leads on.
    #[error("{to} did not catch up with the log within {limit:?}")]
    Behind {
        /// The replica asked for.
        to: ReplicaId,
        /// The time it was given.
        limit: Duration,
    },
    /// It was told to stand for election, and nobody was seen to win in time:
    /// somebody may yet.
    #[error("{to} did not take the lead within {limit:?}")]
    NotTaken {
        /// The replica asked for.
        to: ReplicaId,
        /// The time it was given.
        limit: Duration,
    },
    /// The node has stopped.
    #[error("the node has stopped")]
    Stopped,
}

/// Why the node stopped by itself: the process should report it and end.
#[derive(Debug, thiserror::Error)]
pub enum Fatal {
    /// The disk failed or is full; what is on it is intact as far as it was acknowledged.
    #[error("storage failed: {what}")]
    Storage {
        /// The first error, in one line.
        what: String,
    },
    /// The peer server ended.
    #[error("the peer server ended: {what}")]
    Server {
        /// Why.
        what: String,
    },
    /// The consensus library stopped.
    #[error("consensus stopped: {what}")]
    Core {
        /// What it said.
        what: String,
    },
}
