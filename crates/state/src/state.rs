//! The state of one replica at one revision.

use lockstep_position::{Position, Revision, Term};

use crate::{Command, Content, Part, SourceMemory};

/// Everything that is replicated, at one place in the log.
///
/// A clone is cheap and never changes: it is what readers hold.
#[derive(Clone, Debug, Default)]
pub struct State {
    pub(crate) position: Position,
    pub(crate) content: Content,
    pub(crate) memory: SourceMemory,
    pub(crate) staged: Option<Staged>,
}

/// Parts of a change whose last part has not been applied yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Staged {
    pub(crate) term: Term,
    pub(crate) next: Part,
    pub(crate) commands: Vec<Command>,
}

impl State {
    /// Where in history this state is.
    #[must_use]
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// What answers are made of.
    #[must_use]
    pub fn content(&self) -> &Content {
        &self.content
    }

    /// What a new leader must know.
    #[must_use]
    pub fn memory(&self) -> &SourceMemory {
        &self.memory
    }

    /// Whether the state was ever complete. Before that nothing may be
    /// answered: an unknown service is not an absent one.
    #[must_use]
    pub fn is_synced(&self) -> bool {
        self.position.revision > Revision::ZERO && self.content.settings().is_some()
    }
}
