//! What is counted of requests and streams.

use prometheus_client::{
    encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};
use std::time::Duration;
use tonic::Code;

/// Bounds of the time to a first message, around the barrier's 500 ms; seconds.
const FIRST_MESSAGE_SECONDS: [f64; 11] = [
    0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 3.0,
];

/// The metrics of the destination API. A clone counts into the same ones.
#[derive(Clone, Debug)]
pub struct Metrics {
    open: Family<ByMethod, Gauge>,
    messages: Family<ByMethod, Counter>,
    refusals: Family<ByCode, Counter>,
    first_message: Family<ByMethod, Histogram, fn() -> Histogram>,
}

/// A method of the API.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
pub(crate) enum Method {
    /// Endpoints.
    Get,
    /// Profiles.
    GetProfile,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByMethod {
    method: Method,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByCode {
    method: Method,
    code: CodeLabel,
}

/// The name of a gRPC code; there are 17.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
struct CodeLabel(Code);

impl EncodeLabelValue for CodeLabel {
    fn encode(&self, encoder: &mut LabelValueEncoder) -> Result<(), std::fmt::Error> {
        EncodeLabelValue::encode(&format!("{:?}", self.0).as_str(), encoder)
    }
}

impl Metrics {
    /// `Get` streams that are open.
    #[must_use]
    pub fn open_gets(&self) -> u64 {
        self.open_streams(Method::Get)
    }

    /// `GetProfile` streams that are open.
    #[must_use]
    pub fn open_profiles(&self) -> u64 {
        self.open_streams(Method::GetProfile)
    }

    fn open_streams(&self, method: Method) -> u64 {
        let open = self.open.get_or_create(&ByMethod { method }).get();
        u64::try_from(open).unwrap_or(0)
    }

    /// Makes the metrics and registers them.
    #[must_use]
    pub fn registered(registry: &mut Registry) -> Self {
        let histogram: fn() -> Histogram = || Histogram::new(FIRST_MESSAGE_SECONDS);
        let metrics = Self {
            open: Family::default(),
            messages: Family::default(),
            refusals: Family::default(),
            first_message: Family::new_with_constructor(histogram),
        };
        let registry = registry.sub_registry_with_prefix("lockstep_destination");
        registry.register("streams", "Streams that are open", metrics.open.clone());
        registry.register(
            "messages",
            "Messages written to streams",
            metrics.messages.clone(),
        );
        registry.register(
            "refusals",
            "Requests that got a status instead of a stream",
            metrics.refusals.clone(),
        );
        registry.register_with_unit(
            "first_message",
            "Time from a request to the first message",
            Unit::Seconds,
            metrics.first_message.clone(),
        );
        metrics
    }

    pub(crate) fn refused(&self, method: Method, code: Code) {
        let code = CodeLabel(code);
        self.refusals.get_or_create(&ByCode { method, code }).inc();
    }

    /// Counts a stream as open until the meter is dropped.
    pub(crate) fn opened(&self, method: Method) -> StreamMeter {
        let by_method = ByMethod { method };
        let meter = StreamMeter {
            open: self.open.get_or_create_owned(&by_method),
            messages: self.messages.get_or_create_owned(&by_method),
            first_message: self.first_message.get_or_create_owned(&by_method),
        };
        meter.open.inc();
        meter
    }
}

/// What is counted of one stream.
#[derive(Debug)]
pub(crate) struct StreamMeter {
    open: Gauge,
    messages: Counter,
    first_message: Histogram,
}

impl StreamMeter {
    pub(crate) fn message(&self) {
        self.messages.inc();
    }

    pub(crate) fn first_message_after(&self, time: Duration) {
        self.first_message.observe(time.as_secs_f64());
    }
}

impl Drop for StreamMeter {
    fn drop(&mut self) {
        self.open.dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_has_its_name_and_bounded_labels() {
        let mut registry = Registry::default();
        let metrics = Metrics::registered(&mut registry);
        let meter = metrics.opened(Method::Get);
        meter.message();
        meter.first_message_after(Duration::from_millis(2));
        drop(metrics.opened(Method::GetProfile));
        metrics.refused(Method::Get, Code::NotFound);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        for line in [
            "lockstep_destination_streams{method=\"Get\"} 1",
            "lockstep_destination_streams{method=\"GetProfile\"} 0",
            "lockstep_destination_messages_total{method=\"Get\"} 1",
            "lockstep_destination_refusals_total{method=\"Get\",code=\"NotFound\"} 1",
            "lockstep_destination_first_message_seconds_count{method=\"Get\"} 1",
        ] {
            assert!(text.lines().any(|it| it == line), "{line} not in\n{text}");
        }
    }
}
