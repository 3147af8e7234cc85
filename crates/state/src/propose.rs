//! The port through which the leader's wishes reach the log.

use lockstep_position::{LogId, ReplicaId, Term};
use std::future::Future;
use std::sync::Arc;

use crate::{Command, Outcome, State};

/// Why a proposal did not come back as applied.
///
/// The variants split on the only question a caller can act on: could the
/// commands still commit later?
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ProposeError {
    /// Definitely not appended.
    #[error("not the leader in {term}; last known leader is {}", or_nobody(leader.as_ref()))]
    NotLeader {
        /// The term that the proposal was made in.
        term: Term,
        /// Who leads instead, if known.
        leader: Option<ReplicaId>,
    },
    /// Definitely not appended: one command alone exceeds the entry limit.
    #[error("a command of {size_bytes} bytes exceeds the entry limit of {limit_bytes} bytes")]
    TooLarge {
        /// The size of the command.
        size_bytes: usize,
        /// The limit.
        limit_bytes: usize,
    },
    /// Appended, then leadership was lost or time ran out: it may or may not commit.
    #[error("outcome unknown: {reason}")]
    OutcomeUnknown {
        /// What happened.
        reason: String,
    },
    /// The replica stops.
    #[error("the replica stops")]
    Stopped,
}

fn or_nobody(leader: Option<&ReplicaId>) -> String {
    leader.map_or_else(|| "nobody".to_owned(), ToString::to_string)
}

/// Appends changes to the log, as the leader of one term.
pub trait Propose: Send + Sync + 'static {
    /// Proposes commands as one change, and waits until this replica has
    /// applied it. A change too large for one entry travels in parts and
    /// becomes one revision.
    ///
    /// # Errors
    ///
    /// [`ProposeError`] says whether the change could still commit.
    fn propose(
        &self,
        term: Term,
        commands: Vec<Command>,
    ) -> impl Future<Output = Result<(LogId, Outcome), ProposeError>> + Send;

    /// Waits until everything that was proposed before, by earlier leaders and
    /// by this one, is applied here or never will be, and returns that state:
    /// what a new session starts from. A proposal whose outcome was unknown is
    /// known afterwards.
    ///
    /// # Errors
    ///
    /// [`ProposeError::NotLeader`] or [`ProposeError::Stopped`] when there is
    /// no point in asking again, [`ProposeError::OutcomeUnknown`] when there is.
    fn settle(&self, term: Term) -> impl Future<Output = Result<Arc<State>, ProposeError>> + Send;

    /// The newest state that this replica has applied.
    fn applied(&self) -> Arc<State>;
}
