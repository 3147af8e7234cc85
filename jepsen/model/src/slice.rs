//! What an EndpointSlice says, joined with what stands behind its addresses.

use serde::{Deserialize, Serialize};
use std::{net::IpAddr, sync::Arc};

use crate::{External, Name, Pod, Text};

/// An EndpointSlice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// The service that it belongs to, in the slice's own namespace.
    pub service: Name,
    /// The family of its addresses.
    pub family: Family,
    /// Its ports that have a number.
    #[serde(default)]
    pub ports: Vec<SlicePort>,
    /// Its endpoints, in the order of the object.
    #[serde(default)]
    pub endpoints: Vec<Endpoint>,
    /// Marks of a mirrored service.
    #[serde(default, skip_serializing_if = "Mirror::is_none")]
    pub mirror: Mirror,
    /// Whether the service is named by its label and not only by an owner (A9.1).
    #[serde(default = "yes")]
    pub labelled: bool,
}

/// The family of a slice's addresses.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// One port of a slice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlicePort {
    /// The name; perhaps empty.
    #[serde(default)]
    pub name: Text,
    /// The number that the endpoints listen on.
    pub port: u16,
}

/// One address of a slice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// The address.
    pub ip: IpAddr,
    /// Whether it takes traffic.
    #[serde(default)]
    pub readiness: Readiness,
    /// The hostname below a headless service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hostname: Option<Text>,
    /// The zone that it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zone: Option<Text>,
    /// The zones that should use it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hint_zones: Vec<Text>,
    /// The nodes that should use it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hint_nodes: Vec<Text>,
    /// What stands behind it.
    #[serde(default)]
    pub behind: Behind,
}

/// Whether an endpoint takes traffic.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Readiness {
    /// It does.
    #[default]
    Ready,
    /// It still serves while it terminates.
    Leaving,
    /// It does not.
    Unready,
}

/// What stands behind an address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Behind {
    /// No object.
    #[default]
    Nothing,
    /// A pod.
    Pod(Arc<Pod>),
    /// A machine outside of the cluster.
    External(Arc<External>),
}

/// Marks that the service mirror puts on slices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mirror {
    /// Annotation `mirror.linkerd.io/remote-gateway-identity`, if not empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway_identity: Option<Text>,
    /// Annotation `mirror.linkerd.io/remote-svc-fq-name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_service: Option<Text>,
    /// Label `mirror.linkerd.io/cluster-name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Text>,
}

// === impl Mirror ===

impl Mirror {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

fn yes() -> bool {
    true
}
