//! Measures proposals on three replicas in one process: loopback sockets, real disk.
//!
//! `cargo run --release -p lockstep-raft --example latency [folder]`

#![allow(clippy::print_stdout, reason = "a measurement prints")]

use bytes::Bytes;
use lockstep_position::{LogId, Term};
use lockstep_raft::{
    Compaction, Config, Image, InstallError, Limits, Listen, Machine, Node, PeerAddress, Timing,
    Voice,
};
use std::error::Error;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

const ENTRY_BYTES: usize = 512;
const ALONE: usize = 3_000;
const TOGETHER: usize = 300;

#[derive(Default)]
struct Counter(Option<LogId>);

impl Machine for Counter {
    fn apply(&mut self, log_id: LogId, _payload: &[u8]) -> Vec<u8> {
        self.0 = Some(log_id);
        Vec::new()
    }

    fn skip(&mut self, log_id: LogId) {
        self.0 = Some(log_id);
    }

    fn publish(&mut self) {}

    fn image(&self) -> Box<dyn Image> {
        Box::new(CounterImage(self.0))
    }

    fn install(&mut self, image: &mut dyn Read) -> Result<Option<LogId>, InstallError> {
        let mut bytes = [0; 16];
        image.read_exact(&mut bytes).map_err(InstallError::Read)?;
        let (term, index) = bytes.split_at(8);
        let number = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_be_bytes);
        self.0 = Some(LogId {
            term: Term::from_u64(number(term)),
            index: number(index),
        });
        Ok(self.0)
    }
}

struct CounterImage(Option<LogId>);

impl Image for CounterImage {
    fn write(self: Box<Self>, out: &mut dyn Write) -> io::Result<()> {
        let (term, index) = self
            .0
            .map_or((0, 0), |last| (last.term.as_u64(), last.index));
        out.write_all(&term.to_be_bytes())?;
        out.write_all(&index.to_be_bytes())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = match std::env::args().nth(1) {
        Some(folder) => tempfile::tempdir_in(folder)?,
        None => tempfile::tempdir()?,
    };
    let nodes = start(folder.path()).await?;
    let (leader, term) = leader(&nodes).await;
    alone(&nodes, leader, term).await?;
    for clients in [16, 64, 256] {
        together(&nodes[leader], term, clients).await?;
    }
    reads(&nodes[(leader + 1) % nodes.len()]).await?;
    for node in nodes {
        node.shutdown().await;
    }
    Ok(())
}

async fn start(folder: &Path) -> Result<Vec<Node>, Box<dyn Error>> {
    let mut listeners = Vec::new();
    let mut peers = Vec::new();
    for at in 0..3 {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        peers.push(PeerAddress {
            name: format!("replica-{at}"),
            address: listener.local_addr()?.to_string(),
        });
        listeners.push(listener);
    }
    let mut nodes = Vec::new();
    for (peer, listener) in peers.iter().zip(listeners) {
        let config = Config {
            cluster: "latency".to_owned(),
            name: peer.name.clone(),
            data: folder.join(&peer.name),
            listen: Listen::Bound(listener),
            peers: peers.clone(),
            timing: Timing::default(),
            compaction: Compaction::default(),
            limits: Limits::default(),
        };
        let (node, _tasks) = Node::start(config, Counter::default(), Voice::silent()).await?;
        nodes.push(node);
    }
    Ok(nodes)
}

async fn leader(nodes: &[Node]) -> (usize, Term) {
    loop {
        for (at, node) in nodes.iter().enumerate() {
            let leading = node.role().borrow().leading();
            if let Some(term) = leading
                && node.barrier(Duration::from_millis(500)).await.is_ok()
            {
                return (at, term);
            }
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn alone(nodes: &[Node], leader: usize, term: Term) -> Result<(), Box<dyn Error>> {
    let payload = Bytes::from(vec![7; ENTRY_BYTES]);
    let mut follower = nodes[(leader + 1) % nodes.len()].applied();
    let (mut committed_after, mut followed_after) = (Vec::new(), Vec::new());
    for _ in 0..ALONE {
        let begun = Instant::now();
        let committed = nodes[leader].propose(term, payload.clone()).await?;
        committed_after.push(begun.elapsed());
        follower
            .wait_for(|applied| *applied >= Some(committed.log_id))
            .await?;
        followed_after.push(begun.elapsed());
    }
    report("1 client: committed", committed_after);
    report("1 client: applied on a follower", followed_after);
    Ok(())
}

async fn together(node: &Node, term: Term, clients: usize) -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    let tasks = (0..clients).map(|_| {
        let node = node.clone();
        tokio::spawn(async move {
            let payload = Bytes::from(vec![7; ENTRY_BYTES]);
            let mut times = Vec::new();
            for _ in 0..TOGETHER {
                let begun = Instant::now();
                if node.propose(term, payload.clone()).await.is_ok() {
                    times.push(begun.elapsed());
                }
            }
            times
        })
    });
    let mut times = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        times.extend(task.await?);
    }
    let per_second = times.len() as f64 / begun.elapsed().as_secs_f64();
    report(
        &format!("{clients} clients, {per_second:.0}/s: committed"),
        times,
    );
    Ok(())
}

async fn reads(node: &Node) -> Result<(), Box<dyn Error>> {
    let mut times = Vec::new();
    for _ in 0..1_000 {
        let begun = Instant::now();
        node.barrier(Duration::from_millis(500)).await?;
        times.push(begun.elapsed());
    }
    report("barrier on a follower", times);
    Ok(())
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |part: usize| {
        times
            .get(times.len() * part / 1_000)
            .copied()
            .unwrap_or_default()
    };
    println!(
        "{what}: p10 {:?}, p50 {:?}, p99 {:?}, most {:?}",
        at(100),
        at(500),
        at(990),
        times.last().copied().unwrap_or_default()
    );
}
