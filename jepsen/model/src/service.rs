//! What a Service says, as far as `Get` depends on it.

use serde::{Deserialize, Serialize};

use crate::Text;

/// A Service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    /// Whether it has endpoints.
    #[serde(default)]
    pub kind: ServiceKind,
    /// The ports that it declares, in the order of the object.
    #[serde(default)]
    pub ports: Vec<ServicePort>,
    /// `spec.internalTrafficPolicy`.
    #[serde(default)]
    pub traffic: Traffic,
}

/// Whether a Service has endpoints.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServiceKind {
    /// ClusterIP, NodePort, LoadBalancer or headless.
    #[default]
    Endpoints,
    /// An alias of a DNS name: asking for it is refused.
    ExternalName,
    /// A service of other clusters, by the marks of A3.2, about which this model says nothing.
    Elsewhere,
}

/// One declared port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServicePort {
    /// The number that clients use.
    pub port: u16,
    /// The name by which the ports of slices are matched; perhaps empty.
    #[serde(default)]
    pub name: Text,
}

/// Which endpoints clients of the cluster may use.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Traffic {
    /// Every one.
    #[default]
    Cluster,
    /// Those on the client's node.
    Local,
}
