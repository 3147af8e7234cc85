//! The metrics of freshness, worked out when they are read.

use lockstep_model::FactKind;
use lockstep_replica::FreshnessState;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric},
    metrics::{MetricType, counter::ConstCounter, gauge::ConstGauge},
    registry::Unit,
};
use std::{collections::BTreeMap, fmt::Error, time::Duration};

use crate::readiness::{Stand, Standing};

/// The metrics of one replica's freshness.
#[derive(Debug)]
pub(crate) struct FreshMetrics(pub(crate) Standing);

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByState {
    state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByKind {
    resource: &'static str,
}

impl Collector for FreshMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), Error> {
        let stand = self.0.now();
        flags(&mut encoder, &stand)?;
        states(&mut encoder, stand.freshness.state)?;
        entries(&mut encoder, &self.0.replica.freshness_entries())?;
        ages(
            &mut encoder,
            stand.freshness.age,
            &self.0.replica.source_ages(),
        )
    }
}

fn flags(encoder: &mut DescriptorEncoder<'_>, stand: &Stand) -> Result<(), Error> {
    let freshness = &stand.freshness;
    let flags = [
        (
            "lockstep_ready",
            "1 while this replica is ready for clients, else 0",
            stand.is_ready(),
        ),
        (
            "lockstep_stale",
            "1 while the copy may be older than its limit, else 0",
            freshness.is_stale(),
        ),
        (
            "lockstep_source_stale",
            "1 while the source was silent for longer than its limit, else 0",
            freshness.is_source_stale(),
        ),
    ];
    for (name, help, is_so) in flags {
        let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        ConstGauge::new(u64::from(is_so)).encode(metric)?;
    }
    Ok(())
}

/// One series for each state: 1 for the one that holds, 0 for the others.
fn states(encoder: &mut DescriptorEncoder<'_>, now: FreshnessState) -> Result<(), Error> {
    let help = "1 for the state of freshness that holds, 0 for the others";
    let mut metric =
        encoder.encode_descriptor("lockstep_freshness", help, None, MetricType::Gauge)?;
    for state in FreshnessState::ALL {
        let by_state = ByState {
            state: state.word(),
        };
        ConstGauge::new(u64::from(state == now)).encode(metric.encode_family(&by_state)?)?;
    }
    Ok(())
}

fn entries(
    encoder: &mut DescriptorEncoder<'_>,
    entries: &[(FreshnessState, u64)],
) -> Result<(), Error> {
    let name = "lockstep_freshness_transitions";
    let help = "How often each state of freshness was entered";
    let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
    for (state, count) in entries {
        let by_state = ByState {
            state: state.word(),
        };
        ConstCounter::new(*count).encode(metric.encode_family(&by_state)?)?;
    }
    Ok(())
}

/// Ages that are not known have no series.
fn ages(
    encoder: &mut DescriptorEncoder<'_>,
    copy: Option<Duration>,
    source: &BTreeMap<FactKind, Duration>,
) -> Result<(), Error> {
    let unit = Some(&Unit::Seconds);
    if let Some(age) = copy {
        let help = "Age of what is served, at most";
        let metric = encoder.encode_descriptor("lockstep_age", help, unit, MetricType::Gauge)?;
        ConstGauge::new(age.as_secs_f64()).encode(metric)?;
    }
    if source.is_empty() {
        return Ok(());
    }
    let help = "Time since the source last proved that it delivers, at most";
    let mut metric =
        encoder.encode_descriptor("lockstep_source_age", help, unit, MetricType::Gauge)?;
    for (kind, age) in source {
        let by_kind = ByKind {
            resource: kind.resource(),
        };
        ConstGauge::new(age.as_secs_f64()).encode(metric.encode_family(&by_kind)?)?;
    }
    Ok(())
}
