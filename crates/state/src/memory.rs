//! What a new leader must know to go on where the old one stopped.

use imbl::OrdMap;
use lockstep_model::{Cursor, Fact, FactKey, FactKind};
use std::sync::Arc;

/// Every fact the leader has learned, and how far each kind's watch has come.
///
/// Not part of an answer: it makes no revision and enters no digest.
#[derive(Clone, Debug, Default)]
pub struct SourceMemory {
    facts: OrdMap<FactKey, Arc<Fact>>,
    cursors: OrdMap<FactKind, Cursor>,
}

impl SourceMemory {
    /// Every fact, by key. A clone shares all of it.
    #[must_use]
    pub fn facts(&self) -> &OrdMap<FactKey, Arc<Fact>> {
        &self.facts
    }

    /// How far each kind's watch has come; a kind that was never listed is missing.
    #[must_use]
    pub fn cursors(&self) -> &OrdMap<FactKind, Cursor> {
        &self.cursors
    }

    pub(crate) fn remember(&mut self, key: FactKey, fact: Arc<Fact>) {
        self.facts.insert(key, fact);
    }

    pub(crate) fn forget(&mut self, key: &FactKey) {
        self.facts.remove(key);
    }

    pub(crate) fn advance(&mut self, kind: FactKind, cursor: Cursor) {
        self.cursors.insert(kind, cursor);
    }
}
