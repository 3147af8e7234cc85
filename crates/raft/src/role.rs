//! What part a replica plays at the moment.

use lockstep_position::{ReplicaId, Term};

/// What part this replica plays in its group.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Leads the group in `term`: the only one that may propose.
    Leader {
        /// The term that this replica was elected for.
        term: Term,
    },
    /// Votes and follows (also while it stands for election).
    Follower {
        /// The leader that it follows; `None` while it knows of none.
        leader: Option<ReplicaId>,
        /// The newest term it has seen.
        term: Term,
    },
    /// Follows without a vote: not yet a member, or a member that only catches up.
    Learner {
        /// The leader that it follows; `None` while it knows of none.
        leader: Option<ReplicaId>,
        /// The newest term it has seen.
        term: Term,
    },
}

impl Role {
    /// The newest term that this replica has seen.
    #[must_use]
    pub const fn term(&self) -> Term {
        match self {
            Self::Leader { term } | Self::Follower { term, .. } | Self::Learner { term, .. } => {
                *term
            }
        }
    }

    /// The term that this replica leads; `None` unless it is the leader.
    #[must_use]
    pub const fn leading(&self) -> Option<Term> {
        match self {
            Self::Leader { term } => Some(*term),
            Self::Follower { .. } | Self::Learner { .. } => None,
        }
    }

    /// The other replica that this one follows; `None` of a leader, or while none is known.
    #[must_use]
    pub const fn leader(&self) -> Option<ReplicaId> {
        match self {
            Self::Leader { .. } => None,
            Self::Follower { leader, .. } | Self::Learner { leader, .. } => *leader,
        }
    }
}
