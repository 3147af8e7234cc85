//! The newest part of the log, in memory.
//!
//! An entry must be readable as soon as it is accepted, before it is durable;
//! and followers that keep up must not cost disk reads.

use lockstep_position::LogId;
use std::collections::VecDeque;

use crate::Record;

/// How much of the log is kept in memory. Unit: bytes of records.
const TAIL_BYTES_MAX: usize = 16 << 20;

/// The bounds of the log, and its newest entries.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    /// The last entry forgotten.
    pub(crate) purged: Option<LogId>,
    /// The last entry, durable or not; the last purged one when there is none.
    pub(crate) last: Option<LogId>,
    /// The last entry known to be durable.
    durable: Option<LogId>,
    /// Consecutive; ends with `last` unless empty.
    records: VecDeque<Record>,
    bytes: usize,
}

impl Tail {
    /// A log that was just read from disk; all of it is durable.
    pub(crate) fn of_disk(purged: Option<LogId>, last: Option<LogId>) -> Self {
        Self {
            purged,
            last,
            durable: last,
            ..Self::default()
        }
    }

    /// The index that the next entry must have.
    pub(crate) fn next_index(&self) -> u64 {
        next_index(self.last)
    }

    /// The first index held in memory; the next one when none is.
    pub(crate) fn first_index(&self) -> u64 {
        self.records
            .front()
            .map_or_else(|| self.next_index(), |record| record.log_id.index)
    }

    /// Accepts an entry; the caller has checked that it is the next one.
    pub(crate) fn push(&mut self, record: Record) {
        self.last = Some(record.log_id);
        self.bytes = self.bytes.saturating_add(record.stored_bytes());
        self.records.push_back(record);
    }

    /// Notes that everything up to `log_id` is durable, and lets go of what is too much.
    pub(crate) fn set_durable(&mut self, log_id: LogId) {
        self.durable = self.durable.max(Some(log_id));
        while self.bytes > TAIL_BYTES_MAX
            && self.records.front().map(|record| record.log_id) <= self.durable
        {
            self.pop_front();
        }
    }

    /// Removes every entry behind `after`.
    pub(crate) fn truncate_after(&mut self, after: Option<LogId>) {
        let next = next_index(after);
        while self
            .records
            .back()
            .is_some_and(|record| record.log_id.index >= next)
        {
            if let Some(record) = self.records.pop_back() {
                self.bytes = self.bytes.saturating_sub(record.stored_bytes());
            }
        }
        self.last = after;
        self.durable = self.durable.min(after);
    }

    /// Forgets every entry up to `upto`.
    pub(crate) fn purge(&mut self, upto: LogId) {
        while self
            .records
            .front()
            .is_some_and(|record| record.log_id.index <= upto.index)
        {
            self.pop_front();
        }
        self.purged = self.purged.max(Some(upto));
        if next_index(self.last) <= upto.index {
            self.last = Some(upto);
            self.durable = Some(upto);
        }
    }

    /// The entries of a range that are in memory, from its start on, up to
    /// `bytes_max` but at least one.
    pub(crate) fn copy(&self, from: u64, to: u64, bytes_max: usize) -> Vec<Record> {
        let mut budget = Budget::new(bytes_max);
        let skipped = from.saturating_sub(self.first_index());
        self.records
            .iter()
            .skip(usize::try_from(skipped).unwrap_or(usize::MAX))
            .take_while(|record| record.log_id.index < to && budget.takes(record))
            .cloned()
            .collect()
    }

    fn pop_front(&mut self) {
        if let Some(record) = self.records.pop_front() {
            self.bytes = self.bytes.saturating_sub(record.stored_bytes());
        }
    }
}

/// The index behind a log id; 0 when there is none.
pub(crate) fn next_index(log_id: Option<LogId>) -> u64 {
    log_id.map_or(0, |log_id| log_id.index.saturating_add(1))
}

/// Bounds a read by bytes, but never to nothing.
#[derive(Debug)]
pub(crate) struct Budget {
    left: usize,
    taken: bool,
}

impl Budget {
    /// A budget of `bytes_max`.
    pub(crate) const fn new(bytes_max: usize) -> Self {
        Self {
            left: bytes_max,
            taken: false,
        }
    }

    /// Whether the record still fits; the first one always does.
    pub(crate) fn takes(&mut self, record: &Record) -> bool {
        let bytes = record.stored_bytes();
        let takes = !self.taken || bytes <= self.left;
        self.taken = true;
        self.left = self.left.saturating_sub(bytes);
        takes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use lockstep_position::Term;

    fn record(index: u64) -> Record {
        Record {
            log_id: log_id(index),
            kind: 0,
            payload: Bytes::from(vec![0; 1 << 20]),
        }
    }

    fn log_id(index: u64) -> LogId {
        LogId {
            term: Term::from_u64(1),
            index,
        }
    }

    fn indexes(records: &[Record]) -> Vec<u64> {
        records.iter().map(|record| record.log_id.index).collect()
    }

    #[test]
    fn only_durable_entries_leave_memory() {
        let mut tail = Tail::default();
        (0..40).for_each(|index| tail.push(record(index)));
        assert_eq!(tail.first_index(), 0);
        tail.set_durable(log_id(9));
        assert_eq!(tail.first_index(), 10);
        tail.set_durable(log_id(39));
        assert_eq!((tail.first_index(), tail.last), (25, Some(log_id(39))));
    }

    #[test]
    fn a_copy_is_bounded_by_bytes_but_never_empty() {
        let mut tail = Tail::default();
        (0..5).for_each(|index| tail.push(record(index)));
        assert_eq!(indexes(&tail.copy(1, 5, 0)), [1]);
        assert_eq!(indexes(&tail.copy(1, 3, usize::MAX)), [1, 2]);
        assert_eq!(indexes(&tail.copy(1, 5, 5 << 19)), [1, 2]);
        assert!(tail.copy(5, 9, usize::MAX).is_empty());
    }

    #[test]
    fn cutting_and_purging_move_the_bounds() {
        let mut tail = Tail::default();
        (0..5).for_each(|index| tail.push(record(index)));
        tail.truncate_after(Some(log_id(2)));
        assert_eq!((tail.next_index(), tail.first_index()), (3, 0));
        tail.purge(log_id(1));
        assert_eq!((tail.purged, tail.first_index()), (Some(log_id(1)), 2));
        tail.purge(log_id(77));
        assert_eq!((tail.last, tail.next_index()), (Some(log_id(77)), 78));
        assert_eq!(tail.first_index(), 78);
    }
}
