//! The library's log traits over the stored log.

use lockstep_storage::{Done, LogStore, StorageError};
use openraft::storage::{IOFlushed, LogState, RaftLogReader, RaftLogStorage};
use std::fmt::Debug;
use std::io;
use std::ops::{Bound, Range, RangeBounds};
use tokio::sync::oneshot;

use crate::entry_codec::{from_record, to_record};
use crate::library::{Entry, Library, RawLogId, Vote, log_id_of, raw_log_id, stored_vote, vote_of};

/// The stored log, as the library wants it. Clones share one log.
#[derive(Clone)]
pub(crate) struct LogAdapter {
    log: LogStore,
    /// The most that one message to a follower carries. Unit: bytes of records.
    append_bytes_max: usize,
}

impl LogAdapter {
    /// Wraps the stored log.
    pub(crate) const fn new(log: LogStore, append_bytes_max: usize) -> Self {
        Self {
            log,
            append_bytes_max,
        }
    }

    async fn read(&self, range: Range<u64>, bytes_max: usize) -> io::Result<Vec<Entry>> {
        let records = if self.log.holds_in_memory(range.start) {
            self.log.read(range, bytes_max).map_err(io_error)?
        } else {
            let log = self.log.clone();
            tokio::task::spawn_blocking(move || log.read(range, bytes_max))
                .await?
                .map_err(io_error)?
        };
        records
            .into_iter()
            .map(|record| from_record(record).map_err(io::Error::other))
            .collect()
    }
}

impl RaftLogReader<Library> for LogAdapter {
    async fn try_get_log_entries<R>(&mut self, range: R) -> io::Result<Vec<Entry>>
    where
        R: RangeBounds<u64> + Clone + Debug + Send,
    {
        self.read(half_open(&range), usize::MAX).await
    }

    async fn read_vote(&mut self) -> io::Result<Option<Vote>> {
        Ok(self.log.vote().map(vote_of))
    }

    async fn limited_get_log_entries(&mut self, start: u64, end: u64) -> io::Result<Vec<Entry>> {
        self.read(start..end, self.append_bytes_max).await
    }
}

impl RaftLogStorage<Library> for LogAdapter {
    type LogReader = Self;

    async fn get_log_state(&mut self) -> io::Result<LogState<Library>> {
        let bounds = self.log.bounds();
        Ok(LogState {
            last_purged_log_id: bounds.purged.map(raw_log_id),
            last_log_id: bounds.last.map(raw_log_id),
        })
    }

    async fn get_log_reader(&mut self) -> Self {
        self.clone()
    }

    async fn save_vote(&mut self, vote: &Vote) -> io::Result<()> {
        let vote = stored_vote(vote);
        wait(|done| self.log.save_vote(vote, done)).await
    }

    async fn save_committed(&mut self, committed: Option<RawLogId>) -> io::Result<()> {
        match committed {
            Some(committed) => self
                .log
                .note_committed(log_id_of(&committed))
                .map_err(io_error),
            None => Ok(()),
        }
    }

    async fn read_committed(&mut self) -> io::Result<Option<RawLogId>> {
        Ok(self.log.committed().map(raw_log_id))
    }

    async fn append<I>(&mut self, entries: I, callback: IOFlushed<Library>) -> io::Result<()>
    where
        I: IntoIterator<Item = Entry> + Send,
        I::IntoIter: Send,
    {
        let records = entries.into_iter().map(to_record).collect();
        let done: Done = Box::new(move |result| callback.io_completed(result.map_err(io_error)));
        self.log.append(records, done).map_err(io_error)
    }

    async fn truncate_after(&mut self, last: Option<RawLogId>) -> io::Result<()> {
        let after = last.as_ref().map(log_id_of);
        wait(|done| self.log.truncate_after(after, done)).await
    }

    async fn purge(&mut self, upto: RawLogId) -> io::Result<()> {
        // Not waited for: until it is durable a restart only finds more than it needs.
        let done: Done = Box::new(|_| ());
        self.log.purge(log_id_of(&upto), done).map_err(io_error)
    }
}

async fn wait(order: impl FnOnce(Done) -> Result<(), StorageError>) -> io::Result<()> {
    let (sender, receiver) = oneshot::channel();
    let done: Done = Box::new(move |result| {
        // Nobody waits any more: nothing to tell.
        let _ = sender.send(result);
    });
    order(done).map_err(io_error)?;
    receiver
        .await
        .map_err(|_| io::Error::other("the log writer has stopped"))?
        .map_err(io_error)
}

/// The library carries `io::Error` only.
pub(crate) fn io_error(error: StorageError) -> io::Error {
    io::Error::other(error)
}

fn half_open(range: &impl RangeBounds<u64>) -> Range<u64> {
    let start = match range.start_bound() {
        Bound::Included(start) => *start,
        Bound::Excluded(start) => start.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(end) => end.saturating_add(1),
        Bound::Excluded(end) => *end,
        Bound::Unbounded => u64::MAX,
    };
    start..end
}
