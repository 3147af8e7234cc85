//! Settings of the mesh that decide answers, the same on every replica.

use serde::{Deserialize, Serialize};

use crate::{PortSet, Text};

/// What the installation fixes and answers depend on.
///
/// Replicated through the log like everything else that decides an answer: two
/// replicas started with other flags would otherwise disagree at one revision.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Settings {
    /// The suffix of service names after `svc`; default `cluster.local`.
    pub cluster_domain: Text,
    /// The namespace of this control plane; default `linkerd`.
    pub control_plane: Text,
    /// The suffix of workload identities; default `cluster.local`. Empty: no identities.
    pub trust_domain: Text,
    /// Opaque ports of pods and services without an annotation; default
    /// `25,587,3306,4444,5432,6379,9300,11211`.
    pub default_opaque_ports: PortSet,
    /// Whether meshed endpoints are reached through their proxy's inbound port.
    pub transport_mode: TransportMode,
    /// Whether meshed endpoints are hinted to speak HTTP/2; default true.
    pub h2_upgrade: bool,
    /// Whether IPv6 addresses of pods are sent; default true.
    pub ipv6: bool,
    /// Whether endpoints in the client's zone weigh ten times as much; default false.
    pub zone_weights: bool,
    /// HTTP/2 parameters for clients of meshed endpoints; default none.
    pub meshed_http2: Option<Http2Params>,
    /// Whether hints for nodes (`hints.forNodes`) count before hints for zones; default
    /// false. Linkerd's controller passes over them.
    pub node_hints: bool,
    /// Whether endpoints that still serve while they terminate are the last resort when
    /// nothing is ready; default false. Linkerd's controller drops them.
    pub serve_terminating: bool,
    /// Whether a `Get` of a service that does not exist is answered as empty and stays open,
    /// instead of being refused; default false. Linkerd's controller refuses it, and a client
    /// that returns then keeps what it had.
    pub answer_absent: bool,
}

/// How clients reach meshed endpoints.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TransportMode {
    /// Straight to the application's port, unless it is opaque.
    Transparent,
    /// Through the proxy's inbound port, with a transport header.
    TransportHeader,
}

/// HTTP/2 parameters, as the proxy API's `Http2ClientParams`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Http2Params {
    /// Keep-alive pings, if any.
    pub keep_alive: Option<KeepAlive>,
}

/// HTTP/2 keep-alive.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct KeepAlive {
    /// Time between pings; milliseconds.
    pub interval_ms: u64,
    /// How long an answer may take; milliseconds.
    pub timeout_ms: u64,
    /// Whether pings go on while no request is open.
    pub while_idle: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            cluster_domain: "cluster.local".into(),
            control_plane: "linkerd".into(),
            trust_domain: "cluster.local".into(),
            default_opaque_ports: default_opaque_ports(),
            transport_mode: TransportMode::TransportHeader,
            h2_upgrade: true,
            ipv6: true,
            zone_weights: false,
            meshed_http2: None,
            node_hints: false,
            serve_terminating: false,
            answer_absent: false,
        }
    }
}

/// The list that Linkerd's chart ships.
fn default_opaque_ports() -> PortSet {
    [25, 587, 3306, 4444, 5432, 6379, 9300, 11211]
        .into_iter()
        .map(crate::PortRange::single)
        .collect()
}
