//! One address that can serve a target.

use serde::{Deserialize, Serialize};
use std::{net::IpAddr, sync::Arc};

use crate::{Text, Workload};

/// One address of a slice, joined with the pod behind it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Endpoint {
    /// The address; the port depends on what is asked.
    pub ip: IpAddr,
    /// The DNS hostname below a headless service, if the slice gives one.
    pub hostname: Option<Text>,
    /// Whether it takes traffic. An endpoint that does not is kept only for its
    /// hostname: a pod's own DNS name resolves before the pod is ready.
    pub ready: bool,
    /// The zone it is in; `None` for an endpoint without a pod, whatever the slice says.
    pub zone: Option<Text>,
    /// The zones that should use it (`hints.forZones`), sorted; empty without hints.
    pub hint_zones: Vec<Text>,
    /// What stands behind the address.
    pub target: EndpointTarget,
}

/// What stands behind an address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum EndpointTarget {
    /// A pod of this cluster.
    Pod(Arc<Workload>),
    /// An address that names no object: a gateway, or an external machine.
    Address,
}
