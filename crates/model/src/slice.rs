//! A slice of a service's endpoints, already joined with its pods.

use serde::{Deserialize, Serialize};

use crate::{Endpoint, ServiceId, Text};

/// One EndpointSlice as answers see it: only endpoints that can show.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SliceRecord {
    /// The service that these endpoints stand behind.
    pub service: ServiceId,
    /// What names that service.
    pub named_by: NamedBy,
    /// The family of every address in the slice.
    pub family: AddressFamily,
    /// Named ports, each with the number that its endpoints listen on. A slice
    /// port without number is left out: it matches nothing.
    pub ports: Vec<SlicePort>,
    /// The endpoints, in the order of the object.
    pub endpoints: Vec<Endpoint>,
    /// What the slice says of the cluster that it mirrors, if it does.
    pub mirror: Mirror,
}

/// What names the service of a slice.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum NamedBy {
    /// The label `kubernetes.io/service-name`.
    Label,
    /// An owner reference, for want of the label.
    Owner,
}

/// The family of a slice's addresses.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum AddressFamily {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// One port of a slice.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SlicePort {
    /// The name, equal to the service port's; empty when unnamed.
    pub name: Text,
    /// The number that the endpoints listen on.
    pub port: u16,
}

/// Marks that Linkerd's service mirror puts on slices of mirrored services.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Mirror {
    /// Annotation `mirror.linkerd.io/remote-gateway-identity`, if not empty.
    pub gateway_identity: Option<Text>,
    /// Annotation `mirror.linkerd.io/remote-svc-fq-name`.
    pub remote_service: Option<Text>,
    /// Label `mirror.linkerd.io/cluster-name`.
    pub cluster: Option<Text>,
}
