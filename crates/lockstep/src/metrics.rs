//! Every metric of one replica, in one registry.

use lockstep_proto::admin::v1 as pb;
use lockstep_replica::Replica;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric},
    metrics::{MetricType, gauge::ConstGauge},
    registry::Registry,
};

use crate::{Source, fresh_metrics::FreshMetrics, readiness::Standing};

/// The counters of one replica and the registry that shows them.
pub(crate) struct ReplicaMetrics {
    pub(crate) ingest: lockstep_ingest::Metrics,
    pub(crate) destination: lockstep_destination::Metrics,
    pub(crate) registry: Registry,
}

impl ReplicaMetrics {
    pub(crate) fn new(standing: &Standing, source: &Source) -> Self {
        let mut registry = Registry::default();
        let ingest = lockstep_ingest::Metrics::default();
        ingest.register(&mut registry);
        let destination = lockstep_destination::Metrics::registered(&mut registry);
        if let Source::Kubernetes(source) = source {
            source.metrics().register(&mut registry);
        }
        registry.register_collector(Box::new(Positions(standing.replica.clone())));
        registry.register_collector(Box::new(FreshMetrics(standing.clone())));
        Self {
            ingest,
            destination,
            registry,
        }
    }

    /// The streams that are open.
    pub(crate) fn streams(&self) -> pb::Streams {
        pb::Streams {
            get: self.destination.open_gets(),
            get_profile: self.destination.open_profiles(),
        }
    }

    /// Everything in the OpenMetrics text format.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // Writing into a string does not fail; half a text would be seen by its missing end.
        let _ = prometheus_client::encoding::text::encode(&mut text, &self.registry);
        text
    }
}

/// Gauges that are read when they are asked for.
#[derive(Debug)]
struct Positions(Replica);

impl Collector for Positions {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let raft = self.0.raft();
        let index = |log_id: Option<lockstep_position::LogId>| log_id.map_or(0, |id| id.index);
        let gauges: [(&str, &str, u64); 7] = [
            (
                "lockstep_revision",
                "Batches that changed the state",
                self.0.position().revision.as_u64(),
            ),
            (
                "lockstep_term",
                "The newest Raft term seen",
                raft.role.term().as_u64(),
            ),
            (
                "lockstep_leading",
                "1 while this replica leads, else 0",
                u64::from(raft.role.leading().is_some()),
            ),
            (
                "lockstep_lacking_quorum",
                "1 while this replica leads and no quorum has answered it within its lease, else 0",
                u64::from(raft.lacks_quorum()),
            ),
            (
                "lockstep_committed_index",
                "The last entry known to be committed",
                index(raft.committed),
            ),
            (
                "lockstep_applied_index",
                "The last entry in the state",
                index(raft.applied),
            ),
            (
                "lockstep_log_bytes",
                "Size of the file of log and vote",
                raft.disk.log_bytes,
            ),
        ];
        for (name, help, value) in gauges {
            let gauge = ConstGauge::new(value);
            let metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            gauge.encode(metric)?;
        }
        Ok(())
    }
}
