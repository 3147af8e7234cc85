//! What each follower has acknowledged to this leader.
//!
//! A follower that was given an old copy of its folder has forgotten what it
//! once acknowledged, and nothing in that folder shows it. The library takes
//! such a follower for impossible: it would end the leader, or count entries
//! that are gone. So the claim is caught here, before the library sees it.

use lockstep_position::{LogId, ReplicaId};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What each follower has acknowledged, in the newest term led. A cheap handle.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matched(Arc<Mutex<BTreeMap<ReplicaId, Acknowledged>>>);

#[derive(Copy, Clone, Debug)]
struct Acknowledged {
    term: u64,
    last: Option<LogId>,
    /// Whether its loss was told; the follower is asked again and again.
    is_loss_told: bool,
}

/// What a follower once acknowledged and holds no more.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Lost {
    /// The last entry it acknowledged.
    pub(super) last: LogId,
    /// Whether this is the first to be heard of it.
    pub(super) is_news: bool,
}

impl Matched {
    /// Notes that a follower holds everything up to `last`.
    pub(super) fn note(&self, follower: ReplicaId, term: u64, last: Option<LogId>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new = Acknowledged {
            term,
            last,
            is_loss_told: false,
        };
        let known = all.entry(follower).or_insert(new);
        if known.term == term {
            // An answer to a heartbeat says nothing of what was lost.
            known.is_loss_told &= last < known.last;
            known.last = known.last.max(last);
        } else if known.term < term {
            *known = new;
        }
    }

    /// The entry that the follower once acknowledged, if a conflict at `at`
    /// means that it is gone.
    pub(super) fn lost(&self, follower: ReplicaId, term: u64, at: LogId) -> Option<Lost> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.get_mut(&follower).filter(|known| known.term == term)?;
        let last = known.last.filter(|last| at.index <= last.index)?;
        let is_news = !std::mem::replace(&mut known.is_loss_told, true);
        Some(Lost { last, is_news })
    }

    /// The followers that have lost what they acknowledged in this term: each
    /// with the last entry that it had acknowledged.
    pub(crate) fn losers(&self, term: u64) -> BTreeMap<ReplicaId, LogId> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lost = all.iter().filter_map(|(id, known)| {
            let is_lost = known.is_loss_told && known.term == term;
            known.last.filter(|_| is_lost).map(|last| (*id, last))
        });
        lost.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_position::Term;

    #[test]
    fn a_conflict_below_what_was_acknowledged_in_the_same_term_is_a_loss() {
        let (follower, other) = (ReplicaId::from_u64(1), ReplicaId::from_u64(2));
        let at = |index| LogId {
            term: Term::from_u64(3),
            index,
        };
        let matched = Matched::default();
        assert_eq!(matched.lost(follower, 3, at(9)), None);
        matched.note(follower, 3, Some(at(7)));
        matched.note(follower, 3, Some(at(5)));
        let lost = |is_news| {
            let last = at(7);
            Some(Lost { last, is_news })
        };
        assert_eq!(matched.lost(follower, 3, at(7)), lost(true));
        assert_eq!(matched.lost(follower, 3, at(2)), lost(false));
        assert_eq!(matched.losers(3), BTreeMap::from([(follower, at(7))]));
        assert_eq!(matched.losers(4), BTreeMap::new());
        matched.note(follower, 3, Some(at(1)));
        assert_eq!(matched.losers(3), BTreeMap::from([(follower, at(7))]));
        matched.note(follower, 3, Some(at(7)));
        assert_eq!(matched.losers(3), BTreeMap::new());
        assert_eq!(matched.lost(follower, 3, at(2)), lost(true));
        assert_eq!(matched.lost(follower, 3, at(8)), None);
        assert_eq!(matched.lost(other, 3, at(2)), None);
        assert_eq!(matched.lost(follower, 4, at(2)), None);
        matched.note(follower, 4, None);
        assert_eq!(matched.lost(follower, 4, at(2)), None);
        matched.note(follower, 3, Some(at(7)));
        assert_eq!(matched.lost(follower, 3, at(2)), None);
    }
}
