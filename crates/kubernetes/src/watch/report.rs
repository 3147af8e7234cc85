//! Counts what goes wrong, and names each bad object once.

use lockstep_model::FactKind;
use std::{collections::BTreeSet, time::Duration};

use super::{
    decode::Complaints,
    failure::{Failure, FailureKind},
    machine::{End, News, Restart},
};
use crate::{Metrics, troubles::Troubles};

/// How many complaints of one kind are remembered, so as not to repeat them.
const NAMED_MAX: usize = 1000;

/// The voice of one kind's follower.
#[derive(Debug)]
pub(super) struct Report {
    kind: FactKind,
    metrics: Metrics,
    troubles: Troubles,
    standing: Standing,
    named: BTreeSet<String>,
    refusals: Repeats,
}

/// What was noted of the kind's troubles.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Standing {
    /// Nothing by this follower.
    Unknown,
    Well,
    Troubled,
}

/// How often the same refusal came in a row. Told the first time, the second,
/// the fourth and so on: an API server that is away for a night fills no disk.
#[derive(Debug, Default)]
struct Repeats {
    last: String,
    times: u64,
}

impl Repeats {
    fn worth_telling(&mut self, request: &str, reason: &str) -> Option<u64> {
        let text = format!("{request}: {reason}");
        self.times = if text == self.last {
            self.times.saturating_add(1)
        } else {
            1
        };
        self.last = text;
        self.times.is_power_of_two().then_some(self.times)
    }
}

impl Restart {
    const fn label(self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::NotServed => "not_served",
            Self::ListFailed => "list_failed",
            Self::WentBack => "went_back",
            Self::Restored => "restored",
            Self::WatchFailed => "watch_failed",
            Self::Broken => "broken",
            Self::Silent => "silent",
            Self::Garbled => "garbled",
        }
    }
}

impl Report {
    pub(super) fn new(kind: FactKind, metrics: Metrics, troubles: Troubles) -> Self {
        Self {
            kind,
            metrics,
            troubles,
            standing: Standing::Unknown,
            named: BTreeSet::new(),
            refusals: Repeats::default(),
        }
    }

    pub(super) fn list_begun(&self) {
        self.metrics.list_begun(self.kind);
    }

    pub(super) fn watch_asked(&self) {
        self.metrics.watch_asked(self.kind);
    }

    pub(super) fn event_received(&mut self) {
        self.metrics.event_received(self.kind);
        self.refusals = Repeats::default();
    }

    pub(super) fn restarted(&mut self, restart: Restart) {
        self.metrics.restarted(self.kind, restart.label());
        let (kind, reason) = (self.kind, restart.label());
        match restart {
            Restart::Restored => tracing::error!(
                %kind,
                "the api server's store went back in time for good, as if restored from a \
                 backup: what it has now is taken for true"
            ),
            Restart::WentBack => {
                let what = "it shows what is older than what is known already";
                tracing::warn!(%kind, "{what}: not believed yet");
                self.troubled(what.to_owned());
            }
            Restart::Gone
            | Restart::NotServed
            | Restart::ListFailed
            | Restart::WatchFailed
            | Restart::Broken
            | Restart::Silent
            | Restart::Garbled => tracing::debug!(%kind, reason, "begins again"),
        }
    }

    /// The kind is told as it should be.
    pub(super) fn well(&mut self) {
        if self.standing != Standing::Well {
            self.standing = Standing::Well;
            self.troubles.clear(self.kind);
        }
    }

    fn troubled(&mut self, what: String) {
        self.standing = Standing::Troubled;
        self.troubles.note(self.kind, what);
    }

    pub(super) fn failed(&mut self, request: &'static str, failure: &Failure) {
        let (kind, reason) = (self.kind, &failure.reason);
        if kind.is_optional() && failure.kind == FailureKind::NotServed {
            tracing::debug!(%kind, request, reason, "not served in this version");
            return;
        }
        if let Some(times) = self.refusals.worth_telling(request, reason) {
            tracing::warn!(%kind, request, reason, times, "api server refused");
        }
        self.troubled(format!("{request}: {reason}"));
    }

    pub(super) fn news(&self, news: News) {
        let kind = self.kind;
        match news {
            News::Served(version) => {
                self.metrics.served(kind, true);
                tracing::info!(%kind, version = version.name(), "kind is served");
            }
            News::Absent => {
                self.metrics.served(kind, false);
                tracing::info!(%kind, "kind is not served; it is looked for from time to time");
            }
        }
    }

    pub(super) fn ended(&mut self, end: End, open_for: Duration, reason: &str) {
        let (kind, open_ms) = (self.kind, open_for.as_millis());
        match end {
            End::Closed => tracing::debug!(%kind, open_ms, "watch closed"),
            End::Broken | End::Silent | End::Garbled => {
                tracing::warn!(%kind, open_ms, reason, "watch ended");
                self.troubled(format!("watch ended: {reason}"));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_that_repeats_is_told_ever_more_rarely() {
        let mut repeats = Repeats::default();
        let told: Vec<u64> = (0..100)
            .filter_map(|_| repeats.worth_telling("watch", "away"))
            .collect();
        assert_eq!(told, [1, 2, 4, 8, 16, 32, 64]);
        assert_eq!(repeats.worth_telling("watch", "forbidden"), Some(1));
        assert_eq!(repeats.worth_telling("list", "forbidden"), Some(1));
    }
}
