//! What one who listens to a session knows.

use lockstep_catalog::{FactSession, Listed, Resume, SourceEvent};
use lockstep_model::{Fact, FactKey, FactKind};
use std::{collections::BTreeMap, time::Duration};

/// How long a test waits for what must come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The facts, as the events of a session add up to them.
#[derive(Debug, Default)]
pub(crate) struct Known {
    facts: BTreeMap<FactKind, BTreeMap<FactKey, Fact>>,
    /// Where to resume.
    pub(crate) cursors: Resume,
    /// How often each kind was listed.
    pub(crate) lists: BTreeMap<FactKind, usize>,
    /// How often the watch of each kind was lost.
    pub(crate) losses: BTreeMap<FactKind, usize>,
}

/// The next events, or the end of the test.
pub(crate) async fn next<S: FactSession>(session: &mut S) -> Vec<SourceEvent> {
    let events = tokio::time::timeout(PATIENCE, session.next()).await;
    let events = events.expect("the session fell silent");
    assert!(!events.is_empty(), "an empty batch");
    events
}

impl Known {
    /// Learns until it is `enough`.
    pub(crate) async fn learn_until<S: FactSession>(
        &mut self,
        session: &mut S,
        enough: impl Fn(&Self) -> bool,
    ) {
        while !enough(self) {
            for event in next(session).await {
                self.learn(&event);
            }
        }
    }

    pub(crate) fn learn(&mut self, event: &SourceEvent) {
        match event {
            SourceEvent::Changed { key, fact, cursor } => {
                let facts = self.facts.entry(key.kind).or_default();
                match fact.clone() {
                    Some(fact) => facts.insert(key.clone(), fact),
                    None => facts.remove(key),
                };
                self.cursors.insert(key.kind, cursor.clone());
            }
            SourceEvent::Progress { kind, cursor } => {
                self.cursors.insert(*kind, cursor.clone());
            }
            SourceEvent::Listed(listed) => {
                self.facts.insert(listed.kind, listed.facts.clone());
                self.cursors.insert(listed.kind, listed.cursor.clone());
                *self.lists.entry(listed.kind).or_default() += 1;
            }
            SourceEvent::Lost { kind } => {
                *self.losses.entry(*kind).or_default() += 1;
            }
            SourceEvent::Alive { .. } => {}
        }
    }

    /// Whether every kind was listed.
    pub(crate) fn is_complete(&self) -> bool {
        self.lists.len() == FactKind::ALL.len()
    }

    pub(crate) fn fact(&self, key: &FactKey) -> Option<&Fact> {
        self.facts.get(&key.kind)?.get(key)
    }

    /// How many objects of a kind have a name with this beginning.
    pub(crate) fn named(&self, kind: FactKind, beginning: &str) -> usize {
        let keys = self.facts.get(&kind).into_iter().flat_map(BTreeMap::keys);
        keys.filter(|key| key.name.starts_with(beginning)).count()
    }

    /// Fails unless a fresh list says the same.
    pub(crate) fn assert_equals(&self, fresh: &[Listed]) {
        let fresh: BTreeMap<FactKind, BTreeMap<FactKey, Fact>> = fresh
            .iter()
            .map(|listed| (listed.kind, listed.facts.clone()))
            .collect();
        assert_eq!(self.facts, fresh);
    }
}
