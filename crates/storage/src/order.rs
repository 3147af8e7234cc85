//! What the writer thread is asked to do.

use lockstep_position::{HistoryId, LogId};

use crate::{Record, StorageError, Vote};

/// Called once, on the writer thread, when a write is durable or has failed.
pub type Done = Box<dyn FnOnce(Result<(), StorageError>) + Send>;

/// One change to the log file.
#[derive(Debug)]
pub(crate) enum Change {
    /// Adds entries behind the last one.
    Append(Vec<Record>),
    /// Replaces the vote.
    Vote(Vote),
    /// Removes every entry behind `after`; `None` removes all.
    Truncate {
        /// The new last entry.
        after: Option<LogId>,
    },
    /// Forgets every entry up to `upto`; their records are removed bit by bit.
    Purge {
        /// The last entry forgotten.
        upto: LogId,
    },
}

/// What the writer thread is asked to do.
pub(crate) enum Order {
    /// A change, and who waits for it.
    Change(Change, Done),
    /// Notes the history in the promise, durably.
    History(HistoryId, Done),
    /// Syncs everything and ends the thread.
    Close(Done),
}
