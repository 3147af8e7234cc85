//! What is said of one address: the fields of `WeightedAddr` (A8).

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::{KeepAlive, Text};

/// Metric labels.
pub type Labels = BTreeMap<Text, Text>;

/// Everything that is said of one address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Described {
    /// In ten-thousandths of the default share.
    pub weight: u32,
    /// Labels of this address alone.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// The name to expect in its certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<Identity>,
    /// How to speak to it; an empty hint is not the same as none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<Hint>,
    /// The authority to ask it for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authority_override: Option<Text>,
    /// Keep-alive of connections to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub http2: Option<KeepAlive>,
}

/// The name in the certificate of whoever answers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Identity {
    /// `dns_like_identity`, perhaps with `server_name`.
    Dns {
        /// The identity.
        name: Text,
        /// The server name, empty if none is said.
        server_name: Text,
    },
    /// `uri_like_identity` with `server_name`.
    Uri {
        /// The identity.
        uri: Text,
        /// The server name, perhaps empty.
        server_name: Text,
    },
}

/// `protocol_hint`.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Hint {
    /// The protocol, if one is hinted.
    pub protocol: Option<Protocol>,
    /// `opaque_transport.inbound_port`.
    pub inbound_port: Option<u16>,
}

/// A hinted protocol.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// HTTP/2.
    H2,
    /// Unknown bytes.
    Opaque,
}
