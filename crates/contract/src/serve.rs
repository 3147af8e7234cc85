//! A real server of a [`Board`] and real clients of it, over loopback sockets. What fails
//! here fails the test, by a panic.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "only tests use it, and a test fails by panicking"
)]

use linkerd2_proxy_api::destination::{
    DestinationProfile, GetDestination, Update, destination_client::DestinationClient,
};
use lockstep_destination::{DestinationService, Metrics, service};
use lockstep_state::Command;
use prometheus_client::registry::Registry;
use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use tokio::{net::TcpListener, sync::watch};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Streaming, transport::Channel};

use crate::board::Board;

/// Longer than any answer takes; a test that waits so long has failed.
pub const DEADLINE: Duration = Duration::from_secs(20);

/// The messages of a `Get` stream.
pub type Updates = Streaming<Update>;

/// The messages of a `GetProfile` stream.
pub type Profiles = Streaming<DestinationProfile>;

/// A server of one board.
pub struct Served {
    /// What it serves.
    pub board: Arc<Board>,
    /// Its metrics.
    pub registry: Arc<Mutex<Registry>>,
    address: SocketAddr,
    drain: watch::Sender<bool>,
}

impl Served {
    /// A server of a board that begins with these commands; call within a runtime.
    pub async fn with(commands: Vec<Command>) -> Self {
        Self::of(Board::with(commands)).await
    }

    /// A server of a board.
    pub async fn of(board: Arc<Board>) -> Self {
        let mut registry = Registry::default();
        let metrics = Metrics::registered(&mut registry);
        let (drain, mut drained) = watch::channel(false);
        let signal = async move {
            let _ = drained.wait_for(|it| *it).await;
        };
        let service: DestinationService<Board> = service(board.clone(), metrics, signal);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = tonic::transport::Server::builder().add_service(service);
        tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
        Self {
            board,
            registry: Arc::new(Mutex::new(registry)),
            address,
            drain,
        }
    }

    /// Ends every stream and refuses new ones.
    pub fn drain(&self) {
        self.drain.send_replace(true);
    }

    /// A client with a connection of its own.
    pub async fn client(&self) -> DestinationClient<Channel> {
        DestinationClient::new(self.channel().await)
    }

    /// A connection.
    pub async fn channel(&self) -> Channel {
        let endpoint = Channel::from_shared(format!("http://{}", self.address)).unwrap();
        endpoint.connect().await.unwrap()
    }

    /// The server's metrics as text.
    pub fn metrics(&self) -> String {
        let mut text = String::new();
        let registry = self.registry.lock().unwrap();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        text
    }

    /// How many messages all streams together have handed over to be written.
    pub fn messages(&self) -> u64 {
        let text = self.metrics();
        let lines = text.lines();
        let counts = lines.filter(|line| line.starts_with("lockstep_destination_messages_total{"));
        let number = |line: &str| {
            line.rsplit(' ')
                .next()
                .and_then(|it| it.parse::<u64>().ok())
        };
        counts.map(|line| number(line).expect("a count")).sum()
    }
}

/// A request for `path` with a context token.
#[must_use]
pub fn asking(path: &str, token: &str) -> GetDestination {
    GetDestination {
        scheme: "k8s".to_owned(),
        path: path.to_owned(),
        context_token: token.to_owned(),
    }
}

/// The output of a future that is ready before the deadline.
///
/// # Panics
///
/// When it is not.
pub async fn within<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(DEADLINE, future)
        .await
        .expect("in time")
}

/// Waits until something is so.
///
/// # Panics
///
/// When it is not before the deadline.
pub async fn until(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < DEADLINE, "not in time");
        tokio::task::yield_now().await;
    }
}

/// The next message of a stream that has one.
///
/// # Panics
///
/// When the stream has ended, or nothing comes before the deadline.
pub async fn next<T>(stream: &mut Streaming<T>) -> T {
    within(stream.message()).await.unwrap().expect("a message")
}
