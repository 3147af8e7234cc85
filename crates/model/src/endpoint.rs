//! One address that can serve a target.

use serde::{Deserialize, Serialize};
use std::{net::IpAddr, sync::Arc};

use crate::{ExternalWorkload, NodeName, Text, Workload};

/// One address of a slice, joined with the pod behind it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Endpoint {
    /// The address; the port depends on what is asked.
    pub ip: IpAddr,
    /// The DNS hostname below a headless service, if the slice gives one.
    pub hostname: Option<Text>,
    /// Whether it takes traffic.
    pub readiness: Readiness,
    /// The zone it is in; `None` for an endpoint without a pod, whatever the slice says.
    pub zone: Option<Text>,
    /// The zones that should use it (`hints.forZones`), sorted; empty without hints.
    pub hint_zones: Vec<Text>,
    /// The nodes that should use it (`hints.forNodes`), sorted; empty without hints, and
    /// unless [`Settings::node_hints`](crate::Settings::node_hints) is on.
    pub hint_nodes: Vec<NodeName>,
    /// What stands behind the address.
    pub target: EndpointTarget,
}

/// What stands behind an address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum EndpointTarget {
    /// A pod of this cluster.
    Pod(Arc<Workload>),
    /// An address that names no object: a gateway, or a machine outside of the mesh.
    Address,
    /// A machine outside of the cluster that is part of the mesh.
    External(Arc<ExternalWorkload>),
}

/// Whether an endpoint takes traffic. Source: the `conditions` of a slice's endpoint.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Readiness {
    /// It does.
    Ready,
    /// It still serves while it terminates: the last resort when nothing is ready. In a
    /// slice's record only if [`Settings::serve_terminating`](crate::Settings::serve_terminating)
    /// is on, or for its hostname.
    Leaving,
    /// It does not. Kept only for its hostname: a pod's own DNS name resolves before the
    /// pod is ready.
    Unready,
}
