//! Counts what goes wrong, and names each bad object once.

use lockstep_model::FactKind;
use std::{collections::BTreeSet, time::Duration};

use super::{
    decode::Complaints,
    failure::Failure,
    machine::{End, Restart},
};
use crate::Metrics;

/// How many complaints of one kind are remembered, so as not to repeat them.
const NAMED_MAX: usize = 1000;

/// The voice of one kind's follower.
#[derive(Debug)]
pub(super) struct Report {
    kind: FactKind,
    metrics: Metrics,
    named: BTreeSet<String>,
}

impl Restart {
    const fn label(self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::ListFailed => "list_failed",
            Self::WentBack => "went_back",
            Self::WatchFailed => "watch_failed",
            Self::Broken => "broken",
            Self::Silent => "silent",
            Self::Garbled => "garbled",
        }
    }
}

impl Report {
    pub(super) fn new(kind: FactKind, metrics: Metrics) -> Self {
        Self {
            kind,
            metrics,
            named: BTreeSet::new(),
        }
    }

    pub(super) fn list_begun(&self) {
        self.metrics.list_begun(self.kind);
    }

    pub(super) fn watch_asked(&self) {
        self.metrics.watch_asked(self.kind);
    }

    pub(super) fn event_received(&self) {
        self.metrics.event_received(self.kind);
    }

    pub(super) fn restarted(&self, restart: Restart) {
        self.metrics.restarted(self.kind, restart.label());
        tracing::debug!(kind = %self.kind, reason = restart.label(), "begins again");
    }

    pub(super) fn failed(&self, request: &'static str, failure: &Failure) {
        let kind = self.kind;
        tracing::warn!(%kind, request, reason = failure.reason, "api server refused");
    }

    pub(super) fn ended(&self, end: End, open_for: Duration, reason: &str) {
        let (kind, open_ms) = (self.kind, open_for.as_millis());
        match end {
            End::Closed => tracing::debug!(%kind, open_ms, "watch closed"),
            End::Broken | End::Silent | End::Garbled => {
                tracing::warn!(%kind, open_ms, reason, "watch ended");
            }
        }
    }

    pub(super) fn complain(&mut self, complaints: &Complaints) {
        let kind = self.kind;
        for unusable in &complaints.unusable {
            self.metrics.object_unusable(kind, unusable.label());
            if self.is_news(unusable.to_string()) {
                tracing::warn!(%kind, reason = %unusable, "object is unusable");
            }
        }
        for (key, skipped) in &complaints.skipped {
            self.metrics.part_skipped(kind, skipped.label());
            if self.is_news(format!("{key}: {skipped}")) {
                tracing::info!(object = %key, reason = %skipped, "part of an object is skipped");
            }
        }
    }

    /// Forgets everything when full: repeating itself is better than growing for ever.
    fn is_news(&mut self, text: String) -> bool {
        if self.named.len() >= NAMED_MAX {
            self.named.clear();
        }
        self.named.insert(text)
    }
}
