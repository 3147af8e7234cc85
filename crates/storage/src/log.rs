//! The log and the vote of one replica.

use lockstep_position::{HistoryId, LogId, ReplicaId};
use std::ops::Range;
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;

use crate::order::{Change, Done, Order};
use crate::promise::{Promise, PromiseFile};
use crate::table::LogTable;
use crate::tail::{Tail, next_index};
use crate::writer::Writer;
use crate::{Record, StorageError, Vote};

/// The log and the vote of one replica. A cheap handle; all clones share one store.
///
/// There must be one user that changes it, and that user must wait for a
/// truncation before it appends again. Readers may be many.
#[derive(Clone)]
pub struct LogStore {
    shared: Arc<Shared>,
    orders: Sender<Order>,
}

/// Where the log begins and ends.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct LogBounds {
    /// The last entry forgotten; `None` when none ever was.
    pub purged: Option<LogId>,
    /// The last entry; the last forgotten one when there is none.
    pub last: Option<LogId>,
}

/// What the handles and the writer thread share.
pub(crate) struct Shared {
    /// `None` once closed.
    table: RwLock<Option<LogTable>>,
    path: std::path::PathBuf,
    tail: Mutex<Tail>,
    vote: Mutex<Option<Vote>>,
    promise: Mutex<PromiseFile>,
    failure: Mutex<Option<StorageError>>,
}

impl LogStore {
    /// Opens the files, verifies them against each other, and starts the writer thread.
    pub(crate) fn open(log: &Path, promise: &Path, owner: ReplicaId) -> Result<Self, StorageError> {
        let (table, found) = LogTable::open(log)?;
        let file = PromiseFile::open(promise)?;
        for (path, name) in [(log, found.owner), (promise, Some(file.promise().replica))] {
            if name != Some(owner) {
                let what = "it was not written by this replica";
                return Err(StorageError::damaged(path, what));
            }
        }
        let folder = log.parent().unwrap_or(log);
        check_kept(folder, file.promise(), found.last, found.vote)?;
        let (orders, receiver) = channel();
        let shared = Arc::new(Shared {
            table: RwLock::new(Some(table)),
            path: log.to_owned(),
            tail: Mutex::new(Tail::of_disk(found.purged, found.last)),
            vote: Mutex::new(found.vote),
            promise: Mutex::new(file),
            failure: Mutex::new(None),
        });
        let writer = Writer {
            shared: Arc::clone(&shared),
            orders: receiver,
            purged: found.purged,
            leftovers: found.leftovers,
        };
        thread::Builder::new()
            .name("log-writer".to_owned())
            .spawn(move || writer.run())
            .map_err(StorageError::io("start the writer of", log))?;
        Ok(Self { shared, orders })
    }

    /// Where the log begins and ends, entries that are not yet durable included.
    #[must_use]
    pub fn bounds(&self) -> LogBounds {
        let tail = self.shared.tail();
        LogBounds {
            purged: tail.purged,
            last: tail.last,
        }
    }

    /// The last vote saved.
    #[must_use]
    pub fn vote(&self) -> Option<Vote> {
        *lock(&self.shared.vote)
    }

    /// Adds entries behind the last one. They can be read at once; `done` is
    /// called when they are durable.
    ///
    /// # Errors
    ///
    /// [`StorageError`] when the entries do not continue the log, or the store
    /// has failed or is closed; `done` is then never called.
    pub fn append(&self, records: Vec<Record>, done: Done) -> Result<(), StorageError> {
        self.shared.check()?;
        {
            let mut tail = self.shared.tail();
            for record in &records {
                let (is, next) = (record.log_id, tail.next_index());
                if is.index != next || Some(is.term) < tail.last.map(|last| last.term) {
                    let what = format!("entry {is} cannot follow; index {next} is next");
                    return Err(StorageError::damaged(&self.shared.path, what));
                }
                tail.push(record.clone());
            }
        }
        self.order(Order::Change(Change::Append(records), done))
    }

    /// Replaces the vote; `done` is called when it is durable.
    ///
    /// # Errors
    ///
    /// [`StorageError`] when the store has failed or is closed.
    pub fn save_vote(&self, vote: Vote, done: Done) -> Result<(), StorageError> {
        self.shared.check()?;
        *lock(&self.shared.vote) = Some(vote);
        self.order(Order::Change(Change::Vote(vote), done))
    }

