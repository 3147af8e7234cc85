//! What a replica says of the age of its answers, and which streams it serves.

use std::time::Duration;

/// Whether something may lack what was committed, or what happened.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Freshness {
    /// It has all there was up to the limit ago.
    Fresh,
    /// That cannot be shown: it may be older.
    Stale,
}

/// How a barrier ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// The newest state has all that was committed before.
    Passed,
    /// No leader answered in time: the newest state may lack something.
    Missed,
}

/// What a replica can say of its answers at one moment.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Of its copy of the state.
    pub copy: Freshness,
    /// Of the leader's view of the source.
    pub source: Freshness,
    /// The age of the copy, at most; `None` before it could be shown for the first time.
    pub age: Option<Duration>,
    /// Whether it takes new streams.
    pub admission: Admission,
}

/// Whether a replica takes new streams.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It does.
    Open,
    /// It does not, with the reason for people; another one may, or this one later.
    Closed(&'static str),
}

/// How a stream ends that the replica does not want to keep.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// After what it has begun to say, with `OK`: the proxy asks again at once.
    Gentle,
    /// Without another word, and with the reason: what it would say may be wrong.
    AtOnce(&'static str),
}

impl Claim {
    /// The claim for an answer behind this barrier: a barrier that was missed
    /// makes the answer stale, however young the copy was before.
    #[must_use]
    pub fn behind(self, barrier: Barrier) -> Self {
        match barrier {
            Barrier::Passed => self,
            Barrier::Missed => Self {
                copy: Freshness::Stale,
                ..self
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_barrier_makes_an_answer_stale_and_a_passed_one_promises_nothing() {
        let claim = |copy| Claim {
            copy,
            source: Freshness::Fresh,
            age: Some(Duration::from_millis(4)),
            admission: Admission::Open,
        };
        let (fresh, stale) = (claim(Freshness::Fresh), claim(Freshness::Stale));
        assert_eq!(fresh.behind(Barrier::Passed), fresh);
        assert_eq!(fresh.behind(Barrier::Missed), stale);
        assert_eq!(stale.behind(Barrier::Passed), stale);
    }
}
