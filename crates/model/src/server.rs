//! Policy `Server` objects, as far as they make ports opaque.

use serde::{Deserialize, Serialize};

use crate::{LabelSelector, Text};

/// A `policy.linkerd.io` Server with `proxyProtocol: opaque`; any other one says
/// nothing that an answer depends on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ServerFact {
    /// Which pods of its namespace it is about; `None`: no pod.
    pub pods: Option<LabelSelector>,
    /// Which external workloads of its namespace it is about; `None`: none.
    pub external_workloads: Option<LabelSelector>,
    /// Which of their ports.
    pub port: ServerPort,
}

/// The port of a Server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ServerPort {
    /// This one.
    Number(u16),
    /// The one with this name, on each workload: a container port with the host port
    /// that leads to it, or a port of an external workload.
    Name(Text),
}