    /// Removes every entry behind `after` (`None`: all); `done` is called when
    /// that is durable.
    ///
    /// # Errors
    ///
    /// [`StorageError`] when the store has failed or is closed.
    pub fn truncate_after(&self, after: Option<LogId>, done: Done) -> Result<(), StorageError> {
        self.shared.check()?;
        self.shared.tail().truncate_after(after);
        self.order(Order::Change(Change::Truncate { after }, done))
    }

    /// Forgets every entry up to `upto`; `done` is called when that is durable.
    /// The space is given back bit by bit afterwards.
    ///
    /// # Errors
    ///
    /// [`StorageError`] when the store has failed or is closed.
    pub fn purge(&self, upto: LogId, done: Done) -> Result<(), StorageError> {
        self.shared.check()?;
        self.shared.tail().purge(upto);
        self.order(Order::Change(Change::Purge { upto }, done))
    }

    /// Reads the entries of a range that are there, in order and without gaps,
    /// up to `bytes_max` but at least one.
    ///
    /// # Errors
    ///
    /// [`StorageError::Damaged`] when an entry is not what was written; never
    /// skips one.
    pub fn read(&self, range: Range<u64>, bytes_max: usize) -> Result<Vec<Record>, StorageError> {
        let table = self.shared.table();
        let Some(table) = table.as_ref() else {
            return Err(self.shared.closed());
        };
        let (from, to, in_memory) = {
            let tail = self.shared.tail();
            let from = range.start.max(next_index(tail.purged));
            let to = range.end.min(tail.next_index());
            let first = tail.first_index().max(from);
            if from >= to {
                return Ok(Vec::new());
            }
            (from, to.min(first), tail.copy(first, to, bytes_max))
        };
        let mut records = if from < to {
            table.read(from, to, bytes_max)?
        } else {
            Vec::new()
        };
        // What the disk read left of the budget is not worth a second look at memory.
        if next_index(records.last().map(|record| record.log_id)).max(from) == to {
            append_within(&mut records, in_memory, bytes_max);
        }
        check_consecutive(&self.shared.path, from, &records)?;
        Ok(records)
    }

    /// Whether the entries from `index` on can be read without the disk.
    #[must_use]
    pub fn holds_in_memory(&self, index: u64) -> bool {
        self.shared.tail().first_index() <= index
    }

    /// Notes that everything up to `log_id` is committed. Survives a kill, but
    /// perhaps not a power cut: a hint.
    ///
    /// # Errors
    ///
    /// [`StorageError::Io`] when it cannot be written.
    pub fn note_committed(&self, log_id: LogId) -> Result<(), StorageError> {
        self.shared.update_promise(|promise| Promise {
            committed: Some(log_id),
            ..*promise
        })
    }

    /// The last entry known to be committed, at most the last one in the log.
    #[must_use]
    pub fn committed(&self) -> Option<LogId> {
        let committed = self.shared.promise().committed;
        // The end of a shorter log is committed too: entries reach the disk in
        // order, and a cut is waited for before its place is written again.
        committed.min(self.bounds().last)
    }

    /// Why the store refuses all writes, if it does.
    #[must_use]
    pub fn failure(&self) -> Option<StorageError> {
        self.shared.failure()
    }

    /// The size of the log file. Unit: bytes.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        std::fs::metadata(&self.shared.path).map_or(0, |metadata| metadata.len())
    }

    /// Notes in the promise which history it belongs to; waits.
    pub(crate) fn remember_history(&self, history: HistoryId) -> Result<(), StorageError> {
        self.wait(|done| Order::History(history, done))
    }

    /// Which history the promise belongs to.
    pub(crate) fn history(&self) -> HistoryId {
        self.shared.promise().history
    }

    /// Waits for all writes and closes the file. Later calls fail.
    ///
    /// # Errors
    ///
    /// [`StorageError`] when something could not be written.
    pub fn close(&self) -> Result<(), StorageError> {
        let written = self.wait(Order::Close);
        let table = self
            .shared
            .table
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let closed = table.map_or(Ok(()), LogTable::close);
        written.and(closed)
    }

    fn wait(&self, order: impl FnOnce(Done) -> Order) -> Result<(), StorageError> {
        let (sender, receiver) = channel();
        let done: Done = Box::new(move |result| {
            // Nobody waits any more: nothing to tell.
            let _ = sender.send(result);
        });
        self.order(order(done))?;
        receiver
            .recv()
            .unwrap_or_else(|_| Err(self.shared.closed()))
    }

    fn order(&self, order: Order) -> Result<(), StorageError> {
        self.orders.send(order).map_err(|_| self.shared.closed())
    }
}

