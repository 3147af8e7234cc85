//! What is counted about the API server. Every label has a small, fixed set of values.

use lockstep_model::FactKind;
use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

/// The counters of a source; clones count together. What is `served` is as of the last
/// time that this replica asked.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    lists: Family<OfKind, Counter>,
    watches: Family<OfKind, Counter>,
    events: Family<OfKind, Counter>,
    unusable: Family<Reason, Counter>,
    skipped: Family<Reason, Counter>,
    restarts: Family<Reason, Counter>,
    served: Family<OfKind, Gauge>,
    renewals: Family<Why, Counter>,
    deaths: Family<OfKind, Counter>,
    troubled: Family<OfKind, Gauge>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OfKind {
    kind: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Reason {
    kind: &'static str,
    reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Why {
    reason: &'static str,
}

impl Metrics {
    /// Names the counters in `registry`, all beginning with `lockstep_source_`.
    pub fn register(&self, registry: &mut Registry) {
        let registry = registry.sub_registry_with_prefix("lockstep_source");
        let counters = [
            ("lists", "Lists begun, by kind", &self.lists),
            ("watches", "Watches asked for, by kind", &self.watches),
            ("events", "Events received, by kind", &self.events),
            (
                "deaths",
                "Tasks that died while they followed a kind, and were replaced, by kind",
                &self.deaths,
            ),
        ];
        for (name, help, counter) in counters {
            registry.register(name, help, counter.clone());
        }
        let counters = [
            (
                "unusable_objects",
                "Objects that said nothing usable, by kind and reason",
                &self.unusable,
            ),
            (
                "skipped_parts",
                "Parts of objects that were left out, by kind and reason",
                &self.skipped,
            ),
            (
                "restarts",
                "Lists and watches begun again, by kind and reason",
                &self.restarts,
            ),
        ];
        for (name, help, counter) in counters {
            registry.register(name, help, counter.clone());
        }
        registry.register(
            "renewals",
            "Clients made anew, with new connections and credentials, by reason",
            self.renewals.clone(),
        );
        registry.register(
            "served",
            "Whether the API server has the kind, by kind that a cluster may do without",
            self.served.clone(),
        );
        registry.register(
            "troubled",
            "1 while the kind cannot be followed as it should, by kind",
            self.troubled.clone(),
        );
    }

    pub(crate) fn renewed(&self, reason: &'static str) {
        self.renewals.get_or_create(&Why { reason }).inc();
    }

    pub(crate) fn served(&self, kind: FactKind, is_served: bool) {
        let kind = kind.resource();
        let gauge = self.served.get_or_create(&OfKind { kind });
        gauge.set(i64::from(is_served));
    }

    pub(crate) fn troubled(&self, kind: FactKind, is_troubled: bool) {
        let kind = kind.resource();
        let gauge = self.troubled.get_or_create(&OfKind { kind });
        gauge.set(i64::from(is_troubled));
    }

    pub(crate) fn list_begun(&self, kind: FactKind) {
        of_kind(&self.lists, kind);
    }

    pub(crate) fn died(&self, kind: FactKind) {
        of_kind(&self.deaths, kind);
    }

    pub(crate) fn watch_asked(&self, kind: FactKind) {
        of_kind(&self.watches, kind);
    }

    pub(crate) fn event_received(&self, kind: FactKind) {
        of_kind(&self.events, kind);
    }

    pub(crate) fn object_unusable(&self, kind: FactKind, reason: &'static str) {
        with_reason(&self.unusable, kind, reason);
    }

    pub(crate) fn part_skipped(&self, kind: FactKind, reason: &'static str) {
        with_reason(&self.skipped, kind, reason);
    }

    pub(crate) fn restarted(&self, kind: FactKind, reason: &'static str) {
        with_reason(&self.restarts, kind, reason);
    }
}

#[cfg(test)]
impl Metrics {
    /// As a scrape shows them.
    pub(crate) fn text(&self) -> String {
        let mut registry = Registry::default();
        self.register(&mut registry);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        text
    }
}

fn of_kind(family: &Family<OfKind, Counter>, kind: FactKind) {
    let kind = kind.resource();
    family.get_or_create(&OfKind { kind }).inc();
}

fn with_reason(family: &Family<Reason, Counter>, kind: FactKind, reason: &'static str) {
    let kind = kind.resource();
    family.get_or_create(&Reason { kind, reason }).inc();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_named_with_kind_and_reason() {
        let metrics = Metrics::default();
        metrics.list_begun(FactKind::Pod);
        metrics.watch_asked(FactKind::Pod);
        metrics.event_received(FactKind::Pod);
        metrics.died(FactKind::Pod);
        metrics.object_unusable(FactKind::EndpointSlice, "address_type");
        metrics.part_skipped(FactKind::Service, "port");
        metrics.restarted(FactKind::Job, "gone");
        metrics.served(FactKind::ServiceProfile, true);
        metrics.renewed("silent");
        let text = metrics.text();
        let values: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            values,
            [
                "lockstep_source_lists_total{kind=\"pods\"} 1",
                "lockstep_source_watches_total{kind=\"pods\"} 1",
                "lockstep_source_events_total{kind=\"pods\"} 1",
                "lockstep_source_deaths_total{kind=\"pods\"} 1",
                "lockstep_source_unusable_objects_total{kind=\"endpointslices\",\
                 reason=\"address_type\"} 1",
                "lockstep_source_skipped_parts_total{kind=\"services\",reason=\"port\"} 1",
                "lockstep_source_restarts_total{kind=\"jobs\",reason=\"gone\"} 1",
                "lockstep_source_renewals_total{reason=\"silent\"} 1",
                "lockstep_source_served{kind=\"serviceprofiles\"} 1",
            ],
        );
    }
}
