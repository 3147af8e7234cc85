//! Parts of a good object that are left out, because they mean nothing.

use super::duration::DURATION;

/// One part of an object that was left out of its fact.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Skipped {
    /// An item of a list of ports that is no port.
    #[error("annotation `{annotation}`: item `{item}` is skipped: it is {expected}")]
    AnnotationItem {
        /// The annotation.
        annotation: &'static str,
        /// The item, without blanks around it.
        item: String,
        /// What it should have been.
        expected: &'static str,
    },
    /// A port number outside of 1 to 65535.
    #[error("{field}: {number} is skipped: it is not a port (1 to 65535)")]
    Port {
        /// Where it stands.
        field: &'static str,
        /// What stands there.
        number: i64,
    },
    /// A text that is not an address of the family that belongs there.
    #[error("{field}: `{text}` is skipped: it is not {expected}")]
    Address {
        /// Where it stands.
        field: &'static str,
        /// What stands there.
        text: String,
        /// What should: `an IPv4 address`, `an IPv6 address` or `an IP address`.
        expected: &'static str,
    },
    /// An endpoint that refers to something else than a pod or an external workload.
    #[error(
        "endpoints: the one that refers to `{kind}/{name}` is skipped: \
         it names no Pod and no ExternalWorkload"
    )]
    Target {
        /// The kind it refers to.
        kind: String,
        /// The name it refers to.
        name: String,
    },
    /// An endpoint that refers to a pod without its namespace.
    #[error("endpoints: the one that refers to `Pod/{pod}` is skipped: it names no namespace")]
    TargetNamespace {
        /// The pod's name.
        pod: String,
    },
    /// A variable of the proxy container that does not say where the proxy listens.
    #[error("container linkerd-proxy: {variable} is skipped: it is not a literal `ip:port`")]
    Listener {
        /// The environment variable.
        variable: &'static str,
    },
    /// A text that is no duration.
    #[error("{place}: `{text}` is skipped: it is not {DURATION}")]
    Duration {
        /// Where it stands.
        place: String,
        /// What stands there.
        text: String,
    },
    /// A destination with a share below zero.
    #[error("{place}: the destination is skipped: its weight `{text}` is below zero")]
    NegativeWeight {
        /// Where it stands.
        place: String,
        /// What stands there.
        text: String,
    },
    /// A share that is larger than can be told.
    #[error("{place}: `{text}` is cut to 429496.7295: larger weights cannot be told")]
    LargeWeight {
        /// Where it stands.
        place: String,
        /// What stands there.
        text: String,
    },
    /// A selector that makes no sense: it chooses nothing.
    #[error("a selector is skipped: {place}: {reason}")]
    Selector {
        /// Where the first fault stands.
        place: String,
        /// What must be so, or is not.
        reason: String,
    },
    /// More addresses than one slice may have.
    #[error("endpoints.addresses: {left_out} are skipped: a slice has at most {allowed} addresses")]
    Addresses {
        /// How many were left out.
        left_out: usize,
        /// How many a slice may have.
        allowed: usize,
    },
}

impl Skipped {
    /// The reason as a metric label; one of eleven.
    #[must_use]
    pub const fn label(&self) -> &'static str {
        match self {
            Self::AnnotationItem { .. } => "annotation_item",
            Self::Port { .. } => "port",
            Self::Address { .. } => "address",
            Self::Target { .. } => "target",
            Self::TargetNamespace { .. } => "target_namespace",
            Self::Listener { .. } => "listener",
            Self::Duration { .. } => "duration",
            Self::NegativeWeight { .. } => "negative_weight",
            Self::LargeWeight { .. } => "large_weight",
            Self::Selector { .. } => "selector",
            Self::Addresses { .. } => "addresses",
        }
    }
}
