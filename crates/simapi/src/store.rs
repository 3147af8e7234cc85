//! Every object, at every revision still remembered.
//!
//! ```text
//! objects   newest value per (kind, key)
//! history   ... | e5 e6 e7 e8 |          one event per revision
//!           ^     ^           ^ revision
//!           |     compacted: nobody may ask for anything older
//!           trimmed: gone from memory too
//! ```
//!
//! Pure: no clock, no input or output; the caller brings the time of day.

mod history;
mod listing;
mod watch;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::kind::Kind;
use crate::object::metadata;

pub(crate) use history::Change;
pub(crate) use listing::{ListAt, Listing, Page};
pub(crate) use watch::{Watch, WatchEvent, WatchFrom};

use history::{Event, History};

/// Names one object within its kind; `namespace` is empty for cluster kinds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ObjectKey {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

type Objects = BTreeMap<ObjectKey, Arc<Value>>;

/// Objects by kind and key, with a bounded window of history.
#[derive(Debug)]
pub(crate) struct Store {
    objects: BTreeMap<&'static Kind, Objects>,
    history: History,
    revision: u64,
    born: u64,
}

/// The revision of an empty store; 0 means "any" on the wire.
const FIRST_REVISION: u64 = 1;

// === impl ObjectKey ===

impl ObjectKey {
    pub(crate) fn new(namespace: &str, name: &str) -> Self {
        Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }
}

// === impl Store ===

impl Store {
    /// An empty store that remembers the newest `window` events.
    pub(crate) fn new(window: usize) -> Self {
        Self {
            objects: BTreeMap::new(),
            history: History::new(window, FIRST_REVISION),
            revision: FIRST_REVISION,
            born: 0,
        }
    }

    /// The revision of the newest change, of whatever kind.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    pub(crate) fn find(&self, kind: &'static Kind, key: &ObjectKey) -> Option<&Arc<Value>> {
        self.objects.get(kind)?.get(key)
    }

    /// The newest objects of a kind, in key order.
    pub(crate) fn all(
        &self,
        kind: &'static Kind,
    ) -> impl Iterator<Item = (&ObjectKey, &Arc<Value>)> {
        self.objects.get(kind).into_iter().flatten()
    }

    /// A number never given before, for uids, generated names and addresses.
    pub(crate) fn next_birth(&mut self) -> u64 {
        self.born = self.born.saturating_add(1);
        self.born
    }

    /// Writes one object at the next revision, which it stamps on it.
    pub(crate) fn put(
        &mut self,
        kind: &'static Kind,
        key: ObjectKey,
        mut object: Value,
    ) -> Arc<Value> {
        self.revision = self.revision.saturating_add(1);
        metadata::set(
            &mut object,
            "resourceVersion",
            self.revision.to_string().into(),
        );
        let object = Arc::new(object);
        let objects = self.objects.entry(kind).or_default();
        let previous = objects.insert(key.clone(), Arc::clone(&object));
        let change = Change::Put(Arc::clone(&object));
        self.history.push(Event {
            revision: self.revision,
            kind,
            key,
            previous,
            change,
        });
        object
    }

    /// Removes one object at the next revision; answers its last state,
    /// stamped with the revision of the removal.
    pub(crate) fn remove(&mut self, kind: &'static Kind, key: &ObjectKey) -> Option<Arc<Value>> {
        let previous = self.objects.get_mut(kind)?.remove(key)?;
        self.revision = self.revision.saturating_add(1);
        let mut last = Value::clone(&previous);
        metadata::set(
            &mut last,
            "resourceVersion",
            self.revision.to_string().into(),
        );
        let last = Arc::new(last);
        self.history.push(Event {
            revision: self.revision,
            kind,
            key: key.clone(),
            previous: Some(previous),
            change: Change::Removed(Arc::clone(&last)),
        });
        Some(last)
    }

    /// Forgets all history up to now: whoever asks for an older revision from
    /// now on is told that it is gone. Open watches miss nothing.
    pub(crate) fn compact(&mut self) {
        self.history.compact(self.revision);
    }
}
