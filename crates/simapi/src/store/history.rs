//! The window of past changes.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::Value;

use super::ObjectKey;
use crate::kind::Kind;

/// One change; there is exactly one per revision.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) revision: u64,
    pub(crate) kind: &'static Kind,
    pub(crate) key: ObjectKey,
    /// The object before, if it existed.
    pub(crate) previous: Option<Arc<Value>>,
    pub(crate) change: Change,
    /// Whether no watch is told of it.
    pub(crate) is_lost: bool,
}

/// What became of the object.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// It now has this value.
    Put(Arc<Value>),
    /// It is gone; this was its last value, at the revision of its removal.
    Removed(Arc<Value>),
}

/// The newest events, and where memory ends.
#[derive(Debug)]
pub(crate) struct History {
    events: VecDeque<Event>,
    window: usize,
    /// The newest revision whose event is no longer in `events`.
    trimmed: u64,
    /// New requests may ask for this revision and later ones.
    compacted: u64,
}

// === impl History ===

impl History {
    pub(crate) fn new(window: usize, revision: u64) -> Self {
        Self {
            events: VecDeque::new(),
            window,
            trimmed: revision,
            compacted: revision,
        }
    }

    /// Adds the event of the revision after the newest one.
    pub(crate) fn push(&mut self, event: Event) {
        self.events.push_back(event);
        while self.events.len() > self.window {
            if let Some(oldest) = self.events.pop_front() {
                self.trimmed = oldest.revision;
            }
        }
        self.compacted = self.compacted.max(self.trimmed);
    }

    /// Only moves the mark: open watches may still have to read the events.
    pub(crate) fn compact(&mut self, revision: u64) {
        self.compacted = self.compacted.max(revision);
    }

    /// Takes out the events after `revision`, oldest first; `None` if some are lost.
    pub(crate) fn forget_after(&mut self, revision: u64) -> Option<Vec<Event>> {
        let kept = self.place_after(revision)?;
        self.compacted = self.compacted.min(revision);
        Some(self.events.drain(kept..).collect())
    }

    /// The oldest revision that a new request may start from.
    pub(crate) fn compacted(&self) -> u64 {
        self.compacted
    }

    /// The events after `revision`, oldest first; `None` if some are lost.
    pub(crate) fn after(&self, revision: u64) -> Option<impl DoubleEndedIterator<Item = &Event>> {
        let skipped = self.place_after(revision)?;
        Some(self.events.range(skipped..))
    }

    /// Revisions are consecutive, so a revision is a place in the queue.
    fn place_after(&self, revision: u64) -> Option<usize> {
        let skipped = revision.checked_sub(self.trimmed)?;
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        Some(skipped.min(self.events.len()))
    }
}
