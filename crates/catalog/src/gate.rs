//! Which kinds are known completely.
//!
//! Until all are, the catalogue wants nothing: from partial knowledge an object
//! that was not heard of yet looks like one that is gone.

use lockstep_model::{Cursor, FactKind};

use crate::Resume;

/// How far each kind has come that is known completely: listed, or resumed
/// from a state that was.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gate(Resume);

impl Gate {
    pub(crate) fn resume(cursors: Resume) -> Self {
        Self(cursors)
    }

    /// The kind was listed whole.
    pub(crate) fn listed(&mut self, kind: FactKind, cursor: Cursor) {
        self.0.insert(kind, cursor);
    }

    /// The kind's watch has come to `cursor`. Means nothing for a kind that
    /// was never listed: what was there before is not known.
    pub(crate) fn advance(&mut self, kind: FactKind, cursor: Cursor) {
        if let Some(known) = self.0.get_mut(&kind) {
            *known = cursor;
        }
    }

    /// The kind is no longer known completely.
    pub(crate) fn lost(&mut self, kind: FactKind) {
        self.0.remove(&kind);
    }

    pub(crate) fn is_open(&self) -> bool {
        FactKind::ALL.iter().all(|kind| self.0.contains_key(kind))
    }

    pub(crate) fn cursors(&self) -> &Resume {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_with_the_last_kind_and_not_with_a_watch_alone() {
        let mut gate = Gate::default();
        for kind in FactKind::ALL {
            assert!(!gate.is_open());
            gate.advance(kind, Cursor("1".into()));
            assert!(!gate.is_open());
            gate.listed(kind, Cursor("2".into()));
        }
        assert!(gate.is_open());
        gate.lost(FactKind::Pod);
        assert!(!gate.is_open());
    }
}
