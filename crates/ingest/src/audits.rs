//! Lists everything beside the watches, from time to time, to find what they lost.
//!
//! ```text
//!  resting ──time──▶ listing ──lists──▶ watching ──every watch was opened twice──▶ repaired
//!     ▲                 └──failed──┐        └──time is up──▶ repaired, but for the rest ──┐
//!     └────────────────────────────┴──────────────────────────────────────────────────────┘
//! ```

use futures::future::BoxFuture;
use lockstep_catalog::{FactSource, Listed, SourceError, SourceEvent, Suspects};
use std::{pin::Pin, time::Duration};
use tokio::time::{Instant, Sleep, sleep, sleep_until};

/// How long the watches have after the lists: each of them is opened several times in it.
const WATCHING_MAX: Duration = Duration::from_secs(120);

/// The audits of one session.
pub(crate) struct Audits<'a, S> {
    source: &'a S,
    interval: Duration,
    phase: Phase<'a>,
}

enum Phase<'a> {
    Resting(Pin<Box<Sleep>>),
    Listing(BoxFuture<'a, Lists>, Suspects),
    Watching(Suspects, Instant),
}

pub(crate) type Lists = Result<Vec<Listed>, SourceError>;

/// What happened.
pub(crate) enum Step {
    /// It is time for an audit.
    Due,
    /// The lists are there, or cannot be had.
    Listed(Lists, Suspects),
    /// The watches had their time.
    Settled(Suspects),
}

// === impl Audits ===

impl<'a, S: FactSource> Audits<'a, S> {
    /// The first is after a rest, too: what was listed by a session is not audited at once.
    pub(crate) fn new(source: &'a S, interval: Duration) -> Self {
        let phase = resting(interval);
        Self {
            source,
            interval,
            phase,
        }
    }

    /// Waits for the next step. Safe to be cancelled.
    pub(crate) async fn next(&mut self) -> Step {
        match &mut self.phase {
            Phase::Resting(sleep) => {
                sleep.as_mut().await;
                self.rest();
                Step::Due
            }
            Phase::Listing(listing, suspects) => {
                let lists = listing.as_mut().await;
                let suspects = std::mem::take(suspects);
                self.rest();
                Step::Listed(lists, suspects)
            }
            Phase::Watching(suspects, until) => {
                if !suspects.is_settled() {
                    sleep_until(*until).await;
                }
                let suspects = std::mem::take(suspects);
                self.rest();
                Step::Settled(suspects)
            }
        }
    }

    /// Begins to list.
    pub(crate) fn list(&mut self) {
        self.phase = Phase::Listing(Box::pin(self.source.list()), Suspects::default());
    }

    /// Gives the watches their time.
    pub(crate) fn watch(&mut self, suspects: Suspects) {
        self.phase = Phase::Watching(suspects, Instant::now() + WATCHING_MAX);
    }

    /// Hears what the watches tell.
    pub(crate) fn observe(&mut self, event: &SourceEvent) {
        match &mut self.phase {
            Phase::Resting(_) => {}
            Phase::Listing(_, suspects) | Phase::Watching(suspects, _) => suspects.observe(event),
        }
    }

    fn rest(&mut self) {
        self.phase = resting(self.interval);
    }
}

fn resting<'a>(interval: Duration) -> Phase<'a> {
    let chance = getrandom::u32().unwrap_or(u32::MAX / 2);
    Phase::Resting(Box::pin(sleep(spread(interval, chance))))
}

/// Within a tenth of `interval`, by chance: clusters that were started together need not
/// list together.
fn spread(interval: Duration, chance: u32) -> Duration {
    interval.mul_f64(0.9 + f64::from(chance) / f64::from(u32::MAX) / 5.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn audits_are_spread_around_their_interval() {
        let minutes = |chance| spread(Duration::from_secs(1800), chance).as_secs() / 60;
        assert_eq!([minutes(0), minutes(u32::MAX)], [27, 33]);
    }
}
