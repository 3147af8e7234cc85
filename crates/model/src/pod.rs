//! What a pod says of itself, as far as answers depend on it.

use serde::{Deserialize, Serialize};
use std::{net::IpAddr, sync::Arc};

use crate::{NodeName, PodId, PortSet, Text};

/// A pod joined with the owner of its owner: what an endpoint says of the
/// workload behind it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Workload {
    /// The pod.
    pub pod: PodId,
    /// Who owns it, resolved as far up as Linkerd's metrics want it.
    pub owner: Owner,
    /// The node it runs on; `None` until it is scheduled.
    pub node: Option<NodeName>,
    /// Its service account; `default` when the pod names none.
    pub service_account: Text,
    /// Label `linkerd.io/control-plane-ns`; `Some` means meshed.
    pub control_plane: Option<Text>,
    /// Label `pod-template-hash`, if not empty.
    pub template_hash: Option<Text>,
    /// Which of its ports are special.
    pub rules: PortRules,
    /// Ports that Servers make opaque, whatever the annotation says.
    pub opaque_by_server: PortSet,
}

/// An owner as a metric label: `deployment="web"`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Owner {
    /// The label's key: the lower-cased kind, with `k8s_job` for a Job.
    pub label: Text,
    /// The owner's name.
    pub name: Text,
}

/// An owner reference as the object has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct OwnerRef {
    /// The kind, as written: `ReplicaSet`.
    pub kind: Text,
    /// The owner's name, in the same namespace.
    pub name: Text,
}

/// Ports of a pod that are treated specially.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PortRules {
    /// Annotation `config.linkerd.io/skip-inbound-ports`: not proxied.
    pub skip_inbound: PortSet,
    /// Annotation `config.linkerd.io/opaque-ports`, container port names
    /// resolved; `None` without the annotation (the default list applies).
    pub opaque: Option<PortSet>,
    /// Where the pod's proxy listens.
    pub listeners: Listeners,
}

/// Ports that the pod's `linkerd-proxy` container listens on; `None` where the
/// environment variable is missing, not a literal, or not `ip:port`.
#[derive(
    Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Listeners {
    /// `LINKERD2_PROXY_INBOUND_LISTEN_ADDR`.
    pub inbound: Option<u16>,
    /// `LINKERD2_PROXY_ADMIN_LISTEN_ADDR`.
    pub admin: Option<u16>,
    /// `LINKERD2_PROXY_CONTROL_LISTEN_ADDR`.
    pub control: Option<u16>,
}

/// A pod as it is found by address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PodRecord {
    /// What is said of it.
    pub workload: Arc<Workload>,
    /// Where it is found.
    pub addresses: PodAddresses,
    /// How far it has come; a finished pod has no record.
    pub phase: PodPhase,
    /// Whether it has a deletion timestamp.
    pub terminating: bool,
}

/// The addresses by which a pod is found.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PodAddresses {
    /// `status.podIPs`, the primary first.
    pub ips: Vec<IpAddr>,
    /// `status.hostIPs`, the primary first.
    pub host_ips: Vec<IpAddr>,
    /// Every `hostPort` of its containers, init containers included, sorted.
    pub host_ports: Vec<u16>,
    /// Whether it uses the node's network, so that its IPs are the node's.
    pub host_network: bool,
}

/// How far a pod has come.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum PodPhase {
    /// Not running yet, or unknown.
    Pending,
    /// Running.
    Running,
    /// Succeeded or failed: its addresses are free for others.
    Finished,
}
