//! Asks as a proxy does and folds what it is told by the proxy's rules.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context as _;
use linkerd2_proxy_api::destination::{
    GetDestination, Update, destination_client::DestinationClient,
};
use lockstep_contract::fold::{Folded, Violation};
use tokio::time::timeout;
use tonic::Streaming;
use tonic::transport::{Channel, Endpoint};

/// How long opening may take.
const LIMIT: Duration = Duration::from_secs(5);

/// A connection to one replica, which is made anew when it breaks.
#[derive(Clone, Debug)]
pub(crate) struct Proxy {
    client: DestinationClient<Channel>,
}

/// An open stream and what it has told so far.
pub(crate) struct Stream {
    updates: Streaming<Update>,
    folded: Folded,
}

// === impl Proxy ===

impl Proxy {
    /// Must be called in the room from which the port can be reached.
    ///
    /// # Errors
    ///
    /// Never, for a socket address.
    pub(crate) fn new(address: SocketAddr) -> anyhow::Result<Self> {
        let endpoint = Endpoint::from_shared(format!("http://{address}"))?;
        let channel = endpoint.connect_timeout(LIMIT).connect_lazy();
        Ok(Self {
            client: DestinationClient::new(channel),
        })
    }

    /// Opens a stream.
    ///
    /// # Errors
    ///
    /// When the replica refuses, or does not answer in time.
    pub(crate) async fn open(&self, authority: &str) -> anyhow::Result<Stream> {
        let question = GetDestination {
            scheme: "k8s".to_owned(),
            path: authority.to_owned(),
            context_token: String::new(),
        };
        let mut client = self.client.clone();
        let opened = timeout(LIMIT, client.get(question)).await;
        Ok(Stream {
            updates: opened.context("no stream in time")??.into_inner(),
            folded: Folded::default(),
        })
    }

    /// The whole answer: the first message of a new stream.
    ///
    /// # Errors
    ///
    /// As [`Self::open`], and when no message comes in time.
    pub(crate) async fn get(&self, authority: &str) -> anyhow::Result<BTreeSet<SocketAddr>> {
        let mut stream = self.open(authority).await?;
        let next = timeout(LIMIT, stream.next()).await;
        next.context("no first message in time")??;
        Ok(stream.held())
    }
}

// === impl Stream ===

impl Stream {
    /// Takes the next message.
    ///
    /// # Errors
    ///
    /// When the stream ends, which it does only because something broke.
    pub(crate) async fn next(&mut self) -> anyhow::Result<()> {
        let message = self.updates.message().await?;
        self.folded.take(&message.context("the stream ended")?);
        Ok(())
    }

    /// The addresses that the client holds.
    pub(crate) fn held(&self) -> BTreeSet<SocketAddr> {
        let set = self.folded.set();
        set.map(|set| set.keys().copied().collect())
            .unwrap_or_default()
    }

    /// What a good server never sends, of what it sent.
    pub(crate) fn violations(&self) -> &[Violation] {
        self.folded.violations()
    }
}
