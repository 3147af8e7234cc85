//! How long to wait before the next try.

use std::time::Duration;

const FIRST: Duration = Duration::from_millis(20);
const LONGEST: Duration = Duration::from_secs(2);

/// Doubles with every failure in a row, up to a limit.
///
/// No jitter: only the leader tries, so nobody is in step with it.
#[derive(Clone, Debug)]
pub(crate) struct Backoff {
    next: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { next: FIRST }
    }
}

impl Backoff {
    /// The wait after one more failure.
    pub(crate) fn failed(&mut self) -> Duration {
        let wait = self.next;
        self.next = (self.next * 2).min(LONGEST);
        wait
    }

    /// The next failure is the first one again.
    pub(crate) fn worked(&mut self) {
        self.next = FIRST;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_limit_and_start_again_after_success() {
        let mut backoff = Backoff::default();
        let waits: Vec<u128> = (0..9).map(|_| backoff.failed().as_millis()).collect();
        assert_eq!(waits, [20, 40, 80, 160, 320, 640, 1280, 2000, 2000]);
        backoff.worked();
        assert_eq!(backoff.failed(), FIRST);
    }
}
