//! A client that keeps what it holds from stream to stream, as a proxy does.

use linkerd2_proxy_api::destination::{
    GetDestination, Update, destination_client::DestinationClient,
};
use lockstep_contract::{
    fold::{Folded, HeldSet, Told, told_in_json},
    json,
};
use std::{collections::BTreeSet, net::SocketAddr};
use tokio::time::timeout;
use tonic::{Status, Streaming, transport::Channel};

use crate::harness::PATIENCE;

/// A message, without what the endpoints look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    Added(BTreeSet<SocketAddr>),
    Removed(BTreeSet<SocketAddr>),
    /// There are none.
    Empty {
        exists: bool,
    },
    Nothing,
}

impl From<&Update> for Said {
    fn from(update: &Update) -> Self {
        match told_in_json(&json::update(update)) {
            Told::Add { endpoints, .. } => {
                Self::Added(endpoints.into_iter().map(|it| it.0).collect())
            }
            Told::Remove(gone) => Self::Removed(gone.into_iter().collect()),
            Told::NoEndpoints { exists } => Self::Empty { exists },
            Told::Nothing => Self::Nothing,
        }
    }
}

/// A `Get` of one client: its question, its stream while one is open, and what it holds.
pub struct Listener {
    client: DestinationClient<Channel>,
    asks: GetDestination,
    updates: Option<Streaming<Update>>,
    folded: Folded,
}

impl Listener {
    /// Nothing is asked yet.
    pub fn new(channel: &Channel, path: &str, token: &str) -> Self {
        Self {
            client: DestinationClient::new(channel.clone()),
            asks: GetDestination {
                scheme: "k8s".to_owned(),
                path: path.to_owned(),
                context_token: token.to_owned(),
            },
            updates: None,
            folded: Folded::default(),
        }
    }

    /// Opens a stream, the first one or another.
    pub async fn open(&mut self) -> Result<(), Status> {
        self.folded.reconnect();
        let opened = self.client.get(self.asks.clone());
        let opened = timeout(PATIENCE, opened).await.unwrap();
        self.updates = Some(opened?.into_inner());
        Ok(())
    }

    /// Its stream is cut; it keeps what it holds.
    pub fn hang_up(&mut self) {
        self.updates = None;
    }

    /// Takes the next message, which must be one that a good server sends.
    pub async fn next(&mut self) -> Update {
        let updates = self.updates.as_mut().expect("an open stream");
        let message = timeout(PATIENCE, updates.message()).await;
        let message = message.unwrap_or_else(|_| {
            panic!(
                "no message for {}, which holds {:?}",
                self.asks.path,
                self.addresses()
            )
        });
        let update = message.unwrap().expect("a stream that stays open");
        self.folded.take(&update);
        let violations = self.folded.violations();
        assert_eq!(violations, [], "{} after {update:?}", self.asks.path);
        update
    }

    /// What it holds; `None` as long as it was never told.
    pub fn held(&self) -> Option<&HeldSet<linkerd2_proxy_api::destination::WeightedAddr>> {
        self.folded.set()
    }

    /// The addresses that it holds.
    pub fn addresses(&self) -> Option<BTreeSet<SocketAddr>> {
        Some(self.held()?.keys().copied().collect())
    }

    /// The identity by which it would know the endpoint at an address; empty if none.
    pub fn identity(&self, address: SocketAddr) -> Option<String> {
        use linkerd2_proxy_api::destination::tls_identity::Strategy;
        let endpoint = &self.held()?.get(&address)?.endpoint;
        let strategy = endpoint.tls_identity.clone().and_then(|it| it.strategy);
        Some(match strategy {
            Some(Strategy::DnsLikeIdentity(identity)) => identity.name,
            Some(Strategy::UriLikeIdentity(identity)) => identity.uri,
            None => String::new(),
        })
    }

    /// Whether it was told that the endpoint at an address is opaque.
    pub fn is_opaque(&self, address: SocketAddr) -> Option<bool> {
        use linkerd2_proxy_api::destination::protocol_hint::Protocol;
        let endpoint = &self.held()?.get(&address)?.endpoint;
        let hint = endpoint.protocol_hint.as_ref();
        let protocol = hint.and_then(|it| it.protocol.as_ref());
        Some(matches!(protocol, Some(Protocol::Opaque(_))))
    }
}
