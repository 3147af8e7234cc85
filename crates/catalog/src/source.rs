//! The port through which facts arrive, with two implementations: the API
//! server, and a folder of manifests.

use lockstep_model::{Cursor, Fact, FactKey, FactKind};
use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
};

/// One thing that a source tells, in the order in which it became true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceEvent {
    /// One object changed.
    Changed {
        /// Which object.
        key: FactKey,
        /// What it says now; `None` once it is deleted, or no longer says
        /// anything usable.
        fact: Option<Fact>,
        /// Where the source is in this kind's history, this change included.
        cursor: Cursor,
    },
    /// Nothing changed up to this place in one kind's history.
    Progress {
        /// The kind.
        kind: FactKind,
        /// Where the source is.
        cursor: Cursor,
    },
    /// A whole list of one kind: what it does not name no longer exists.
    Listed(Listed),
    /// The watch of one kind can go on only after a new list: until that has
    /// come, objects of the kind may exist, or be gone, without our knowing.
    Lost {
        /// The kind.
        kind: FactKind,
    },
    /// The source answers for this kind, and has nothing to tell.
    Alive {
        /// The kind.
        kind: FactKind,
    },
}

impl SourceEvent {
    /// The kind of which this proves that the source delivers, up to the moment in which
    /// it was told.
    #[must_use]
    pub fn proves(&self) -> Option<FactKind> {
        match self {
            Self::Changed { key, .. } => Some(key.kind),
            Self::Listed(listed) => Some(listed.kind),
            Self::Progress { kind, .. } | Self::Alive { kind } => Some(*kind),
            Self::Lost { .. } => None,
        }
    }
}

/// A complete, consistent list of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The kind.
    pub kind: FactKind,
    /// Every object of the kind that says something usable.
    pub facts: BTreeMap<FactKey, Fact>,
    /// Objects that exist and could not be read: what was known of them stays in force.
    pub unread: BTreeSet<FactKey>,
    /// Where in the kind's history the list was taken.
    pub cursor: Cursor,
}

/// Where to go on, for each kind that was followed before; a kind that is
/// missing is listed first.
pub type Resume = BTreeMap<FactKind, Cursor>;

/// Why a list could not be had.
#[derive(Debug, thiserror::Error)]
#[error("{kind} could not be listed: {reason}")]
pub struct SourceError {
    /// The kind that failed.
    pub kind: FactKind,
    /// What the source said.
    pub reason: String,
}

/// A place that knows Kubernetes objects.
pub trait FactSource: Send + Sync + 'static {
    /// One run of watches.
    type Session: FactSession;

    /// Starts to follow every kind. Nothing is asked of the source before
    /// this, and nothing after the session is dropped.
    fn follow(&self, resume: Resume) -> Self::Session;

    /// Lists every kind afresh, for an audit.
    ///
    /// # Errors
    ///
    /// The first kind that could not be listed.
    fn list(&self) -> impl Future<Output = Result<Vec<Listed>, SourceError>> + Send;

    /// Whether the source would be there for a session that began now. Cheap, and
    /// answered within seconds: every replica asks again and again.
    ///
    /// # Errors
    ///
    /// What the source said, or that it said nothing.
    fn reach(&self) -> impl Future<Output = Result<(), SourceError>> + Send;

    /// Where the facts come from, for people: an address or a folder.
    fn describe(&self) -> String;
}

/// One run of watches, from start to drop.
pub trait FactSession: Send + 'static {
    /// Waits for what the source tells next, as many events as are there.
    ///
    /// Never returns an empty list. Retries, back-off and relists happen
    /// inside: a session ends only by being dropped.
    ///
    /// # Cancellation
    ///
    /// Safe: an event is lost only with the session.
    fn next(&mut self) -> impl Future<Output = Vec<SourceEvent>> + Send;
}
