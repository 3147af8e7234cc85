//! Parts of a good object that are left out, because they mean nothing.

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
        number: i32,
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
    /// An endpoint that refers to something else than a pod.
    #[error("endpoints: the one that refers to `{kind}/{name}` is skipped: only Pods are known")]
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
}

impl Skipped {
    /// The reason as a metric label; one of six.
    #[must_use]
    pub const fn label(&self) -> &'static str {
        match self {
            Self::AnnotationItem { .. } => "annotation_item",
            Self::Port { .. } => "port",
            Self::Address { .. } => "address",
            Self::Target { .. } => "target",
            Self::TargetNamespace { .. } => "target_namespace",
            Self::Listener { .. } => "listener",
        }
    }
}
