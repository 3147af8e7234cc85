//! What the ingest counts.

use lockstep_model::FactKind;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};
use std::time::Duration;

/// Counters of one replica's ingest; they move only while it leads.
#[derive(Clone, Debug)]
pub struct Metrics {
    events: Counter,
    batches: Counter,
    commands: Counter,
    failures: Counter,
    following: Gauge,
    reached: Gauge,
    hand_overs: Counter,
    audits: Family<Ended, Counter>,
    repairs: Family<OfKind, Counter>,
    commit_lag: Histogram,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Ended {
    result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfKind {
    kind: &'static str,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            events: Counter::default(),
            batches: Counter::default(),
            commands: Counter::default(),
            failures: Counter::default(),
            following: Gauge::default(),
            reached: Gauge::default(),
            hand_overs: Counter::default(),
            audits: Family::default(),
            repairs: Family::default(),
            commit_lag: Histogram::new([
                0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0,
            ]),
        }
    }
}

impl Metrics {
    /// Makes the counters visible.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "lockstep_ingest_events",
            "Events the source told",
            self.events.clone(),
        );
        registry.register(
            "lockstep_ingest_batches",
            "Batches proposed and applied",
            self.batches.clone(),
        );
        registry.register(
            "lockstep_ingest_commands",
            "Commands proposed and applied",
            self.commands.clone(),
        );
        registry.register(
            "lockstep_ingest_failures",
            "Sessions that ended because a proposal failed",
            self.failures.clone(),
        );
        registry.register(
            "lockstep_ingest_following",
            "1 while this replica follows the source, else 0",
            self.following.clone(),
        );
        registry.register(
            "lockstep_source_reached",
            "1 while the source answers this replica, whoever leads, else 0",
            self.reached.clone(),
        );
        registry.register(
            "lockstep_source_hand_overs",
            "Times that this replica gave the lead to one that reaches the source",
            self.hand_overs.clone(),
        );
        registry.register(
            "lockstep_source_audits",
            "Audits of the source, by result",
            self.audits.clone(),
        );
        // Shown from the beginning: an alert about the first one needs a zero before it.
        for kind in FactKind::ALL {
            let kind = kind.resource();
            let _ = self.repairs.get_or_create(&OfKind { kind });
        }
        registry.register(
            "lockstep_source_repairs",
            "Objects of which the source's watch lost a change, found by an audit, by kind",
            self.repairs.clone(),
        );
        registry.register(
            "lockstep_commit_lag_seconds",
            "From proposing a batch to having applied it",
            self.commit_lag.clone(),
        );
    }

    /// Whether a session follows the source now.
    #[must_use]
    pub fn is_following(&self) -> bool {
        self.following.get() == 1
    }

    /// Whether the source answers this replica now.
    pub fn reached(&self, is_reached: bool) {
        self.reached.set(i64::from(is_reached));
    }

    /// The lead was given to a replica that reaches the source.
    pub fn handed_over(&self) {
        self.hand_overs.inc();
    }

    pub(crate) fn audited(&self) {
        let result = "complete";
        self.audits.get_or_create(&Ended { result }).inc();
    }

    pub(crate) fn audit_failed(&self) {
        let result = "failed";
        self.audits.get_or_create(&Ended { result }).inc();
    }

    pub(crate) fn repaired(&self, kind: FactKind) {
        let kind = kind.resource();
        self.repairs.get_or_create(&OfKind { kind }).inc();
    }

    pub(crate) fn told(&self, events: usize) {
        self.events
            .inc_by(u64::try_from(events).unwrap_or(u64::MAX));
    }

    pub(crate) fn applied(&self, commands: usize, took: Duration) {
        self.batches.inc();
        self.commands
            .inc_by(u64::try_from(commands).unwrap_or(u64::MAX));
        self.commit_lag.observe(took.as_secs_f64());
    }

    pub(crate) fn failed(&self) {
        self.failures.inc();
    }

    /// Counts as following until the guard is dropped.
    pub(crate) fn follow(&self) -> Following {
        self.following.set(1);
        Following(self.following.clone())
    }
}

/// Held while a session follows the source.
pub(crate) struct Following(Gauge);

impl Drop for Following {
    fn drop(&mut self) {
        self.0.set(0);
    }
}
