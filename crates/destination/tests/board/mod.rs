//! A replica's view without a replica: a state in memory that is changed by
//! applying commands, and a server and a client over loopback sockets.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its part")]

pub mod mesh;

use futures::{FutureExt, Stream, future::BoxFuture, task::AtomicWaker};
use linkerd2_proxy_api::destination::{
    DestinationProfile, GetDestination, Update, destination_client::DestinationClient,
};
use lockstep_destination::{DestinationService, Metrics, service};
use lockstep_position::{HistoryId, LogId, ReplicaId, Term};
use lockstep_resolution::{About, Freshness, Topic, View, Wakes, wakes};
use lockstep_state::{Batch, Command, State};
use prometheus_client::registry::Registry;
use std::{
    pin::Pin,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};
use tokio::{net::TcpListener, sync::watch};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Streaming, transport::Channel};

/// Longer than any answer takes; a test that waits so long has failed.
pub const DEADLINE: Duration = Duration::from_secs(20);

/// The view of a replica that is not there.
pub struct Board {
    state: Mutex<Arc<State>>,
    watchers: Mutex<Vec<Weak<Watcher>>>,
    is_stale: AtomicBool,
    is_closed: AtomicBool,
    barrier: watch::Sender<bool>,
    barriers: AtomicUsize,
    before_subscribing: Mutex<Vec<Command>>,
}

struct Watcher {
    topics: Vec<Topic>,
    has_changed: AtomicBool,
    is_closed: AtomicBool,
    waker: AtomicWaker,
}

struct Watch(Arc<Watcher>);

impl Stream for Watch {
    type Item = ();

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<()>> {
        self.0.waker.register(context.waker());
        if self.0.is_closed.load(Ordering::SeqCst) {
            return Poll::Ready(None);
        }
        match self.0.has_changed.swap(false, Ordering::SeqCst) {
            true => Poll::Ready(Some(())),
            false => Poll::Pending,
        }
    }
}

impl Board {
    pub fn with(commands: Vec<Command>) -> Arc<Self> {
        let board = Arc::new(Self {
            state: Mutex::default(),
            watchers: Mutex::default(),
            is_stale: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
            barrier: watch::Sender::new(true),
            barriers: AtomicUsize::new(0),
            before_subscribing: Mutex::default(),
        });
        if !commands.is_empty() {
            board.change(vec![Command::OpenHistory(HistoryId::from_u128(0xabc))]);
            board.change(commands);
        }
        board
    }

    /// Applies commands as one batch and wakes whom they concern.
    pub fn change(&self, commands: Vec<Command>) {
        let changed = {
            let mut state = self.state.lock().unwrap();
            let mut next = State::clone(&state);
            let term = Term::from_u64(1);
            let index = next.position().applied.map_or(1, |last| last.index + 1);
            let applied = next.apply(LogId { term, index }, Batch::whole(term, commands));
            *state = Arc::new(next);
            applied.changed
        };
        self.each_watcher(|watcher| {
            if watcher.topics.iter().any(|topic| wakes(&changed, topic)) {
                watcher.has_changed.store(true, Ordering::SeqCst);
                watcher.waker.wake();
            }
        });
    }

    pub fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        self.each_watcher(|watcher| {
            watcher.is_closed.store(true, Ordering::SeqCst);
            watcher.waker.wake();
        });
    }

    pub fn set_stale(&self) {
        self.is_stale.store(true, Ordering::SeqCst);
    }

    /// From now on barriers wait, or pass.
    pub fn set_barrier(&self, is_passable: bool) {
        self.barrier.send_replace(is_passable);
    }

    /// Has a change come in just before the next stream is to be woken by one.
    pub fn change_before_subscribing(&self, commands: Vec<Command>) {
        *self.before_subscribing.lock().unwrap() = commands;
    }

    /// How many barriers were asked for.
    pub fn barriers(&self) -> usize {
        self.barriers.load(Ordering::SeqCst)
    }

    pub fn watchers(&self) -> usize {
        let mut count = 0;
        self.each_watcher(|_| count += 1);
        count
    }

    fn each_watcher(&self, mut visit: impl FnMut(&Watcher)) {
        let mut watchers = self.watchers.lock().unwrap();
        watchers.retain(|watcher| watcher.strong_count() > 0);
        for watcher in watchers.iter().filter_map(Weak::upgrade) {
            visit(&watcher);
        }
    }
}

impl View for Board {
    fn newest(&self) -> Arc<State> {
        self.state.lock().unwrap().clone()
    }

    fn subscribe(&self, topics: Vec<Topic>) -> Wakes {
        let commands = std::mem::take(&mut *self.before_subscribing.lock().unwrap());
        if !commands.is_empty() {
            self.change(commands);
        }
        let watcher = Arc::new(Watcher {
            topics,
            has_changed: AtomicBool::new(false),
            is_closed: AtomicBool::new(self.is_closed.load(Ordering::SeqCst)),
            waker: AtomicWaker::new(),
        });
        let mut watchers = self.watchers.lock().unwrap();
        watchers.push(Arc::downgrade(&watcher));
        Wakes::new(Watch(watcher))
    }

    fn barrier(&self) -> BoxFuture<'_, Freshness> {
        let mut passable = self.barrier.subscribe();
        self.barriers.fetch_add(1, Ordering::SeqCst);
        async move {
            let _ = passable.wait_for(|it| *it).await;
            match self.is_stale.load(Ordering::SeqCst) {
                true => Freshness::Stale,
                false => Freshness::Fresh,
            }
        }
        .boxed()
    }

    fn about(&self) -> About {
        About {
            replica: ReplicaId::from_u64(7),
            name: "lockstep-0".into(),
        }
    }
}

/// A server of one board.
pub struct Served {
    pub board: Arc<Board>,
    pub registry: Arc<Mutex<Registry>>,
    address: std::net::SocketAddr,
    drain: watch::Sender<bool>,
}

impl Served {
    pub async fn with(commands: Vec<Command>) -> Self {
        let board = Board::with(commands);
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

    pub fn drain(&self) {
        self.drain.send_replace(true);
    }

    /// A client with a connection of its own.
    pub async fn client(&self) -> DestinationClient<Channel> {
        DestinationClient::new(self.channel().await)
    }

    pub async fn channel(&self) -> Channel {
        let endpoint = Channel::from_shared(format!("http://{}", self.address)).unwrap();
        endpoint.connect().await.unwrap()
    }

    pub fn metrics(&self) -> String {
        let mut text = String::new();
        let registry = self.registry.lock().unwrap();
        prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
        text
    }
}

pub fn asking(path: &str, token: &str) -> GetDestination {
    GetDestination {
        scheme: "k8s".to_owned(),
        path: path.to_owned(),
        context_token: token.to_owned(),
    }
}

pub async fn within<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(DEADLINE, future)
        .await
        .expect("in time")
}

/// Waits until something is so.
pub async fn until(is_so: impl Fn() -> bool) {
    let begun = std::time::Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < DEADLINE, "not in time");
        tokio::task::yield_now().await;
    }
}

/// The next message of a stream that has one.
pub async fn next<T>(stream: &mut Streaming<T>) -> T {
    within(stream.message()).await.unwrap().expect("a message")
}

pub type Updates = Streaming<Update>;
pub type Profiles = Streaming<DestinationProfile>;