impl Shared {
    /// Refuses further writes with the error that came first.
    pub(crate) fn poison(&self, error: &StorageError) {
        lock(&self.failure).get_or_insert_with(|| error.clone());
    }

    /// The error that came first.
    pub(crate) fn failure(&self) -> Option<StorageError> {
        lock(&self.failure).clone()
    }

    /// Writes one transaction; see [`LogTable::commit`].
    pub(crate) fn commit(
        &self,
        changes: &[Change],
        purged: Option<LogId>,
    ) -> Result<bool, StorageError> {
        let table = self.table();
        let table = table.as_ref().ok_or_else(|| self.closed())?;
        table.commit(changes, purged)
    }

    /// Notes what is durable now.
    pub(crate) fn note_durable(&self, changes: &[Change]) {
        let mut tail = self.tail();
        for change in changes {
            if let Change::Append(records) = change
                && let Some(last) = records.last()
            {
                tail.set_durable(last.log_id);
            }
        }
    }

    /// What is promised now.
    pub(crate) fn promise(&self) -> Promise {
        *lock(&self.promise).promise()
    }

    /// Writes what `change` makes of the promise.
    pub(crate) fn update_promise(
        &self,
        change: impl FnOnce(&Promise) -> Promise,
    ) -> Result<(), StorageError> {
        let mut file = lock(&self.promise);
        let promise = change(file.promise());
        file.write(promise)
    }

    /// Makes the promise durable.
    pub(crate) fn sync_promise(&self) -> Result<(), StorageError> {
        lock(&self.promise).sync()
    }

    fn check(&self) -> Result<(), StorageError> {
        self.failure().map_or(Ok(()), Err)
    }

    fn closed(&self) -> StorageError {
        StorageError::Closed {
            path: self.path.clone(),
        }
    }

    fn tail(&self) -> MutexGuard<'_, Tail> {
        lock(&self.tail)
    }

    fn table(&self) -> std::sync::RwLockReadGuard<'_, Option<LogTable>> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Every value behind these locks is replaced as a whole, so that a panic of
/// another holder leaves it usable.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Compares what is there with what was promised.
fn check_kept(
    folder: &Path,
    promise: &Promise,
    last: Option<LogId>,
    vote: Option<Vote>,
) -> Result<(), StorageError> {
    let amnesia = |what: String| StorageError::Amnesia {
        path: folder.to_owned(),
        what,
    };
    if last < promise.last {
        let (is, was) = (shown(last), shown(promise.last));
        return Err(amnesia(format!(
            "its log ends at {is} but once ended at {was}"
        )));
    }
    match (vote, promise.vote) {
        (_, None) => Ok(()),
        (Some(vote), Some(promised)) if vote.keeps(&promised) => Ok(()),
        (vote, Some(promised)) => {
            let is = vote.map_or_else(|| "none".to_owned(), |vote| vote.to_string());
            let what = format!("its vote is {is} but once was {promised}");
            Err(amnesia(what))
        }
    }
}

fn shown(log_id: Option<LogId>) -> String {
    log_id.map_or_else(|| "nothing".to_owned(), |log_id| log_id.to_string())
}

/// Adds what fits; the first record of an empty list always does.
fn append_within(records: &mut Vec<Record>, more: Vec<Record>, bytes_max: usize) {
    let mut bytes: usize = records.iter().map(Record::stored_bytes).sum();
    for record in more {
        bytes = bytes.saturating_add(record.stored_bytes());
        if bytes > bytes_max && !records.is_empty() {
            return;
        }
        records.push(record);
    }
}

fn check_consecutive(path: &Path, from: u64, records: &[Record]) -> Result<(), StorageError> {
    let gap = (from..)
        .zip(records)
        .find(|(index, record)| record.log_id.index != *index);
    match gap {
        // A purge may overtake a read at its start, never in its middle.
        Some((index, record)) if index != from => {
            let what = format!("entry {index} is missing before {}", record.log_id);
            Err(StorageError::damaged(path, what))
        }
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
