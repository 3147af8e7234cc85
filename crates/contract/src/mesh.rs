//! A cluster's objects on the whole way that they take in a leader, without sockets: they
//! become facts, the catalogue joins them, its commands are applied to a state.
//!
//! ```text
//! edit ─▶ objects ─convert─▶ facts ─observe─▶ catalogue ─reconcile─▶ commands ─apply─▶ state
//! ```

use lockstep_catalog::{Catalog, Listed, SourceEvent};
use lockstep_kubernetes::convert::{Converted, Unusable, from_value};
use lockstep_model::{Cursor, Fact, FactKey, FactKind, Settings};
use lockstep_position::{HistoryId, LogId, Term};
use lockstep_state::{Batch, Command, State};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::edit::{Delete, Edit, Patch, merge};

/// When an object was asked to go; nothing depends on the time.
const DELETED_AT: &str = "2026-01-01T00:00:00Z";

/// The API group of each watched kind, by its resource name.
const GROUPS: [(&str, &str); 9] = [
    ("nodes", ""),
    ("replicasets", "apps"),
    ("jobs", "batch"),
    ("pods", ""),
    ("services", ""),
    ("endpointslices", "discovery.k8s.io"),
    ("serviceprofiles", "linkerd.io"),
    ("servers", "policy.linkerd.io"),
    ("externalworkloads", "workload.linkerd.io"),
];

/// A cluster and the state that its leader makes of it.
#[derive(Clone, Debug)]
pub struct Mesh {
    objects: BTreeMap<FactKey, Value>,
    catalog: Catalog,
    state: State,
    events: u64,
    complaints: Vec<String>,
    /// The kinds whose watch is lost.
    lost: BTreeSet<FactKind>,
}

/// Why an edit cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MeshError {
    /// An object without `kind` or `metadata.name`.
    #[error("an object needs `kind` and `metadata.name`; this has not both: {0}")]
    Nameless(String),
    /// A kind of an API group that is not the watched one.
    #[error("a {kind} of apiVersion `{api_version}` is not watched; the group must be `{group}`")]
    Group {
        /// The kind.
        kind: String,
        /// The group and version that the object has.
        api_version: String,
        /// The group that is watched.
        group: &'static str,
    },
    /// A kind that is not watched, so that none of its objects is known.
    #[error("objects of kind `{0}` are not watched")]
    Unwatched(String),
    /// An object that does not exist.
    #[error("there is no {0}")]
    Missing(FactKey),
}

impl Mesh {
    /// A cluster with these objects, every kind listed. Objects of kinds that are not
    /// watched, such as Namespace, are passed over. Nothing is committed yet.
    ///
    /// # Errors
    ///
    /// The first object that is none.
    pub fn new(settings: Settings, objects: Vec<Value>) -> Result<Self, MeshError> {
        let history = HistoryId::from_u128(0xabc);
        let state = State::default();
        let mut mesh = Self {
            objects: BTreeMap::new(),
            catalog: Catalog::resume(&state, Arc::new(settings), history),
            state,
            events: 0,
            complaints: Vec::new(),
            lost: BTreeSet::new(),
        };
        for object in objects {
            if let Some(key) = key_of(&object)? {
                mesh.objects.insert(key, object);
            }
        }
        for kind in FactKind::ALL {
            mesh.list(kind);
        }
        Ok(mesh)
    }

    /// Makes an edit and has the catalogue observe it. Nothing is committed yet.
    ///
    /// # Errors
    ///
    /// Why the edit cannot be made; then nothing has changed.
    pub fn edit(&mut self, edit: Edit) -> Result<(), MeshError> {
        match edit {
            Edit::Apply(object) => self.apply(object),
            Edit::Patch(patch) => self.patch(&patch),
            Edit::Delete(delete) => self.delete(&delete),
            Edit::Relist(kind) => {
                self.relist(kind_named(&kind).ok_or(MeshError::Unwatched(kind))?);
                Ok(())
            }
        }
    }

    /// Applies what the catalogue wants now, as one batch; gives back its commands. Empty
    /// when nothing must change.
    pub fn commit(&mut self) -> Vec<Command> {
        let commands = self.catalog.reconcile(&self.state);
        if !commands.is_empty() {
            let term = Term::from_u64(1);
            let index = self
                .state
                .position()
                .applied
                .map_or(1, |last| last.index + 1);
            let batch = Batch::whole(term, commands.clone());
            self.state.apply(LogId { term, index }, batch);
        }
        commands
    }

    /// What is committed.
    #[must_use]
    pub const fn state(&self) -> &State {
        &self.state
    }

    /// The current objects of watched kinds.
    #[must_use]
    pub const fn objects(&self) -> &BTreeMap<FactKey, Value> {
        &self.objects
    }

    /// What was said about objects, or parts of them, that say nothing usable; in the order
    /// in which they came.
    #[must_use]
    pub fn complaints(&self) -> &[String] {
        &self.complaints
    }

    /// Creates an object, or replaces it.
    ///
    /// # Errors
    ///
    /// It is no object of a watched API group.
    pub fn apply(&mut self, object: Value) -> Result<(), MeshError> {
        if let Some(key) = key_of(&object)? {
            self.objects.insert(key.clone(), object.clone());
            self.tell(key, object);
        }
        Ok(())
    }

