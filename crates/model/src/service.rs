//! What a Service says, as far as answers depend on it.

use serde::{Deserialize, Serialize};
use std::net::IpAddr;

use crate::{PortSet, Text};

/// A Service: both the fact and the record, since nothing is joined to it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ServiceRecord {
    /// Whether it has endpoints at all.
    pub kind: ServiceKind,
    /// Declared ports, in the order of the object.
    pub ports: Vec<ServicePort>,
    /// Every cluster IP, of both families; empty for a headless service.
    pub cluster_ips: Vec<IpAddr>,
    /// Which endpoints in-cluster clients may use.
    pub internal_traffic: InternalTraffic,
    /// The opaque-ports annotation, names resolved to service ports; `None`
    /// without the annotation (the default list applies), empty if it is empty.
    pub opaque_ports: Option<PortSet>,
    /// Set if its endpoints are those of a service of another cluster.
    pub remote: Option<RemoteDiscovery>,
    /// Whether it stands for services of several clusters at once: it has an annotation
    /// `multicluster.linkerd.io/remote-discovery` or `.../local-discovery`, perhaps empty.
    pub is_federated: bool,
}

/// Where the endpoints of a service of another cluster are found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RemoteDiscovery {
    /// Label `multicluster.linkerd.io/remote-discovery`: the cluster, perhaps empty.
    pub cluster: Text,
    /// Label `multicluster.linkerd.io/remote-service`: the service's name there, perhaps empty.
    pub service: Option<Text>,
}

/// What kind of Service, as far as answers differ.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ServiceKind {
    /// ClusterIP, NodePort, LoadBalancer or headless: it has endpoints.
    Endpoints,
    /// ExternalName: an alias of a DNS name. Asking for it is an invalid argument.
    ExternalName,
}

/// One declared port of a Service.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ServicePort {
    /// The number clients use.
    pub port: u16,
    /// The name that slice ports are matched by; empty when unnamed.
    pub name: Text,
}

/// `spec.internalTrafficPolicy`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum InternalTraffic {
    /// Every endpoint.
    Cluster,
    /// Only endpoints on the client's own node; none elsewhere.
    Local,
}

impl ServiceRecord {
    /// The declared port with this number.
    #[must_use]
    pub fn port(&self, number: u16) -> Option<&ServicePort> {
        self.ports.iter().find(|port| port.port == number)
    }
}
