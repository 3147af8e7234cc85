//! What the installation fixes and answers depend on (C5).

use serde::{Deserialize, Serialize};

use crate::{Ports, Text};

/// Settings of the mesh.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The suffix of service names after `svc`.
    pub cluster_domain: Text,
    /// The namespace of the control plane.
    pub control_plane: Text,
    /// The suffix of identities; empty: no identities.
    pub trust_domain: Text,
    /// Opaque ports of workloads without an annotation.
    pub default_opaque: Ports,
    /// How meshed endpoints are reached.
    pub transport: Transport,
    /// Whether HTTP/2 is hinted between proxies.
    pub h2_upgrade: bool,
    /// Whether IPv6 addresses of pods are sent.
    pub ipv6: bool,
    /// Whether endpoints of the client's zone weigh ten times as much.
    pub zone_weights: bool,
    /// Keep-alive of HTTP/2 connections to meshed endpoints.
    pub http2: Option<KeepAlive>,
    /// Whether `hints.forNodes` counts.
    pub node_hints: bool,
    /// Whether endpoints that leave are the last resort.
    pub serve_leaving: bool,
    /// Whether a service that does not exist is answered as empty, not refused.
    pub answer_absent: bool,
}

/// How meshed endpoints are reached.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// At their own port, unless it is opaque.
    Transparent,
    /// Through the inbound port of their proxy.
    TransportHeader,
}

/// HTTP/2 keep-alive.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct KeepAlive {
    /// Unit: milliseconds.
    pub interval_ms: u64,
    /// Unit: milliseconds.
    pub timeout_ms: u64,
    /// Whether pings go on while no request is open.
    pub while_idle: bool,
}

impl Default for Settings {
    /// What the chart passes, but with IPv6.
    fn default() -> Self {
        Self {
            cluster_domain: "cluster.local".into(),
            control_plane: "linkerd".into(),
            trust_domain: "cluster.local".into(),
            default_opaque: [25, 587, 3306, 4444, 5432, 6379, 9300, 11211]
                .into_iter()
                .collect(),
            transport: Transport::TransportHeader,
            h2_upgrade: true,
            ipv6: true,
            zone_weights: false,
            http2: None,
            node_hints: false,
            serve_leaving: false,
            answer_absent: false,
        }
    }
}