    /// The watch of a kind is lost: what happens to objects of the kind is not told until it
    /// is listed anew, and until then nothing is committed.
    pub fn lose(&mut self, kind: FactKind) {
        self.lost.insert(kind);
        self.catalog.observe(SourceEvent::Lost { kind });
    }

    fn patch(&mut self, patch: &Patch) -> Result<(), MeshError> {
        let key = key(&patch.kind, &patch.namespace, &patch.name)?;
        let mut object = self.existing(&key)?;
        merge(&mut object, &patch.merge);
        self.apply(object)
    }

    fn delete(&mut self, delete: &Delete) -> Result<(), MeshError> {
        let key = key(&delete.kind, &delete.namespace, &delete.name)?;
        let mut object = self.existing(&key)?;
        if delete.grace > 0 {
            merge(
                &mut object,
                &json!({"metadata": {"deletionTimestamp": DELETED_AT}}),
            );
            return self.apply(object);
        }
        self.objects.remove(&key);
        if !delete.unseen {
            self.changed(key, None);
        }
        Ok(())
    }

    fn existing(&self, key: &FactKey) -> Result<Value, MeshError> {
        let object = self.objects.get(key).cloned();
        object.ok_or_else(|| MeshError::Missing(key.clone()))
    }

    /// The watch of a kind is lost, and the kind listed anew.
    fn relist(&mut self, kind: FactKind) {
        self.lose(kind);
        self.list(kind);
    }

    fn tell(&mut self, key: FactKey, object: Value) {
        match converted(key.kind, object, &mut self.complaints) {
            Ok(converted) => self.changed(converted.key, Some(converted.fact)),
            Err(unusable) => {
                // Without a key nothing follows from it, as in a watch.
                if let Some(key) = unusable.key() {
                    self.changed(key.clone(), None);
                }
            }
        }
    }

    fn changed(&mut self, key: FactKey, fact: Option<Fact>) {
        if self.lost.contains(&key.kind) {
            return;
        }
        let cursor = self.cursor();
        self.catalog
            .observe(SourceEvent::Changed { key, fact, cursor });
    }

    fn list(&mut self, kind: FactKind) {
        self.lost.remove(&kind);
        let cursor = self.cursor();
        let mut listed = Listed {
            kind,
            facts: BTreeMap::new(),
            unread: BTreeSet::new(),
            cursor,
        };
        let of_kind = self.objects.iter().filter(|(key, _)| key.kind == kind);
        for (key, object) in of_kind {
            match converted(kind, object.clone(), &mut self.complaints) {
                Ok(converted) => {
                    listed.facts.insert(converted.key, converted.fact);
                }
                Err(unusable) => {
                    if unusable.key().is_none() {
                        listed.unread.insert(key.clone());
                    }
                }
            }
        }
        self.catalog.observe(SourceEvent::Listed(listed));
    }

    fn cursor(&mut self) -> Cursor {
        self.events += 1;
        Cursor(self.events.to_string().into())
    }
}

/// Converts an object, and notes what is said about it or its parts.
fn converted(
    kind: FactKind,
    object: Value,
    complaints: &mut Vec<String>,
) -> Result<Converted, Unusable> {
    let converted = from_value(kind, object);
    match &converted {
        Ok(Converted { key, skipped, .. }) => {
            complaints.extend(skipped.iter().map(|it| format!("{key}: {it}")));
        }
        Err(unusable) => complaints.push(unusable.to_string()),
    }
    converted
}

/// The watched kind of a name such as `Pod`.
fn kind_named(kind: &str) -> Option<FactKind> {
    let resource = format!("{}s", kind.to_ascii_lowercase());
    FactKind::ALL
        .into_iter()
        .find(|it| it.resource() == resource)
}

fn key(kind: &str, namespace: &str, name: &str) -> Result<FactKey, MeshError> {
    let found = kind_named(kind).ok_or_else(|| MeshError::Unwatched(kind.to_owned()))?;
    Ok(FactKey::named(found, namespace, name))
}

/// Which object this is; `None` if its kind is not watched.
fn key_of(object: &Value) -> Result<Option<FactKey>, MeshError> {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
    let (Some(kind), Some(name)) = (text("/kind"), text("/metadata/name")) else {
        return Err(MeshError::Nameless(object.to_string()));
    };
    let Some(found) = kind_named(kind) else {
        return Ok(None);
    };
    let api_version = text("/apiVersion").unwrap_or_default();
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    let watched = GROUPS
        .iter()
        .find(|(resource, _)| *resource == found.resource());
    if let Some((_, watched)) = watched.filter(|(_, watched)| *watched != group) {
        return Err(MeshError::Group {
            kind: kind.to_owned(),
            api_version: api_version.to_owned(),
            group: watched,
        });
    }
    let namespace = match found {
        FactKind::Node => "",
        _ => text("/metadata/namespace").unwrap_or_default(),
    };
    Ok(Some(FactKey::named(found, namespace, name)))
}

#[cfg(test)]
mod tests;
