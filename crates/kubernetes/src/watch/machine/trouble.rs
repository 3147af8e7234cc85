//! What has gone wrong in a row, and how long to wait for it.

use std::time::Duration;

use crate::watch::pace::Pause;

/// How often the same dead end is tried before it is believed. With the back-off that
/// is between one and three minutes: longer than any server lags behind another.
pub(super) const PATIENCE: u32 = 12;

/// Counts failures since the last success of their kind.
#[derive(Debug, Default)]
pub(super) struct Trouble {
    /// Requests that failed; a complete list or a watch that delivers ends them.
    failures: u32,
    /// Lists begun because history was gone; only a watch that delivers ends them, or
    /// a server that always says 410 would be listed in a circle.
    gone: u32,
    /// Dead ends: a list from the past, a watch of the future, an unreadable event.
    stuck: u32,
}

impl Trouble {
    /// A list is complete.
    pub(super) fn listed(&mut self) {
        self.failures = 0;
        self.stuck = 0;
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
        self.stuck = self.stuck.saturating_add(1);
        self.failed(retry_after)
    }

    /// Whether the dead end was tried often enough.
    pub(super) fn is_stuck(&self) -> bool {
        self.stuck >= PATIENCE
    }
}
