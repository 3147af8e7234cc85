//! Which custom kinds are installed, in which versions, and since when.

use std::collections::BTreeMap;

use crate::kind::{Kind, Origin};
use crate::resource::Resource;

/// The definitions of the custom kinds. A kind compiled into the server needs
/// none.
#[derive(Debug)]
pub(crate) struct Definitions {
    served: BTreeMap<&'static Kind, Vec<&'static str>>,
    /// The revisions at which a kind's definition changed. Each change ends
    /// the watches opened before it.
    changes: BTreeMap<&'static Kind, Vec<u64>>,
}

// === impl Definitions ===

impl Definitions {
    /// Every custom kind in all its versions.
    pub(crate) fn all() -> Self {
        Self {
            served: Kind::custom()
                .map(|kind| (kind, kind.versions().collect()))
                .collect(),
            changes: BTreeMap::new(),
        }
    }

    /// Whether there is such a resource.
    pub(crate) fn serve(&self, resource: Resource) -> bool {
        match resource.kind.origin {
            Origin::BuiltIn => true,
            Origin::Custom => self
                .served
                .get(resource.kind)
                .is_some_and(|versions| versions.contains(&resource.version)),
        }
    }

    /// Serves these versions of a custom kind from `revision` on.
    pub(crate) fn set(&mut self, kind: &'static Kind, versions: Vec<&'static str>, revision: u64) {
        if self.served.get(kind) == Some(&versions) {
            return;
        }
        self.served.insert(kind, versions);
        self.changes.entry(kind).or_default().push(revision);
    }

    /// Counts the changes of a kind's definition.
    pub(crate) fn edition(&self, kind: &'static Kind) -> usize {
        self.changes.get(kind).map_or(0, Vec::len)
    }

    /// The revision at which an edition of the definition ended, if it has.
    pub(crate) fn end_of(&self, kind: &'static Kind, edition: usize) -> Option<u64> {
        self.changes.get(kind)?.get(edition).copied()
    }

    /// The revision since which the kind is defined as it is; 0 is always.
    pub(crate) fn since(&self, kind: &'static Kind) -> u64 {
        let changes = self.changes.get(kind);
        changes
            .and_then(|changes| changes.last().copied())
            .unwrap_or(0)
    }
}
