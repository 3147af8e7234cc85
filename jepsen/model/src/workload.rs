//! What endpoints say of the workloads behind them.

use serde::{Deserialize, Serialize};

use crate::{Name, Ports, Text};

/// A pod, joined with the owner of its owner and with the Servers that select it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pod {
    /// Its name.
    pub name: Name,
    /// Who owns it, resolved by A8.11.
    pub owner: Owner,
    /// The node that it runs on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<Text>,
    /// Its service account; `default` if it names none.
    pub service_account: Text,
    /// Label `linkerd.io/control-plane-ns`, if not empty: then it is meshed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control_plane: Option<Text>,
    /// Label `pod-template-hash`, if not empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template_hash: Option<Text>,
    /// Annotation `config.linkerd.io/skip-inbound-ports`.
    #[serde(default)]
    pub skipped: Ports,
    /// Annotation `config.linkerd.io/opaque-ports`; none without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Ports>,
    /// Ports that Servers make opaque.
    #[serde(default)]
    pub opaque_by_server: Ports,
    /// Where its proxy listens.
    #[serde(default)]
    pub listeners: Listeners,
}

/// An owner as a metric label: `deployment="web"`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The label's key: a kind in lower case.
    pub label: Text,
    /// The owner's name.
    pub name: Text,
}

/// Ports that the container `linkerd-proxy` listens on; none where its environment does not
/// say so in a literal `ip:port`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listeners {
    /// `LINKERD2_PROXY_INBOUND_LISTEN_ADDR`.
    pub inbound: Option<u16>,
    /// `LINKERD2_PROXY_ADMIN_LISTEN_ADDR`.
    pub admin: Option<u16>,
    /// `LINKERD2_PROXY_CONTROL_LISTEN_ADDR`.
    pub control: Option<u16>,
}

/// A machine outside of the cluster that is part of the mesh.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct External {
    /// Its name.
    pub name: Name,
    /// Its only owner, if it has exactly one; kind in lower case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<Owner>,
    /// `spec.meshTLS.identity`.
    pub identity: Text,
    /// `spec.meshTLS.serverName`.
    pub server_name: Text,
    /// The port named `linkerd-proxy`, else 4143.
    pub inbound: u16,
    /// Annotation `config.linkerd.io/opaque-ports`; none without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opaque: Option<Ports>,
    /// Ports that Servers make opaque.
    #[serde(default)]
    pub opaque_by_server: Ports,
}
