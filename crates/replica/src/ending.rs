//! When an open stream ends for its replica's sake: each at a time of its own,
//! so that their proxies do not all ask another replica at once.

use lockstep_resolution::Ending;
use std::time::Duration;
use tokio::{sync::watch, time::sleep};

use crate::{FreshnessState, OpenStreams};

/// How long streams stay on a replica that wants to let them go, on average.
const STAY: Duration = Duration::from_secs(60);

/// The latest of them leaves after this many halves of that, the earliest after one.
const STAY_HALVES_MAX: u32 = 3;

/// Waits until a stream must end: at once, or after its stay has been over
/// without a break.
pub(crate) async fn ending(mut course: watch::Receiver<OpenStreams>, stay: Duration) -> Ending {
    loop {
        let now = *course.borrow_and_update();
        let changed = course.changed();
        let changed = match now {
            OpenStreams::EndNow => return Ending::AtOnce(FreshnessState::Quarantined.meaning()),
            OpenStreams::Keep => changed.await,
            OpenStreams::EndSoon => tokio::select! {
                changed = changed => changed,
                () = sleep(stay) => return Ending::Gentle,
            },
        };
        if changed.is_err() {
            // The replica is gone, which its view tells.
            std::future::pending::<()>().await;
        }
    }
}

/// The stay of one more stream: evenly spread from half the average to one and a half.
pub(crate) fn random_stay() -> Duration {
    // Without randomness all streams leave after the same time, which is worse but not wrong.
    stay(getrandom::u32().unwrap_or(u32::MAX / 2))
}

/// The stay for a random number.
fn stay(random: u32) -> Duration {
    let half = STAY / 2;
    let spread = half * (STAY_HALVES_MAX - 1);
    half + spread.mul_f64(f64::from(random) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use tokio::time::{Instant, advance};

    #[test]
    fn stays_are_spread_around_a_minute() {
        let seconds = |random| stay(random).as_secs();
        assert_eq!([seconds(0), seconds(u32::MAX)], [30, 90]);
        assert_eq!(stay(u32::MAX / 2).as_secs_f64().round(), 60.0);
        assert_ne!(random_stay(), random_stay());
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_leaves_when_its_stay_is_over() {
        let course = watch::Sender::new(OpenStreams::EndSoon);
        let begun = Instant::now();
        assert_eq!(ending(course.subscribe(), STAY).await, Ending::Gentle);
        assert_eq!(begun.elapsed(), STAY);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_stays_when_its_replica_is_fresh_again_in_time() {
        let course = watch::Sender::new(OpenStreams::EndSoon);
        let mut leaving = Box::pin(ending(course.subscribe(), STAY));
        assert_eq!(leaving.as_mut().now_or_never(), None);
        advance(STAY / 2).await;
        course.send_replace(OpenStreams::Keep);
        assert_eq!(leaving.as_mut().now_or_never(), None);
        advance(10 * STAY).await;
        assert_eq!(leaving.as_mut().now_or_never(), None);
        // The next stay begins anew.
        course.send_replace(OpenStreams::EndSoon);
        let begun = Instant::now();
        assert_eq!(leaving.await, Ending::Gentle);
        assert_eq!(begun.elapsed(), STAY);
    }

    #[tokio::test(start_paused = true)]
    async fn in_quarantine_nobody_stays() {
        let course = watch::Sender::new(OpenStreams::EndSoon);
        let mut leaving = Box::pin(ending(course.subscribe(), STAY));
        assert_eq!(leaving.as_mut().now_or_never(), None);
        course.send_replace(OpenStreams::EndNow);
        let why = FreshnessState::Quarantined.meaning();
        assert_eq!(leaving.now_or_never(), Some(Ending::AtOnce(why)));
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_the_replica_is_not_told_here() {
        let course = watch::Sender::new(OpenStreams::Keep);
        let mut leaving = Box::pin(ending(course.subscribe(), STAY));
        drop(course);
        assert_eq!(leaving.as_mut().now_or_never(), None);
        advance(10 * STAY).await;
        assert_eq!(leaving.now_or_never(), None);
    }
}
