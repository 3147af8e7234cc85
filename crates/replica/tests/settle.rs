//! What a leader starts from after a proposal whose outcome it does not know.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use lockstep_position::Term;
use lockstep_raft::{Compaction, Config, Limits, Listen, PeerAddress, Timing};
use lockstep_replica::{Replica, ReplicaTasks, StalenessPolicy};
use lockstep_state::{Command, Propose, ProposeError, State};
use std::{
    net::TcpListener,
    path::Path,
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};
use tokio::runtime::{Builder, Handle};

const PATIENCE: Duration = Duration::from_secs(60);
/// Long enough for the leader to give up sending entries and to wait before it
/// tries again: then it hears that it still leads before the entries arrive.
const PAUSE: Duration = Duration::from_secs(3);

/// A replica on a thread of its own, so that it can be frozen as a paused process is.
struct Host {
    replica: Replica,
    on: Handle,
}

impl Host {
    fn start(config: Config) -> Self {
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
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
        Self { replica, on }
    }

    /// Nothing runs on the replica's thread until what is returned is dropped.
    fn freeze(&self) -> mpsc::Sender<()> {
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

fn group(folder: &Path) -> Vec<Host> {
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
        .map(|(at, address)| {
            Host::start(Config {
                cluster: "test".to_owned(),
                name: format!("replica-{at}"),
                data: folder.join(at.to_string()),
                listen: Listen::Address(address),
                peers: peers.clone(),
                timing: Timing::default(),
                compaction: Compaction::default(),
                limits: Limits::default(),
            })
        })
        .collect()
}

async fn eventually<T>(what: &str, mut attempt: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(value) = attempt().await {
            return value;
        }
        assert!(Instant::now() < deadline, "never {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn leader(hosts: &[Host]) -> (usize, Term) {
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

/// Proposes while nobody answers, gives up, and settles when they answer
/// again. `None` if the proposal was refused or the term ended meanwhile.
async fn given_up_then_settled(hosts: &[Host], node: &str) -> Option<Arc<State>> {
    let (leads, term) = leader(hosts).await;
    let proposer = hosts[leads].replica.proposer();
    let others = hosts.iter().enumerate().filter(|(at, _)| *at != leads);
    let frozen: Vec<_> = others.map(|(_, host)| host.freeze()).collect();
    let command = Command::PutNode(node.into(), "zone-a".into());
    let proposal = proposer.propose(term, vec![command]);
    let given_up = tokio::time::timeout(Duration::from_millis(50), proposal).await;
    let settling = tokio::spawn(async move {
        loop {
            match proposer.settle(term).await {
                Ok(state) => return Some(state),
                Err(ProposeError::NotLeader { .. } | ProposeError::Stopped) => return None,
                Err(ProposeError::OutcomeUnknown { .. } | ProposeError::TooLarge { .. }) => {}
            }
        }
    });
    tokio::time::sleep(PAUSE).await;
    drop(frozen);
    let settled = settling.await.unwrap();
    settled.filter(|_| given_up.is_err())
}

/// The next session computes what is missing from the state it starts from. A
/// batch that arrives behind its back would stay for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_given_up_in_the_same_term_is_in_the_state_that_the_next_session_starts_from() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = group(folder.path());
    for round in 0..2 {
        let node = format!("node-{round}");
        let state = eventually("a settled leader of the same term", async || {
            given_up_then_settled(&hosts, &node).await
        })
        .await;
        assert_eq!(
            state.content().zone(&node).map(AsRef::as_ref),
            Some("zone-a"),
            "round {round}"
        );
    }
}
