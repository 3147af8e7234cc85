//! Finds what the watches lost: what a list shows otherwise, though no watch has told of it.
//!
//! A list and the watches run at the same time, so that a difference alone means little: a
//! change may be on its way. What is left when each watch has been opened twice after the
//! list, and has not told of the object since the audit began, was lost.

use lockstep_model::{Fact, FactKey, FactKind};
use std::collections::{BTreeMap, BTreeSet};

use crate::{Listed, SourceEvent, facts::Facts, gate::Gate};

/// How often a watch is opened after the list before it has surely told all that was in the
/// list: the one that is opened first tells what it has to tell before it ends.
const OPENINGS: u32 = 2;

/// An audit that goes on while the watches do.
#[derive(Clone, Debug, Default)]
pub struct Suspects {
    /// What was told since the audit began.
    touched: Touched,
    /// What the list shows otherwise than it is known.
    otherwise: BTreeMap<FactKey, Option<Fact>>,
    /// How often the watch of a kind must still be opened.
    openings: BTreeMap<FactKind, u32>,
}

#[derive(Clone, Debug)]
enum Touched {
    /// The list is not there yet.
    Before(BTreeSet<FactKey>, BTreeSet<FactKind>),
    /// The list is there.
    After,
}

impl Default for Touched {
    fn default() -> Self {
        Self::Before(BTreeSet::new(), BTreeSet::new())
    }
}

// === impl Suspects ===

impl Suspects {
    /// What the watches tell, all of it from the beginning of the audit on.
    pub fn observe(&mut self, event: &SourceEvent) {
        match event {
            SourceEvent::Changed { key, .. } => self.explain(key),
            SourceEvent::Listed(Listed { kind, .. }) | SourceEvent::Lost { kind } => {
                self.leave_out(*kind);
            }
            SourceEvent::Alive { kind } => self.opened(*kind),
            SourceEvent::Progress { .. } => {}
        }
    }

    /// Whether nothing is to be waited for any more.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        matches!(self.touched, Touched::After) && self.openings.is_empty()
    }

    /// What is left.
    pub(crate) fn into_lost(self) -> BTreeMap<FactKey, Option<Fact>> {
        let Self {
            otherwise,
            openings,
            ..
        } = self;
        // A watch that was not opened often enough may still tell.
        let is_settled = |key: &FactKey| !openings.contains_key(&key.kind);
        otherwise
            .into_iter()
            .filter(|(key, _)| is_settled(key))
            .collect()
    }

    /// Takes in the lists.
    pub(crate) fn listed(&mut self, lists: Vec<Listed>, facts: &Facts, gate: &Gate) {
        let Touched::Before(touched, left_out) =
            std::mem::replace(&mut self.touched, Touched::After)
        else {
            return;
        };
        for listed in lists {
            let known_at = gate.cursors().get(&listed.kind);
            // A list from the past says nothing, and a kind that is not known completely
            // will be listed anyway.
            let is_usable = known_at.is_some_and(|at| !listed.cursor.is_surely_older_than(at));
            if is_usable && !left_out.contains(&listed.kind) {
                self.openings.insert(listed.kind, OPENINGS);
                let otherwise = otherwise(listed, facts);
                self.otherwise
                    .extend(otherwise.filter(|(key, _)| !touched.contains(key)));
            }
        }
    }

    fn explain(&mut self, key: &FactKey) {
        match &mut self.touched {
            Touched::Before(touched, _) => {
                touched.insert(key.clone());
            }
            Touched::After => {
                self.otherwise.remove(key);
            }
        }
    }

    fn leave_out(&mut self, kind: FactKind) {
        if let Touched::Before(_, left_out) = &mut self.touched {
            left_out.insert(kind);
        }
        self.otherwise.retain(|key, _| key.kind != kind);
        self.openings.remove(&kind);
    }

    fn opened(&mut self, kind: FactKind) {
        if let Some(openings) = self.openings.get_mut(&kind) {
            *openings = openings.saturating_sub(1);
            if *openings == 0 {
                self.openings.remove(&kind);
            }
        }
    }
}

/// What a list shows otherwise than it is known.
fn otherwise(listed: Listed, known: &Facts) -> impl Iterator<Item = (FactKey, Option<Fact>)> {
    let Listed {
        kind,
        facts,
        unread,
        ..
    } = listed;
    let is_gone = |key: &&FactKey| !facts.contains_key(*key) && !unread.contains(*key);
    let gone: Vec<FactKey> = known.keys_of(kind).filter(is_gone).cloned().collect();
    let is_new = |key: &FactKey, fact: &Fact| known.get(key).is_none_or(|known| **known != *fact);
    let changed: Vec<(FactKey, Option<Fact>)> = facts
        .into_iter()
        .filter(|(key, fact)| is_new(key, fact))
        .map(|(key, fact)| (key, Some(fact)))
        .collect();
    changed
        .into_iter()
        .chain(gone.into_iter().map(|key| (key, None)))
}
