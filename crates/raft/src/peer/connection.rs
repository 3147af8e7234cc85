//! Connections to peers: dialled when first used, by name, resolved at each dial.

use lockstep_position::ReplicaId;
use lockstep_proto::peer::v1::peer_client::PeerClient;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tonic::transport::{Channel, Endpoint};

use super::Address;
use crate::library::Member;
use crate::{Limits, PeerAddress};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
/// A peer that answers no ping this long is dialled anew.
const KEEPALIVE_INTERVAL: Duration = Duration::from_millis(1000);
const KEEPALIVE_TIMEOUT: Duration = Duration::from_millis(1000);
/// Room for a whole message in flight. Unit: bytes.
pub(super) const STREAM_WINDOW_BYTES: u32 = 4 << 20;
pub(super) const CONNECTION_WINDOW_BYTES: u32 = 8 << 20;

/// Which connection a call uses.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Lane {
    /// Small messages that must not wait: heartbeats, votes, reads.
    Quick,
    /// Entries.
    Entries,
    /// Snapshots.
    Snapshots,
}

/// Everybody that this replica can dial. A cheap handle.
#[derive(Clone)]
pub(crate) struct Peers {
    inner: Arc<Inner>,
}

struct Inner {
    address: Address,
    limits: Limits,
    /// Configured `host:port` by configured name.
    configured: BTreeMap<String, String>,
    channels: Mutex<BTreeMap<(String, Lane), Channel>>,
}

impl Peers {
    /// The configured peers, as seen from `address`.
    pub(crate) fn new(address: Address, limits: Limits, configured: &[PeerAddress]) -> Self {
        let configured = configured
            .iter()
            .map(|peer| (peer.name.clone(), peer.address.clone()))
            .collect();
        Self {
            inner: Arc::new(Inner {
                address,
                limits,
                configured,
                channels: Mutex::default(),
            }),
        }
    }

    /// Who this replica is.
    pub(crate) fn address(&self) -> &Address {
        &self.inner.address
    }

    /// What may be how large.
    pub(crate) fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// Where a member is dialled: the configured address counts, so that a
    /// changed one needs no change of membership.
    pub(crate) fn address_of<'a>(&'a self, member: &'a Member) -> &'a str {
        let configured = self.inner.configured.get(&member.name);
        configured.unwrap_or(&member.address)
    }

    /// A client for an address; no connection is made before its first call.
    ///
    /// `None` when the address is not a `host:port`.
    pub(crate) fn client(&self, address: &str, lane: Lane) -> Option<PeerClient<Channel>> {
        let channel = self.channel(address, lane)?;
        let bytes = self.inner.limits.message_bytes_max;
        Some(
            PeerClient::new(channel)
                .max_decoding_message_size(bytes)
                .max_encoding_message_size(bytes),
        )
    }

    fn channel(&self, address: &str, lane: Lane) -> Option<Channel> {
        let mut channels = self
            .inner
            .channels
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let key = (address.to_owned(), lane);
        if let Some(channel) = channels.get(&key) {
            return Some(channel.clone());
        }
        let endpoint = Endpoint::from_shared(format!("http://{address}")).ok()?;
        let channel = endpoint
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_nodelay(true)
            .http2_keep_alive_interval(KEEPALIVE_INTERVAL)
            .keep_alive_timeout(KEEPALIVE_TIMEOUT)
            .keep_alive_while_idle(true)
            .initial_stream_window_size(STREAM_WINDOW_BYTES)
            .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
            .connect_lazy();
        channels.insert(key, channel.clone());
        Some(channel)
    }

    /// A route from here to a replica; `None` when its id is not yet known.
    pub(crate) fn route_to(&self, to: Option<ReplicaId>) -> lockstep_proto::peer::v1::Route {
        self.inner.address.route_to(to)
    }
}
