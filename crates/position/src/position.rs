//! Where one replica is in history.

use serde::{Deserialize, Serialize};

use crate::{Digest, HistoryId, LogId, Revision};

/// Where one state is in history, and what it holds, in a few bytes.
///
/// Two positions with equal history and revision must have equal digests:
/// that is the guarantee *agreement*.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// The history that the revision counts in.
    pub history: HistoryId,
    /// Batches that changed the state so far.
    pub revision: Revision,
    /// Digest of what the state holds: equal digests prove equal content.
    pub state_digest: Digest,
    /// Digest of how it got there: equal digests prove equal history.
    pub path_digest: Digest,
    /// The last entry applied; `None` before the first.
    pub applied: Option<LogId>,
}

/// Whether two positions can both be true.
impl Position {
    /// True if `other` claims the same revision of the same history with other
    /// content or another past: one of the two replicas is wrong.
    #[must_use]
    pub fn contradicts(&self, other: &Self) -> bool {
        let comparable = self.history == other.history && self.revision == other.revision;
        let equal =
            self.state_digest == other.state_digest && self.path_digest == other.path_digest;
        comparable && !equal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_revisions_with_other_digests_contradict() {
        let one = Position {
            revision: Revision::from_u64(4),
            ..Position::default()
        };
        let digest = Digest::from_u128(9);
        assert!(one.contradicts(&Position {
            state_digest: digest,
            ..one
        }));
        assert!(one.contradicts(&Position {
            path_digest: digest,
            ..one
        }));
        assert!(!one.contradicts(&one));
        assert!(!one.contradicts(&Position {
            revision: Revision::ZERO,
            state_digest: digest,
            ..one
        }));
    }
}
