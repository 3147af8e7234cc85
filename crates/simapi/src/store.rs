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

mod definitions;
mod faults;
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
use crate::resource::Resource;

pub(crate) use history::Change;
pub(crate) use listing::{ListAt, Listing, Page, expired_continuation};
pub(crate) use watch::{Watch, WatchEvent, WatchFrom};

use definitions::Definitions;
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
    definitions: Definitions,
    /// Kinds whose watches are told nothing after a revision.
    held: BTreeMap<&'static Kind, u64>,
    /// How often the watches of a kind were silenced.
    silences: BTreeMap<&'static Kind, u64>,
    /// How many of the next changes of a kind no watch will be told.
    losing: BTreeMap<&'static Kind, usize>,
    /// How many revisions lists and watches are behind.
    lag: u64,
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
    /// An empty store that remembers the newest `window` events and has every
    /// custom kind installed.
    pub(crate) fn new(window: usize) -> Self {
        Self {
            objects: BTreeMap::new(),
            history: History::new(window, FIRST_REVISION),
            definitions: Definitions::all(),
            held: BTreeMap::new(),
            silences: BTreeMap::new(),
            losing: BTreeMap::new(),
            lag: 0,
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
        let is_lost = self.loses(kind);
        self.history.push(Event {
            revision: self.revision,
            kind,
            key,
            previous,
            change,
            is_lost,
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
        let is_lost = self.loses(kind);
        self.history.push(Event {
            revision: self.revision,
            kind,
            key: key.clone(),
            previous: Some(previous),
            change: Change::Removed(Arc::clone(&last)),
            is_lost,
        });
        Some(last)
    }

    /// Whether there is such a resource.
    pub(crate) fn serves(&self, resource: Resource) -> bool {
        self.definitions.serve(resource)
    }

    /// What is served, in the order of discovery.
    pub(crate) fn resources(&self) -> Vec<Resource> {
        Resource::all().filter(|r| self.serves(*r)).collect()
    }

    /// Serves these versions of a custom kind from now on.
    pub(crate) fn install(&mut self, kind: &'static Kind, versions: Vec<&'static str>) {
        self.definitions.set(kind, versions, self.revision);
    }

    /// Removes all objects of a custom kind, then its definition.
    pub(crate) fn uninstall(&mut self, kind: &'static Kind) {
        let keys: Vec<ObjectKey> = self.all(kind).map(|(key, _)| key.clone()).collect();
        for key in &keys {
            self.remove(kind, key);
        }
        self.install(kind, Vec::new());
    }

    /// Forgets all history up to now: whoever asks for an older revision from
    /// now on is told that it is gone. Open watches miss nothing.
    pub(crate) fn compact(&mut self) {
        self.history.compact(self.revision);
    }
}
