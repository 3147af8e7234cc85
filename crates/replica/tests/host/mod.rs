//! Three replicas in one process, each on a thread of its own.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "each test file uses its part"
)]

use lockstep_position::Term;
use lockstep_raft::{Compaction, Config, Limits, Listen, PeerAddress, Timing};
use lockstep_replica::{Replica, ReplicaEnd, ReplicaTasks, StalenessPolicy};
use lockstep_state::Propose;
use std::{
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    sync::mpsc,
    thread::JoinHandle,
    time::{Duration, Instant},
};
use tokio::runtime::{Builder, Handle};

pub const CLUSTER: &str = "test";

const PATIENCE: Duration = Duration::from_secs(60);

/// A replica on a thread of its own, so that it can be frozen as a paused process is.
pub struct Host {
    pub replica: Replica,
    on: Handle,
    ended: JoinHandle<Result<(), ReplicaEnd>>,
}

impl Host {
    fn start(config: Config) -> Self {
        let (sender, receiver) = mpsc::channel();
        let ended = std::thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let (replica, tasks): (Replica, ReplicaTasks) =
                    Replica::start(config, StalenessPolicy::default())
                        .await
                        .unwrap();
                sender.send((replica, Handle::current())).unwrap();
                tasks.finished().await
            })
        });
        let (replica, on) = receiver.recv().unwrap();
        Self { replica, on, ended }
    }

    /// Whether it has ended, by itself or not.
    pub fn has_ended(&self) -> bool {
        self.ended.is_finished()
    }

    /// Waits for its end, and says why it ended.
    pub fn end(self) -> Result<(), ReplicaEnd> {
        self.ended.join().unwrap()
    }

    /// Stops it; its folder is free afterwards.
    pub async fn stop(self) {
        self.replica.shutdown().await;
        self.ended.join().unwrap().unwrap();
    }

    /// Nothing runs on the replica's thread until what is returned is dropped.
    pub fn freeze(&self) -> mpsc::Sender<()> {
        let (thaw, thawed) = mpsc::channel::<()>();
        let (stopped, stops) = mpsc::channel();
        self.on.spawn(async move {
            stopped.send(()).unwrap();
            thawed.recv().unwrap_err();
        });
        stops.recv().unwrap();
        thaw
    }
}

pub fn group(folder: &Path) -> Vec<Host> {
    seats(folder).iter().map(Seat::start).collect()
}

/// What a replica of a group starts with, as often as it does.
#[derive(Clone)]
pub struct Seat {
    pub name: String,
    pub data: PathBuf,
    pub timing: Timing,
    address: SocketAddr,
    peers: Vec<PeerAddress>,
}

impl Seat {
    pub fn start(&self) -> Host {
        Host::start(Config {
            cluster: CLUSTER.to_owned(),
            name: self.name.clone(),
            data: self.data.clone(),
            listen: Listen::Address(self.address),
            peers: self.peers.clone(),
            timing: self.timing,
            compaction: Compaction::default(),
            limits: Limits::default(),
        })
    }
}

/// The seats of three replicas.
pub fn seats(folder: &Path) -> Vec<Seat> {
    let bound: Vec<TcpListener> = (0..3)
        .map(|_| TcpListener::bind("127.0.0.1:0").unwrap())
        .collect();
    let peers: Vec<PeerAddress> = bound
        .iter()
        .enumerate()
        .map(|(at, bound)| PeerAddress {
            name: format!("replica-{at}"),
            address: bound.local_addr().unwrap().to_string(),
        })
        .collect();
    let listen: Vec<_> = bound
        .iter()
        .map(|bound| bound.local_addr().unwrap())
        .collect();
    drop(bound);
    listen
        .into_iter()
        .enumerate()
        .map(|(at, address)| Seat {
            name: format!("replica-{at}"),
            data: folder.join(at.to_string()),
            timing: Timing::default(),
            address,
            peers: peers.clone(),
        })
        .collect()
}

pub async fn eventually<T>(what: &str, mut attempt: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(value) = attempt().await {
            return value;
        }
        assert!(Instant::now() < deadline, "never {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub async fn leader(hosts: &[Host]) -> (usize, Term) {
    eventually("one leader that is ready", async || {
        for (at, host) in hosts.iter().enumerate() {
            let leading = host.replica.role().borrow().leading();
            if let Some(term) = leading
                && host.replica.proposer().settle(term).await.is_ok()
            {
                return Some((at, term));
            }
        }
        None
    })
    .await
}
