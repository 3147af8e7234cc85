//! How long to wait, and for how long to watch.

use std::time::Duration;

/// The first back-off; it doubles with each failure in a row.
const BACKOFF_MIN: Duration = Duration::from_millis(100);
/// The longest back-off that we choose ourselves.
const BACKOFF_MAX: Duration = Duration::from_secs(30);
/// How soon a kind that is not served is asked for again: who installs it waits so long.
const SERVED_MIN: Duration = Duration::from_secs(15);
/// Spread, so that replicas of a fleet do not ask in one moment.
const SERVED_SPREAD: Duration = Duration::from_secs(5);
/// The longest back-off that a server may choose for us.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(300);
/// The shortest time for which a watch is asked. The server closes it then, whether or
/// not it had anything to tell: that it does is the one sign of life that every server
/// owes us, and a watch without it is dead.
const WATCH_MIN: Duration = Duration::from_secs(15);
/// Spread, so that the watches of all kinds do not all reopen in one moment.
const WATCH_SPREAD: Duration = Duration::from_secs(5);
/// How long after its time a watch may still be open.
const WATCH_GRACE: Duration = Duration::from_secs(5);
/// How long a server may take to accept a watch; it answers that at once, with nothing
/// to tell yet.
pub(crate) const OPEN_DEADLINE: Duration = Duration::from_secs(10);
/// How long one page of a list may take.
pub(crate) const PAGE_DEADLINE: Duration = Duration::from_secs(30);
/// How soon a watch that tells nothing must be found and replaced.
const SILENCE_MAX: Duration = Duration::from_secs(30);

// The server's closing must win against ours in the ordinary case.
const _: () = assert!(WATCH_GRACE.as_secs() >= 1);
// A watch that fell silent in its first moment is replaced in time all the same.
const _: () = assert!(
    WATCH_MIN.as_secs() + WATCH_SPREAD.as_secs() + WATCH_GRACE.as_secs() < SILENCE_MAX.as_secs()
);
// A stream that served this long has ended for no fault of its own.
const _: () = assert!(HEALTHY_AFTER.as_secs() < WATCH_MIN.as_secs());

/// A stream that stayed open for this long was a good one, even if nothing came.
pub(crate) const HEALTHY_AFTER: Duration = Duration::from_secs(5);

/// A time to wait, before chance has chosen from it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pause {
    /// Not shorter.
    pub(crate) least: Duration,
    /// Not longer.
    pub(crate) most: Duration,
}

impl Pause {
    /// The pause after `failures` (at least one) in a row; a server that names a time
    /// is not asked before.
    pub(crate) fn after(failures: u32, retry_after: Option<Duration>) -> Self {
        let doublings = failures.saturating_sub(1).min(16);
        let backoff = BACKOFF_MIN
            .saturating_mul(2u32.saturating_pow(doublings))
            .min(BACKOFF_MAX);
        match retry_after {
            Some(wanted) => {
                let least = wanted.min(RETRY_AFTER_MAX);
                Self {
                    least,
                    most: least.saturating_add(backoff),
                }
            }
            None => Self {
                least: backoff / 2,
                most: backoff,
            },
        }
    }

    /// The pause before a kind that is not served is asked for again.
    pub(crate) const fn until_served() -> Self {
        Self {
            least: SERVED_MIN,
            most: SERVED_MIN.saturating_add(SERVED_SPREAD),
        }
    }

    /// Chooses from the range; `chance` is evenly distributed from 0 to 1.
    pub(crate) fn pick(self, chance: f64) -> Duration {
        let spread = self.most.saturating_sub(self.least);
        self.least
            .saturating_add(spread.mul_f64(chance.clamp(0.0, 1.0)))
    }
}

/// For how many whole seconds to ask for a watch; `chance` as above.
pub(crate) fn watch_seconds(chance: f64) -> u64 {
    let range = Pause {
        least: WATCH_MIN,
        most: WATCH_MIN.saturating_add(WATCH_SPREAD),
    };
    range.pick(chance).as_secs()
}

/// When a watch of that many seconds is given up, counted from its request.
pub(crate) fn give_up_after(watch_seconds: u64) -> Duration {
    Duration::from_secs(watch_seconds).saturating_add(WATCH_GRACE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_doubles_up_to_its_limit() {
        let millis = |failures| {
            let pause = Pause::after(failures, None);
            (pause.least.as_millis(), pause.most.as_millis())
        };
        assert_eq!(millis(1), (50, 100));
        assert_eq!(millis(2), (100, 200));
        assert_eq!(millis(9), (12_800, 25_600));
        assert_eq!(millis(10), (15_000, 30_000));
        assert_eq!(millis(u32::MAX), (15_000, 30_000));
    }

    #[test]
    fn a_server_is_left_alone_as_long_as_it_asks_for_up_to_a_limit() {
        let pause = Pause::after(1, Some(Duration::from_secs(7)));
        assert_eq!(pause.least, Duration::from_secs(7));
        assert_eq!(pause.most, Duration::from_millis(7_100));
        let pause = Pause::after(1, Some(Duration::from_secs(86_400)));
        assert_eq!(pause.least, Duration::from_secs(300));
    }

    #[test]
    fn chance_stays_within_the_range() {
        let pause = Pause::after(1, None);
        assert_eq!(pause.pick(0.0), Duration::from_millis(50));
        assert_eq!(pause.pick(0.5), Duration::from_millis(75));
        assert_eq!(pause.pick(1.0), Duration::from_millis(100));
        assert_eq!(pause.pick(2.0), Duration::from_millis(100));
        assert_eq!((watch_seconds(0.0), watch_seconds(1.0)), (15, 20));
        assert_eq!(give_up_after(15), Duration::from_secs(20));
    }
}
