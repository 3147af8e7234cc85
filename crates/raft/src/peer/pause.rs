//! How long to leave a peer alone that cannot be reached.
//!
//! The library's own back-off counts when it hands over the next request. A peer
//! that cannot even be dialled never gets that far: the library would try again
//! at once, and a leader whose followers are away would keep a core busy.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const FIRST: Duration = Duration::from_millis(10);
/// Short: it delays a peer that is back by as much.
const LONGEST: Duration = Duration::from_millis(200);

/// Doubles with every failure in a row.
#[derive(Debug, Default)]
pub(super) struct Pause(AtomicU32);

impl Pause {
    /// The wait before the next attempt; zero after a success.
    pub(super) fn length(&self) -> Duration {
        match self.0.load(Ordering::Relaxed) {
            0 => Duration::ZERO,
            failures => {
                let doubled = 1_u32.checked_shl(failures - 1).unwrap_or(u32::MAX);
                FIRST.saturating_mul(doubled).min(LONGEST)
            }
        }
    }

    /// One more attempt has failed.
    pub(super) fn failed(&self) {
        let failures = self.0.load(Ordering::Relaxed);
        // One owner only: a lost update cannot be.
        self.0.store(failures.saturating_add(1), Ordering::Relaxed);
    }

    /// The peer has answered.
    pub(super) fn answered(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest_and_end_with_an_answer() {
        let pause = Pause::default();
        let mut lengths = Vec::new();
        for _ in 0..8 {
            lengths.push(pause.length().as_millis());
            pause.failed();
        }
        assert_eq!(lengths, [0, 10, 20, 40, 80, 160, 200, 200]);
        pause.answered();
        assert_eq!(pause.length(), Duration::ZERO);
    }

    #[test]
    fn a_night_of_failures_does_not_overflow() {
        let pause = Pause(AtomicU32::new(u32::MAX));
        pause.failed();
        assert_eq!(pause.length(), LONGEST);
    }
}
