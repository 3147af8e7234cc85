//! What has gone wrong in a row, and how long to wait for it.

use std::time::Duration;

use crate::watch::pace::Pause;

/// How long watches may lead nowhere before a list is asked for instead, at least.
pub(super) const WATCH_PATIENCE: Duration = Duration::from_secs(10);

/// How long lists must be older than what was known before they are believed, at least:
/// the server's store was restored from a backup then. Each of these lists comes from a
/// quorum of the store, never from a cache, and no such list lags for so long.
pub(super) const LIST_PATIENCE: Duration = Duration::from_secs(60);

/// Counts failures since the last success of their kind.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    /// Requests that failed; a complete list or a watch that delivers ends them.
    failures: u32,
    /// Lists begun because history was gone; only a watch that delivers ends them, or
    /// a server that always says 410 would be listed in a circle.
    gone: u32,
    /// The pauses between dead ends in a row, at least: a list from the past, a watch of
    /// the future, an unreadable event.
    stuck_for: Duration,
}

impl Trouble {
    /// A list is complete.
    pub(super) fn listed(&mut self) {
        self.failures = 0;
        self.stuck_for = Duration::ZERO;
    }

    /// The dead end is left by another way, which has a patience of its own.
    pub(super) fn turned(&mut self) {
        self.stuck_for = Duration::ZERO;
    }

    /// A request failed: how long to wait.
    pub(super) fn failed(&mut self, retry_after: Option<Duration>) -> Pause {
        self.failures = self.failures.saturating_add(1);
        Pause::after(self.failures, retry_after)
    }

    /// History is gone: how long to wait, if at all.
    pub(super) fn gone(&mut self) -> Option<Pause> {
        let before = self.gone;
        self.gone = self.gone.saturating_add(1);
        (before > 0).then(|| Pause::after(before, None))
    }

    /// A dead end: how long to wait.
    pub(super) fn stuck(&mut self, retry_after: Option<Duration>) -> Pause {
        let pause = self.failed(retry_after);
        self.stuck_for = self.stuck_for.saturating_add(pause.least);
        pause
    }

    /// Whether the dead end was tried for that long.
    pub(super) fn is_stuck_for(&self, patience: Duration) -> bool {
        self.stuck_for >= patience
    }
}
