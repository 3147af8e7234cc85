//! What is worth a line in the log: that the state of freshness is another one.

use crate::{Freshness, FreshnessState};

/// Remembers what was told last.
#[derive(Debug, Default)]
pub(crate) struct Telling {
    told: Option<FreshnessState>,
}

/// A change, for one line.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) from: Option<FreshnessState>,
    pub(crate) to: FreshnessState,
}

impl Telling {
    /// The change since it was asked last; none before a replica that has just
    /// started has had the time for its first probe.
    pub(crate) fn hear(&mut self, now: FreshnessState, has_begun: bool) -> Option<Change> {
        let is_news = self.told != Some(now) && (self.told.is_some() || has_begun);
        is_news.then(|| Change {
            from: self.told.replace(now),
            to: now,
        })
    }
}

impl Change {
    /// Writes the line; `reason` is why the last probe failed, empty if it passed.
    pub(crate) fn tell(self, freshness: &Freshness, reason: &str) {
        let Self { from, to } = self;
        let from = from.map_or("starting", FreshnessState::word);
        let (age, source_age) = (freshness.age, freshness.source_age);
        let (state, meaning) = (to.word(), to.meaning());
        match to {
            FreshnessState::Fresh | FreshnessState::Syncing => {
                tracing::info!(from, state, ?age, ?source_age, reason, "{meaning}");
            }
            FreshnessState::SourceStale
            | FreshnessState::Stale
            | FreshnessState::Yielding
            | FreshnessState::Quarantined => {
                tracing::warn!(from, state, ?age, ?source_age, reason, "{meaning}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use FreshnessState::{Fresh, Stale, Syncing};

    #[test]
    fn each_change_is_told_once() {
        let mut telling = Telling::default();
        let mut heard = Vec::new();
        for state in [Syncing, Syncing, Fresh, Fresh, Stale, Stale, Fresh] {
            heard.extend(telling.hear(state, true));
        }
        let change = |from, to| Change { from, to };
        assert_eq!(
            heard,
            [
                change(None, Syncing),
                change(Some(Syncing), Fresh),
                change(Some(Fresh), Stale),
                change(Some(Stale), Fresh)
            ]
        );
    }

    #[test]
    fn one_that_has_just_started_is_stale_and_that_is_no_news() {
        let mut telling = Telling::default();
        assert_eq!(telling.hear(Stale, false), None);
        let fresh = telling.hear(Fresh, true);
        assert_eq!(fresh.map(|change| change.from), Some(None));
    }
}
