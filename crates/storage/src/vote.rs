//! A vote as it is stored.

use lockstep_position::{ReplicaId, Term};

/// Whom this replica voted for, and whether that candidate became leader.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Vote {
    /// The term voted in.
    pub term: Term,
    /// The candidate.
    pub candidate: ReplicaId,
    /// Whether the candidate is known to have won.
    pub committed: bool,
}

/// Encoded length. Unit: bytes.
pub(crate) const VOTE_BYTES: usize = 17;

impl Vote {
    /// Whether a replica that stores `self` still keeps the promise it made by `promised`.
    #[must_use]
    pub fn keeps(&self, promised: &Self) -> bool {
        if self.term != promised.term {
            return self.term > promised.term;
        }
        let same = self.candidate == promised.candidate;
        // Within a term, learning who won replaces the own vote, whoever that was for.
        self.committed && (same || !promised.committed) || same && !promised.committed
    }

    /// term, candidate, committed: little endian.
    pub(crate) fn encode(&self) -> [u8; VOTE_BYTES] {
        let mut bytes = [0; VOTE_BYTES];
        let (term, rest) = bytes.split_at_mut(8);
        let (candidate, committed) = rest.split_at_mut(8);
        term.copy_from_slice(&self.term.as_u64().to_le_bytes());
        candidate.copy_from_slice(&self.candidate.as_u64().to_le_bytes());
        committed.copy_from_slice(&[u8::from(self.committed)]);
        bytes
    }

    /// `None` unless the bytes are an encoded vote.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (term, rest) = bytes.split_first_chunk()?;
        let (candidate, rest) = rest.split_first_chunk()?;
        let committed = match rest {
            [0] => false,
            [1] => true,
            _ => return None,
        };
        Some(Self {
            term: Term::from_u64(u64::from_le_bytes(*term)),
            candidate: ReplicaId::from_u64(u64::from_le_bytes(*candidate)),
            committed,
        })
    }
}

impl std::fmt::Display for Vote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = if self.committed {
            "leader"
        } else {
            "candidate"
        };
        write!(f, "{} for {kind} {}", self.term, self.candidate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vote(term: u64, candidate: u64, committed: bool) -> Vote {
        Vote {
            term: Term::from_u64(term),
            candidate: ReplicaId::from_u64(candidate),
            committed,
        }
    }

    #[test]
    fn a_promise_is_kept_by_itself_by_its_outcome_and_by_later_terms() {
        let promised = vote(3, 1, false);
        for kept in [
            promised,
            vote(3, 1, true),
            vote(3, 2, true),
            vote(4, 2, false),
        ] {
            assert!(kept.keeps(&promised), "{kept}");
        }
        for broken in [vote(3, 2, false), vote(2, 1, true), vote(0, 0, false)] {
            assert!(!broken.keeps(&promised), "{broken}");
        }
        let won = vote(3, 1, true);
        assert!(!promised.keeps(&won));
        assert!(!vote(3, 2, true).keeps(&won));
        assert!(won.keeps(&won));
    }

    #[test]
    fn a_vote_reads_back_and_nonsense_does_not() {
        let wanted = vote(u64::MAX, 7, true);
        assert_eq!(Vote::decode(&wanted.encode()), Some(wanted));
        assert_eq!(Vote::decode(&wanted.encode()[..16]), None);
        let mut odd = wanted.encode();
        odd[16] = 2;
        assert_eq!(Vote::decode(&odd), None);
    }
}
