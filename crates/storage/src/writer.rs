//! The thread that writes the log file.
//!
//! All writes of a store go through one queue. What has gathered in it while
//! the last transaction was synced becomes the next one, so that one sync
//! serves many appends and nobody waits for a timer.

use lockstep_position::LogId;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvError, TryRecvError};

use crate::StorageError;
use crate::log::Shared;
use crate::order::{Change, Done, Order};
use crate::promise::Promise;
use crate::tail::next_index;

/// Most payload that one transaction takes. Unit: bytes.
const COMMIT_BYTES_MAX: usize = 8 << 20;

/// The writer thread's own state.
pub(crate) struct Writer {
    pub(crate) shared: Arc<Shared>,
    pub(crate) orders: Receiver<Order>,
    /// The last entry forgotten, as far as it is durable.
    pub(crate) purged: Option<LogId>,
    /// Whether records of forgotten entries wait to be removed.
    pub(crate) leftovers: bool,
}

/// What one transaction holds, and who waits for it.
#[derive(Default)]
struct Group {
    changes: Vec<Change>,
    waiting: Vec<Done>,
    bytes: usize,
    closing: Option<Done>,
}

impl Writer {
    /// Works until the store is closed.
    pub(crate) fn run(mut self) {
        loop {
            let Ok(group) = self.next_group() else { return };
            let result = self.write(&group.changes);
            if let Err(error) = &result {
                self.shared.poison(error);
            }
            for done in group.waiting {
                done(result.clone());
            }
            if let Some(done) = group.closing {
                done(result.and_then(|()| self.shared.sync_promise()));
                return;
            }
        }
    }

    /// Waits for work, unless there is some of its own.
    fn next_group(&mut self) -> Result<Group, RecvError> {
        let mut group = Group::default();
        let idle = !self.leftovers || self.shared.failure().is_some();
        if idle {
            let order = self.orders.recv()?;
            self.take(&mut group, order);
        }
        while group.closing.is_none() && group.bytes < COMMIT_BYTES_MAX {
            match self.orders.try_recv() {
                Ok(order) => self.take(&mut group, order),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) if group.changes.is_empty() => {
                    return Err(RecvError);
                }
                Err(TryRecvError::Disconnected) => break,
            }
        }
        Ok(group)
    }

    fn take(&self, group: &mut Group, order: Order) {
        match order {
            Order::Change(change, done) => {
                if let Change::Append(records) = &change {
                    let bytes: usize = records.iter().map(crate::Record::stored_bytes).sum();
                    group.bytes = group.bytes.saturating_add(bytes);
                }
                group.changes.push(change);
                group.waiting.push(done);
            }
            Order::History(history, done) => {
                let written = self.shared.update_promise(|promise| Promise {
                    history,
                    ..*promise
                });
                done(written.and_then(|()| self.shared.sync_promise()));
            }
            Order::Close(done) => group.closing = Some(done),
        }
    }

    /// Makes the changes durable, then the promise that follows from them.
    fn write(&mut self, changes: &[Change]) -> Result<(), StorageError> {
        if let Some(error) = self.shared.failure() {
            return Err(error);
        }
        if changes.is_empty() && !self.leftovers {
            return Ok(());
        }
        self.lower_promise(changes)?;
        for change in changes {
            if let Change::Purge { upto } = change {
                self.purged = self.purged.max(Some(*upto));
            }
        }
        self.leftovers = self.shared.commit(changes, self.purged)?;
        let is_vote = |change: &Change| matches!(change, Change::Vote(_));
        self.shared
            .update_promise(|promise| promised_after(changes, *promise))?;
        if changes.iter().any(is_vote) {
            self.shared.sync_promise()?;
        }
        self.shared.note_durable(changes);
        Ok(())
    }

    /// Before the log gets shorter the promise must allow it, durably: a crash
    /// in between would otherwise look like lost data.
    fn lower_promise(&self, changes: &[Change]) -> Result<(), StorageError> {
        let promise = self.shared.promise();
        let mut last = promise.last;
        for change in changes {
            if let Change::Truncate { after } = change {
                last = last.min_by_index(*after);
            }
        }
        if last == promise.last {
            return Ok(());
        }
        self.shared
            .update_promise(|promise| Promise { last, ..*promise })?;
        self.shared.sync_promise()
    }
}

/// What may be promised once the changes are durable.
fn promised_after(changes: &[Change], mut promise: Promise) -> Promise {
    for change in changes {
        match change {
            Change::Append(records) => {
                promise.last = records
                    .last()
                    .map_or(promise.last, |last| Some(last.log_id));
            }
            Change::Vote(vote) => promise.vote = Some(*vote),
            Change::Truncate { after } => promise.last = promise.last.min_by_index(*after),
            Change::Purge { upto } => {
                if next_index(promise.last) <= upto.index {
                    promise.last = Some(*upto);
                }
            }
        }
    }
    promise
}

/// The shorter of two logs, by their last entries.
trait MinByIndex {
    /// The one with the lower index; `other` when they are equal.
    fn min_by_index(self, other: Self) -> Self;
}

impl MinByIndex for Option<LogId> {
    fn min_by_index(self, other: Self) -> Self {
        if next_index(self) < next_index(other) {
            self
        } else {
            other
        }
    }
}
