//! What a committed batch does.

use lockstep_position::{Digest, HistoryId, LogId, Revision, Term};

use crate::{Batch, Changed, Command, Part, State, digest::path, state::Staged};

/// What applying one entry did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The revision after the entry.
    pub revision: Revision,
    /// What was done with the batch.
    pub outcome: Outcome,
    /// Who has to look again; empty when the revision did not move.
    pub changed: Changed,
}

/// What was done with a batch.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its commands are in the state.
    Done,
    /// Its commands wait for the parts that follow.
    Staged,
    /// It was proposed in an older term than the entry that carries it: a
    /// deposed leader's batch. Nothing changed.
    StaleTerm,
    /// A part that does not follow the one before it. Nothing changed.
    OutOfOrder,
}

impl State {
    /// Applies one committed batch.
    ///
    /// Deterministic and total: equal states and equal batches give equal
    /// states on every replica, and nothing fails here. The only refusals
    /// depend on the entry alone, so every replica refuses the same.
    pub fn apply(&mut self, log_id: LogId, batch: Batch) -> Applied {
        self.position.applied = Some(log_id);
        let mut changed = Changed::default();
        let outcome = if batch.term == log_id.term {
            self.take(batch, &mut changed)
        } else {
            Outcome::StaleTerm
        };
        Applied {
            revision: self.position.revision,
            outcome,
            changed,
        }
    }

    /// Notes an entry that carries no batch: blank, or membership.
    pub fn skip(&mut self, log_id: LogId) {
        self.position.applied = Some(log_id);
    }

    fn take(&mut self, batch: Batch, changed: &mut Changed) -> Outcome {
        let Some(commands) = self.stage(batch) else {
            return Outcome::OutOfOrder;
        };
        if self.staged.is_some() {
            return Outcome::Staged;
        }
        let before = self.content.digest();
        for command in commands {
            self.apply_one(command, changed);
        }
        if !changed.is_empty() {
            self.move_on(before);
        }
        Outcome::Done
    }

    /// The commands to apply now, or `None` for a part out of order. While
    /// parts are missing they are kept and the list is empty.
    fn stage(&mut self, batch: Batch) -> Option<Vec<Command>> {
        let Batch {
            term,
            part,
            commands,
        } = batch;
        let mut staged = match (self.staged.take(), part.number) {
            (Some(staged), _) if staged.next == part && staged.term == term => staged,
            // A first part starts afresh: what an earlier leader left is dropped.
            (_, 0) => Staged {
                term,
                next: part,
                commands: Vec::new(),
            },
            (_, _) => return None,
        };
        staged.commands.extend(commands);
        if part.is_last() {
            return Some(staged.commands);
        }
        staged.next = Part {
            number: part.number.saturating_add(1),
            of: part.of,
        };
        self.staged = Some(staged);
        Some(Vec::new())
    }

    fn move_on(&mut self, before: Digest) {
        let position = &mut self.position;
        position.revision = position.revision.next();
        position.state_digest = self.content.digest();
        position.path_digest = path(position.path_digest, before, position.state_digest);
    }

    fn apply_one(&mut self, command: Command, changed: &mut Changed) {
        let content = &mut self.content;
        match command {
            Command::OpenHistory(id) => self.open_history(id),
            Command::PutSettings(settings) => content.put_settings(settings, changed),
            Command::PutService(id, record) => content.put_service(id, record, changed),
            Command::RemoveService(id) => content.remove_service(&id, changed),
            Command::PutSlice(id, record) => content.put_slice(id, record, changed),
            Command::RemoveSlice(id) => content.remove_slice(&id, changed),
            Command::PutPod(id, record) => content.put_pod(id, record, changed),
            Command::RemovePod(id) => content.remove_pod(&id, changed),
            Command::PutNode(node, zone) => content.put_node(node, zone, changed),
            Command::RemoveNode(node) => content.remove_node(&node, changed),
            Command::Remember(key, fact) => self.memory.remember(key, fact),
            Command::Forget(key) => self.memory.forget(&key),
            Command::Advance(kind, cursor) | Command::OpenIncarnation(kind, cursor) => {
                self.memory.advance(kind, cursor)
            }
            Command::PutServiceProfile(id, record) => {
                content.put_service_profile(id, record, changed);
            }
            Command::RemoveServiceProfile(id) => content.remove_service_profile(&id, changed),
            Command::PutExternalWorkload(id, record) => {
                content.put_external_workload(id, record, changed);
            }
            Command::RemoveExternalWorkload(id) => content.remove_external_workload(&id, changed),
        }
    }

    fn open_history(&mut self, id: HistoryId) {
        if self.position.history == HistoryId::NONE {
            self.position.history = id;
        }
    }

    /// The term of the parts that wait, if any do.
    #[must_use]
    pub fn staged_term(&self) -> Option<Term> {
        self.staged.as_ref().map(|staged| staged.term)
    }
}
