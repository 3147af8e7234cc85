//! What the leader knows, and what of it waits to be proposed.

use lockstep_model::{Fact, FactKey, Settings};
use lockstep_position::HistoryId;
use lockstep_state::{Command, State};
use std::{collections::BTreeSet, sync::Arc};

use crate::{
    Listed, Resume, SourceEvent, facts::Facts, gate::Gate, known::Known, reconcile,
    references::References, rivals, servers, suspects::Suspects,
};

/// The leader's view of Kubernetes, for as long as it leads.
///
/// Belongs to one term. When a proposal made of its commands does not come
/// back as applied, for whatever reason, it no longer knows what is committed:
/// drop it, and the source's session with it, and resume from the applied state.
#[derive(Clone, Debug)]
pub struct Catalog {
    settings: Arc<Settings>,
    history: HistoryId,
    facts: Facts,
    references: References,
    gate: Gate,
    /// What changed since the last reconcile.
    touched: BTreeSet<FactKey>,
}

impl Catalog {
    /// Goes on where the committed state stopped.
    ///
    /// Knows every remembered fact; a kind with a cursor counts as listed.
    /// `settings` are this leader's. `history` is proposed if the state has none.
    ///
    /// The first reconcile looks at everything once, so that what another
    /// version of this program joined in another way becomes whole again.
    /// Costs time proportional to the state.
    #[must_use]
    pub fn resume(committed: &State, settings: Arc<Settings>, history: HistoryId) -> Self {
        let memory = committed.memory();
        let cursors = memory.cursors().iter();
        let facts = Facts::from(memory.facts().clone());
        Self {
            settings,
            history,
            references: References::of(&facts),
            touched: reconcile::everything(&facts, committed),
            facts,
            gate: Gate::resume(cursors.map(|(kind, at)| (*kind, at.clone())).collect()),
        }
    }

    /// Where a session of the source that feeds this catalogue should go on;
    /// a kind that was never listed is missing.
    #[must_use]
    pub fn cursors(&self) -> Resume {
        self.gate.cursors().clone()
    }

    /// Whether every kind was listed, or resumed. Before that, nothing is wanted.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.gate.is_open()
    }

    /// Takes in what the source tells. An equal fact moves the cursor only.
    pub fn observe(&mut self, event: SourceEvent) {
        match event {
            SourceEvent::Changed { key, fact, cursor } => {
                self.gate.advance(key.kind, cursor);
                self.set(key, fact);
            }
            SourceEvent::Progress { kind, cursor } => self.gate.advance(kind, cursor),
            SourceEvent::Listed(listed) => self.replace(listed),
            SourceEvent::Lost { kind } => self.gate.lost(kind),
            SourceEvent::Alive { .. } => {}
        }
    }

    /// What must change in the committed state to become what the facts say.
    ///
    /// Empty when nothing must, and until every kind is known. The commands
    /// are one change: propose them together. Call only with a state that has
    /// applied all that was proposed before.
    ///
    /// Costs time proportional to what changed and what refers to it.
    pub fn reconcile(&mut self, committed: &State) -> Vec<Command> {
        if !self.gate.is_open() {
            return Vec::new();
        }
        let touched = std::mem::take(&mut self.touched);
        let affected = self.references.affected(&touched);
        let known = Known {
            facts: &self.facts,
            references: &self.references,
            settings: &self.settings,
        };
        let mut commands = Vec::new();
        commands.extend(reconcile::history(committed, self.history));
        commands.extend(reconcile::settings(committed, &self.settings));
        commands.extend(reconcile::content(committed, known, &affected));
        commands.extend(reconcile::memory(committed, &self.facts, &touched));
        // Cursors alone are not worth an entry: events of objects that do not
        // matter would write one each.
        if !commands.is_empty() {
            commands.extend(reconcile::cursors(committed, self.gate.cursors()));
        }
        commands
    }

    /// Notes how far the watches have come since the last command, so that a
    /// new leader resumes nearby.
    ///
    /// Empty while anything observed waits for [`reconcile`](Self::reconcile):
    /// a cursor never passes a fact that is not remembered. Call as `reconcile`.
    #[must_use]
    pub fn checkpoint(&self, committed: &State) -> Vec<Command> {
        if self.gate.is_open() && self.touched.is_empty() {
            reconcile::cursors(committed, self.gate.cursors()).collect()
        } else {
            Vec::new()
        }
    }

    /// Takes lists of an audit in, and notes what they show otherwise.
    pub fn suspect(&self, suspects: &mut Suspects, lists: Vec<Listed>) {
        suspects.listed(lists, &self.facts, &self.gate);
    }

    /// Believes the lists of an audit about all that the watches did not explain
    /// meanwhile, and names it.
    pub fn repair(&mut self, suspects: Suspects) -> Vec<FactKey> {
        let mut repaired = Vec::new();
        for (key, fact) in suspects.into_lost() {
            repaired.push(key.clone());
            self.set(key, fact);
        }
        repaired
    }

    fn set(&mut self, key: FactKey, fact: Option<Fact>) {
        if self.facts.get(&key).map(AsRef::as_ref) == fact.as_ref() {
            return;
        }
        let fact = fact.map(Arc::new);
        let old = self.facts.set(&key, fact.clone());
        let (old, new) = (old.as_deref(), fact.as_deref());
        self.references.replace(&key, old, new);
        self.touched.extend(servers::touched(&key, old, new));
        self.touched
            .extend(rivals::touched(&key, old, new, &self.references));
        self.touched.insert(key);
    }

    fn replace(&mut self, listed: Listed) {
        let Listed {
            kind,
            facts,
            unread,
            cursor,
        } = listed;
        let known = self.facts.keys_of(kind);
        let gone: Vec<FactKey> = known
            .filter(|key| !facts.contains_key(key) && !unread.contains(key))
            .cloned()
            .collect();
        for key in gone {
            self.set(key, None);
        }
        for (key, fact) in facts {
            self.set(key, Some(fact));
        }
        self.gate.listed(kind, cursor);
    }
}
