//! Whether this replica reaches the source, asked again and again, whoever leads.

use lockstep_catalog::FactSource;
use std::{convert::Infallible, sync::Arc, time::Duration};
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

/// What this replica knows of its way to the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Nothing was heard yet.
    #[default]
    Unknown,
    /// The source has answered each time.
    Reached {
        /// Since when.
        since: Instant,
    },
    /// The source has answered no more.
    Missed {
        /// Since when.
        since: Instant,
        /// What it said last, or that it said nothing.
        reason: Arc<str>,
    },
}

impl Reach {
    /// For how long the source has answered each time; `None` if it does not.
    #[must_use]
    pub fn reached_for(&self, now: Instant) -> Option<Duration> {
        match self {
            Self::Reached { since } => Some(now.saturating_duration_since(*since)),
            Self::Unknown | Self::Missed { .. } => None,
        }
    }

    /// For how long the source has not answered; `None` if it does, or if nothing is known.
    #[must_use]
    pub fn missed_for(&self, now: Instant) -> Option<Duration> {
        match self {
            Self::Missed { since, .. } => Some(now.saturating_duration_since(*since)),
            Self::Unknown | Self::Reached { .. } => None,
        }
    }

    /// What is known after the source was asked at `now`.
    fn after(self, now: Instant, answer: Result<(), Arc<str>>) -> Self {
        match (self, answer) {
            (Self::Reached { since }, Ok(())) => Self::Reached { since },
            (Self::Unknown | Self::Missed { .. }, Ok(())) => Self::Reached { since: now },
            (Self::Missed { since, .. }, Err(reason)) => Self::Missed { since, reason },
            (Self::Unknown | Self::Reached { .. }, Err(reason)) => {
                Self::Missed { since: now, reason }
            }
        }
    }
}

/// Asks the source again and again, `interval` apart on average, and tells what is known.
/// Never ends.
pub async fn watch_reach<S: FactSource>(
    source: Arc<S>,
    interval: Duration,
    tell: watch::Sender<Reach>,
) -> Infallible {
    loop {
        let asked = Instant::now();
        let answer = source
            .reach()
            .await
            .map_err(|error| error.to_string().into());
        let before = tell.borrow().clone();
        let after = before.clone().after(asked, answer);
        match (&before, &after) {
            (Reach::Missed { .. }, Reach::Reached { .. }) => {
                tracing::info!("the source is within reach again");
            }
            (Reach::Unknown | Reach::Reached { .. }, Reach::Missed { reason, .. }) => {
                tracing::warn!(%reason, "the source is out of reach");
            }
            (_, Reach::Unknown | Reach::Reached { .. } | Reach::Missed { .. }) => {}
        }
        tell.send_replace(after);
        sleep(spread(interval, getrandom::u32().unwrap_or(u32::MAX / 2))).await;
    }
}

/// Between three and five quarters of `interval`, by chance, so that replicas do not ask in step.
fn spread(interval: Duration, chance: u32) -> Duration {
    interval.mul_f64(0.75 + f64::from(chance) / f64::from(u32::MAX) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn failed(reason: &str) -> Result<(), Arc<str>> {
        Err(reason.into())
    }

    #[test]
    fn what_is_known_lasts_since_the_answers_last_changed() {
        let start = Instant::now();
        let at = |seconds: u32| start + SECOND * seconds;
        let unknown = Reach::default();
        assert_eq!(unknown.reached_for(at(9)), None);
        assert_eq!(unknown.missed_for(at(9)), None);

        let reached = unknown.after(at(0), Ok(())).after(at(5), Ok(()));
        assert_eq!(reached.reached_for(at(9)), Some(SECOND * 9));
        assert_eq!(reached.missed_for(at(9)), None);

        let missed = reached
            .after(at(10), failed("refused"))
            .after(at(15), failed("silent"));
        let reason = "silent".into();
        assert_eq!(
            missed,
            Reach::Missed {
                since: at(10),
                reason
            }
        );
        assert_eq!(missed.missed_for(at(19)), Some(SECOND * 9));
        assert_eq!(missed.reached_for(at(19)), None);

        let again = missed.after(at(20), Ok(()));
        assert_eq!(again, Reach::Reached { since: at(20) });
        let never = Reach::default().after(at(3), failed("refused"));
        assert_eq!(never.missed_for(at(4)), Some(SECOND));
    }

    #[test]
    fn questions_are_spread_around_their_interval() {
        let [least, middle, most] = [0, u32::MAX / 2, u32::MAX].map(|it| spread(SECOND * 4, it));
        assert_eq!((least, most), (SECOND * 3, SECOND * 5));
        assert_eq!(middle.as_millis(), 4000);
    }
}
