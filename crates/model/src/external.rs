//! External workloads: machines outside of the cluster that are part of the mesh.

use serde::{Deserialize, Serialize};
use std::{net::IpAddr, sync::Arc};

use crate::{ExternalWorkloadId, ObjectLabels, OwnerRef, PortSet, Text};

/// The port of an external workload's proxy that takes transport headers, unless the
/// object declares one named `linkerd-proxy`.
pub const EXTERNAL_INBOUND_PORT: u16 = 4143;

/// An ExternalWorkload as the object has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ExternalWorkloadFact {
    /// The single owner; `None` with no owner or several.
    pub owner: Option<OwnerRef>,
    /// Its labels: Servers choose by them.
    pub labels: ObjectLabels,
    /// `spec.workloadIPs`, in the order of the object.
    pub ips: Vec<IpAddr>,
    /// `spec.ports`, in the order of the object.
    pub ports: Vec<NamedPort>,
    /// `spec.meshTLS.identity`.
    pub identity: Text,
    /// `spec.meshTLS.serverName`.
    pub server_name: Text,
    /// Annotation `config.linkerd.io/opaque-ports`, port names resolved; `None` without
    /// the annotation (the default list applies).
    pub opaque: Option<PortSet>,
}

/// A port with a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NamedPort {
    /// The name; empty when unnamed.
    pub name: Text,
    /// The number. Range: 1 to 65535.
    pub port: u16,
    /// The port of the host that leads to it, if there is one.
    pub host_port: Option<u16>,
}

/// What is said of an external workload: its own words, joined with the Servers that
/// choose it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ExternalWorkload {
    /// Which one.
    pub id: ExternalWorkloadId,
    /// See [`ExternalWorkloadFact::owner`]. The two methods of the API spell its kind in
    /// two ways, so it is kept as written.
    pub owner: Option<OwnerRef>,
    /// See [`ExternalWorkloadFact::identity`].
    pub identity: Text,
    /// See [`ExternalWorkloadFact::server_name`].
    pub server_name: Text,
    /// The port of its proxy: the one named `linkerd-proxy`, else
    /// [`EXTERNAL_INBOUND_PORT`].
    pub inbound_port: u16,
    /// See [`ExternalWorkloadFact::opaque`].
    pub opaque: Option<PortSet>,
    /// Ports that Servers make opaque.
    pub opaque_by_server: PortSet,
}

/// An external workload as it is found by address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ExternalWorkloadRecord {
    /// What is said of it.
    pub workload: Arc<ExternalWorkload>,
    /// Its addresses, sorted, each once.
    pub ips: Vec<IpAddr>,
    /// The ports that it declares, sorted, each once.
    pub ports: Vec<u16>,
}
