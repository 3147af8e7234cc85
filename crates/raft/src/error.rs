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
    /// The data folder lost data, and the others have it: it was given up.
    #[error(
        "the data folder was given up: {finding}; started again, this replica comes back empty \
         and rejoins under a new id, as long as a majority of the group is up without it; the old \
         files are kept in `set-aside`"
    )]
    GaveUp {
        /// What was found in it.
        finding: String,
    },
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

/// Why the members were not changed as an operator asked.
///
/// Nothing was changed, but for [`MembersError::OutcomeUnknown`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MembersError {
    /// Only the leader changes the members.
    #[error(
        "only the leader changes the members; the leader is {}",
        leader.as_ref().map_or_else(|| "unknown".to_owned(), |leader| format!("`{leader}`"))
    )]
    NotLeader {
        /// The name of the leader that this replica knows of.
        leader: Option<String>,
    },
    /// Nobody of that name can be meant.
    #[error("`{name}` is not {what}: {allowed}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What it would have to be.
        what: &'static str,
        /// Who that is.
        allowed: String,
    },
    /// A group without a voter could never do anything again.
    #[error("it is the last voter: without one the group could never commit anything again")]
    LastVoter,
    /// The voters that are left could not commit the change, nor anything after it.
    #[error(
        "of the {left} voters that would be left {present} can be reached and {needed} are needed \
         to commit anything; away: {away}"
    )]
    NoQuorum {
        /// How many voters would be left.
        left: usize,
        /// How many of them are needed.
        needed: usize,
        /// How many of them can be reached.
        present: usize,
        /// Who of them cannot.
        away: String,
    },
    /// It would work, and leave less to lose.
    #[error("{what}; --force does it all the same")]
    Risky {
        /// What it costs.
        what: &'static str,
    },
    /// The member votes already.
    #[error("`{name}` is a voter already")]
    Votes {
        /// The member.
        name: String,
    },
    /// The learner cannot be reached.
    #[error("`{name}` has acknowledged nothing for a while: it must be up to become a voter")]
    Away {
        /// The learner.
        name: String,
    },
    /// The learner lacks too much of the log.
    #[error(
        "`{name}` has not caught up: it is {behind} entries behind, at most {allowed} may be missing"
    )]
    Behind {
        /// The learner.
        name: String,
        /// How many entries it lacks.
        behind: u64,
        /// How many it may lack.
        allowed: u64,
    },
    /// Another change is under way.
    #[error("another change of the members is under way; look again in a moment")]
    Busy,
    /// The change is in the log, and may or may not be committed.
    #[error(
        "no majority confirmed the change in time: it may be done or not, so look before trying again"
    )]
    OutcomeUnknown,
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
    /// The leader of the group said that this replica's id counts no more: started
    /// again it comes back empty, under a new id.
    #[error(
        "this replica gave up its data folder: {why}; started again, it comes back empty, under a new id"
    )]
    GaveUp {
        /// What it was told.
        why: String,
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
