//! One watch, as a machine that turns history into watch events.

use std::sync::Arc;

use serde_json::Value;

use super::history::{Change, Event};
use super::{ListAt, Store};
use crate::kind::Kind;
use crate::object::metadata;
use crate::refusal::Refusal;
use crate::selector::Selection;

/// Where a watch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WatchFrom {
    /// With the changes after this revision.
    After(u64),
    /// With the changes after now.
    Now,
    /// With every object as if just added, then the changes.
    State,
    /// As `State`, at least as new as this revision, with a bookmark after it.
    MarkedState(u64),
}

/// One item on the wire.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum WatchEvent {
    Added(Arc<Value>),
    Modified(Arc<Value>),
    Deleted(Arc<Value>),
    /// Everything up to this revision has been sent.
    Bookmark(u64),
    /// As `Bookmark`, and the initial objects end here.
    InitialEnd(u64),
}

/// How far one client has been told.
#[derive(Debug)]
pub(crate) struct Watch {
    kind: &'static Kind,
    selection: Selection,
    /// Every event up to this revision was sent or did not match.
    cursor: u64,
    /// Which definition of the kind the watch was opened under.
    edition: usize,
}

// === impl Watch ===

impl Watch {
    /// Begins a watch; answers it with the events to send at once.
    pub(crate) fn open(
        store: &Store,
        kind: &'static Kind,
        selection: Selection,
        from: WatchFrom,
    ) -> Result<(Self, Vec<WatchEvent>), Refusal> {
        let now = store.shown();
        // What was before the definition is not known to whoever serves it.
        let oldest = store.history.compacted().max(store.definitions.since(kind));
        let (cursor, initial) = match from {
            WatchFrom::After(revision) if revision < oldest => {
                return Err(Refusal::expired_watch(revision, oldest));
            }
            WatchFrom::MarkedState(wanted) if wanted > now => {
                return Err(Refusal::too_new(wanted, now));
            }
            WatchFrom::After(revision) => (revision, Vec::new()),
            WatchFrom::Now => (now, Vec::new()),
            WatchFrom::State | WatchFrom::MarkedState(_) => {
                let listing = store.list(kind, &selection, &ListAt::Newest, None)?;
                (
                    now,
                    listing.items.into_iter().map(WatchEvent::Added).collect(),
                )
            }
        };
        let mut initial: Vec<WatchEvent> = initial;
        if let WatchFrom::MarkedState(_) = from {
            initial.push(WatchEvent::InitialEnd(now));
        }
        Ok((
            Self {
                kind,
                selection,
                cursor,
                edition: store.definitions.edition(kind),
            },
            initial,
        ))
    }

    /// Reads on in history, at most `limit` events; empty when up to date.
    ///
    /// Refuses when the watch fell out of the window: it cannot go on.
    pub(crate) fn advance(
        &mut self,
        store: &Store,
        limit: usize,
    ) -> Result<Vec<WatchEvent>, Refusal> {
        let events = store
            .history
            .after(self.cursor)
            .ok_or_else(|| Refusal::expired_watch(self.cursor, store.history.compacted()))?;
        let last = self.last_to_tell(store);
        let mut found = Vec::new();
        for event in events.take_while(|event| event.revision <= last) {
            if found.len() >= limit {
                return Ok(found);
            }
            self.cursor = self.cursor.max(event.revision);
            found.extend(self.translate(event));
        }
        Ok(found)
    }

    /// Whether the definition it was opened under is gone and all is told:
    /// there is nothing to wait for.
    pub(crate) fn is_over(&self, store: &Store) -> bool {
        let end = store.definitions.end_of(self.kind, self.edition);
        end.is_some_and(|end| self.cursor >= end)
    }

    fn last_to_tell(&self, store: &Store) -> u64 {
        let end = store.definitions.end_of(self.kind, self.edition);
        let held = store.held.get(self.kind).copied();
        let least = end.unwrap_or(u64::MAX).min(held.unwrap_or(u64::MAX));
        least.min(store.shown())
    }

    /// A bookmark of what has been told; none while the client is ahead of us.
    pub(crate) fn bookmark(&self, store: &Store) -> Option<WatchEvent> {
        (self.cursor <= store.shown()).then_some(WatchEvent::Bookmark(self.cursor))
    }

    /// What the change means to this client: an object that begins or ceases
    /// to match the selection is added or deleted, whatever really happened.
    fn translate(&self, event: &Event) -> Option<WatchEvent> {
        if event.kind != self.kind || event.is_lost {
            return None;
        }
        let before = event
            .previous
            .as_ref()
            .filter(|object| self.selection.matches(object));
        match (&event.change, before) {
            (Change::Removed(last), Some(_)) => Some(WatchEvent::Deleted(Arc::clone(last))),
            (Change::Removed(_), None) => None,
            (Change::Put(object), before) => match (before, self.selection.matches(object)) {
                (None, true) => Some(WatchEvent::Added(Arc::clone(object))),
                (Some(_), true) => Some(WatchEvent::Modified(Arc::clone(object))),
                (Some(before), false) => Some(WatchEvent::Deleted(restamped(before, event))),
                (None, false) => None,
            },
        }
    }
}

/// The object as the client knew it, at the revision where it stopped matching.
fn restamped(before: &Value, event: &Event) -> Arc<Value> {
    let mut object = before.clone();
    metadata::set(
        &mut object,
        "resourceVersion",
        event.revision.to_string().into(),
    );
    Arc::new(object)
}
