//! What leaders have called committed, whether this replica has it or not.
//!
//! A folder that was rolled back shows nothing of what it held since: its
//! replica votes in good faith for somebody who lacks what it once
//! acknowledged, and the two are a majority. Whoever heard a leader say that an
//! entry is committed knows better: every majority of honest disks has that
//! entry, so a replica without it never has to lead, and a vote for it is
//! refused on both sides.

use lockstep_position::LogId;
use std::sync::{Arc, Mutex, PoisonError};

/// The newest entry that a leader called committed since this replica started.
/// A cheap handle.
#[derive(Clone, Debug, Default)]
pub(crate) struct Horizon(Arc<Mutex<Newest>>);

#[derive(Copy, Clone, Debug, Default)]
struct Newest {
    committed: Option<LogId>,
    /// Whether it was told that somebody lacks it; candidates ask again and again.
    is_lack_told: bool,
}

/// An entry that is committed and that a candidate lacks.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Lack {
    /// The newest entry known to be committed.
    pub(super) committed: LogId,
    /// Whether this is the first to be heard of it.
    pub(super) is_news: bool,
}

impl Horizon {
    /// Notes that everything up to `committed` is committed.
    pub(super) fn note(&self, committed: LogId) {
        let mut newest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if newest.committed < Some(committed) {
            *newest = Newest {
                committed: Some(committed),
                is_lack_told: false,
            };
        }
    }

    /// What a candidate lacks whose log ends at `last`.
    pub(super) fn lack(&self, last: Option<LogId>) -> Option<Lack> {
        let mut newest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let committed = newest
            .committed
            .filter(|committed| last < Some(*committed))?;
        let is_news = !std::mem::replace(&mut newest.is_lack_told, true);
        Some(Lack { committed, is_news })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_position::Term;

    #[test]
    fn whoever_ends_before_the_newest_committed_entry_lacks_it() {
        let at = |term, index| LogId {
            term: Term::from_u64(term),
            index,
        };
        let horizon = Horizon::default();
        assert_eq!(horizon.lack(None), None);
        horizon.note(at(3, 7));
        horizon.note(at(2, 6));
        let lack = |committed, is_news| Some(Lack { committed, is_news });
        assert_eq!(horizon.lack(None), lack(at(3, 7), true));
        assert_eq!(horizon.lack(Some(at(3, 6))), lack(at(3, 7), false));
        // Longer, and of an older term: it holds something else there.
        assert_eq!(horizon.lack(Some(at(2, 9))), lack(at(3, 7), false));
        assert_eq!(horizon.lack(Some(at(3, 7))), None);
        assert_eq!(horizon.lack(Some(at(4, 1))), None);
        horizon.note(at(3, 8));
        assert_eq!(horizon.lack(Some(at(3, 7))), lack(at(3, 8), true));
    }
}
