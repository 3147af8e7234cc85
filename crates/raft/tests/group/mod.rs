//! A group of replicas in one process: real sockets, real disk, a register as the machine.

#![allow(dead_code, reason = "each test file uses a part of it")]

pub(crate) mod links;

use bytes::Bytes;
use links::Links;
use lockstep_position::{HistoryId, LogId, ReplicaId, Term};
use lockstep_raft::{
    Compaction, Config, Fatal, Image, InstallError, Limits, Listen, Machine, MembersChange,
    MembersError, Node, NodeTasks, PeerAddress, ProposeError, Role, StartError, Timing, Voice,
};
use std::collections::BTreeSet;
use std::future::Future;
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

/// How long anything may take on a busy machine before a test gives up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// What a register holds: every value that was ever written, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) last: Option<LogId>,
    pub(crate) values: Vec<Vec<u8>>,
}

/// A machine that remembers all that was written to it.
#[derive(Default)]
pub(crate) struct Register {
    state: Written,
    published: Arc<Mutex<Written>>,
}

impl Machine for Register {
    fn apply(&mut self, log_id: LogId, payload: &[u8]) -> Vec<u8> {
        self.state.last = Some(log_id);
        self.state.values.push(payload.to_vec());
        (self.state.values.len() as u64).to_be_bytes().to_vec()
    }

    fn skip(&mut self, log_id: LogId) {
        self.state.last = Some(log_id);
    }

    fn publish(&mut self) {
        *self.published.lock().unwrap() = self.state.clone();
    }

    fn image(&self) -> Box<dyn Image> {
        Box::new(RegisterImage(self.state.clone()))
    }

    fn install(&mut self, image: &mut dyn Read) -> Result<Option<LogId>, InstallError> {
        let mut bytes = Vec::new();
        image.read_to_end(&mut bytes).map_err(InstallError::Read)?;
        self.state = decode(&bytes).ok_or_else(|| InstallError::Invalid {
            reason: "not a register".to_owned(),
        })?;
        Ok(self.state.last)
    }
}

struct RegisterImage(Written);

impl Image for RegisterImage {
    fn write(self: Box<Self>, out: &mut dyn Write) -> io::Result<()> {
        let last = self.0.last.unwrap();
        out.write_all(&last.term.as_u64().to_be_bytes())?;
        out.write_all(&last.index.to_be_bytes())?;
        for value in &self.0.values {
            out.write_all(&(value.len() as u64).to_be_bytes())?;
            out.write_all(value)?;
        }
        Ok(())
    }
}

fn decode(mut bytes: &[u8]) -> Option<Written> {
    let number = |bytes: &mut &[u8]| {
        let (head, rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        Some(u64::from_be_bytes(*head))
    };
    let term = Term::from_u64(number(&mut bytes)?);
    let index = number(&mut bytes)?;
    let mut values = Vec::new();
    while !bytes.is_empty() {
        let length = usize::try_from(number(&mut bytes)?).ok()?;
        let (value, rest) = bytes.split_at_checked(length)?;
        values.push(value.to_vec());
        bytes = rest;
    }
    Some(Written {
        last: Some(LogId { term, index }),
        values,
    })
}

/// One replica that runs.
pub(crate) struct Running {
    pub(crate) node: Node,
    pub(crate) tasks: NodeTasks,
    pub(crate) published: Arc<Mutex<Written>>,
}

impl Running {
    pub(crate) fn written(&self) -> Written {
        self.published.lock().unwrap().clone()
    }

    pub(crate) async fn stop(self) -> Result<(), Fatal> {
        self.node.shutdown().await;
        self.tasks.finished().await
    }
}

/// A group: its addresses and folders, and whoever runs of it.
pub(crate) struct Group {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) peers: Vec<PeerAddress>,
    pub(crate) listen: Vec<SocketAddr>,
    pub(crate) replicas: Vec<Option<Running>>,
    /// How many of the peers replicas are told of when they start.
    pub(crate) configured: usize,
    pub(crate) compaction: Compaction,
    pub(crate) limits: Limits,
    /// Between the replicas, if they are to be cut off from each other.
    pub(crate) links: Option<Links>,
}

impl Group {
    /// The names that each replica is told when it starts: the first `size`.
    pub(crate) fn configure(&mut self, size: usize) {
        self.configured = size;
    }

    /// A group of `size` replicas, all started.
    pub(crate) async fn start(size: usize) -> Self {
        Self::start_with(size, Compaction::default(), Limits::default()).await
    }

    pub(crate) async fn start_with(size: usize, compaction: Compaction, limits: Limits) -> Self {
        let mut group = Self::prepare(size, compaction, limits).await;
        for at in 0..size {
            group.start_one(at).await.unwrap();
        }
        group
    }

    /// The addresses and folders of a group; nobody runs yet.
    pub(crate) async fn prepare(size: usize, compaction: Compaction, limits: Limits) -> Self {
        let mut listen = Vec::new();
        for _ in 0..size {
            listen.push(free_address().await);
        }
        let peer = |(at, address): (usize, &SocketAddr)| PeerAddress {
            name: format!("replica-{}", at + 1),
            address: address.to_string(),
        };
        Self {
            folder: tempfile::tempdir().unwrap(),
            peers: listen.iter().enumerate().map(peer).collect(),
            listen,
            replicas: (0..size).map(|_| None).collect(),
            configured: size,
            compaction,
            limits,
            links: None,
        }
    }

    /// From the next start on, every replica listens elsewhere.
    pub(crate) async fn move_to_new_addresses(&mut self) {
        for at in 0..self.listen.len() {
            self.listen[at] = free_address().await;
            self.peers[at].address = self.listen[at].to_string();
        }
    }

    /// From the next start on, two replicas listen where the other one did.
    pub(crate) fn exchange_addresses(&mut self, one: usize, other: usize) {
        self.listen.swap(one, other);
        for at in [one, other] {
            self.peers[at].address = self.listen[at].to_string();
        }
    }

    pub(crate) fn data(&self, at: usize) -> PathBuf {
        self.folder.path().join(&self.peers[at].name)
    }

    pub(crate) fn config(&self, at: usize) -> Config {
        let mut peers = match &self.links {
            Some(links) => links.seen_from(at, &self.peers),
            None => self.peers.clone(),
        };
        peers.truncate(self.configured);
        Config {
            cluster: "prod".to_owned(),
            name: self.peers[at].name.clone(),
            data: self.data(at),
            listen: Listen::Address(self.listen[at]),
            peers,
            timing: Timing::default(),
            compaction: self.compaction,
            limits: self.limits,
        }
    }

    pub(crate) async fn start_one(&mut self, at: usize) -> Result<(), StartError> {
        let running = start(self.config(at)).await?;
        self.replicas[at] = Some(running);
        Ok(())
    }

    pub(crate) async fn stop_one(&mut self, at: usize) {
        let running = self.replicas[at].take().unwrap();
        running.stop().await.unwrap();
    }

    pub(crate) fn running(&self) -> impl Iterator<Item = (usize, &Running)> {
        let running = self.replicas.iter().enumerate();
        running.filter_map(|(at, replica)| replica.as_ref().map(|replica| (at, replica)))
    }

    pub(crate) fn replica(&self, at: usize) -> &Running {
        self.replicas[at].as_ref().unwrap()
    }

    /// Waits for a leader that a quorum confirms; its place and term.
    pub(crate) async fn leader(&self) -> (usize, Term) {
        eventually("a leader", || async {
            for (at, replica) in self.running() {
                let role = *replica.node.role().borrow();
                if let Role::Leader { term } = role
                    && replica
                        .node
                        .barrier(Duration::from_millis(500))
                        .await
                        .is_ok()
                {
                    return Some((at, term));
                }
            }
            None
        })
        .await
    }

    /// Proposes at whoever leads until it is committed; repeats only what was surely not done.
    pub(crate) async fn write(&self, value: impl Into<Bytes>) -> LogId {
        let value = value.into();
        loop {
            let (at, term) = self.leader().await;
            match self.replica(at).node.propose(term, value.clone()).await {
                Ok(committed) => return committed.log_id,
                Err(ProposeError::NotLeader { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Notes the history on all that run, as whoever applies its first entry does.
    pub(crate) async fn remember_history(&self) {
        for (_, replica) in self.running() {
            let history = HistoryId::from_u128(7);
            replica.node.remember_history(history).await.unwrap();
        }
    }

    /// Changes the members at whoever leads.
    pub(crate) async fn change(&self, change: &MembersChange) -> Result<String, MembersError> {
        let (leader, _) = self.leader().await;
        self.replica(leader).node.change_members(change).await
    }

    /// Waits until a replica has ended by itself; why.
    pub(crate) async fn ended(&mut self, at: usize) -> Fatal {
        let running = self.replicas[at].take().unwrap();
        let finished = tokio::time::timeout(PATIENCE, running.tasks.finished());
        finished.await.unwrap().unwrap_err()
    }

    /// The name of the replica at a place.
    pub(crate) fn name(&self, at: usize) -> String {
        self.peers[at].name.clone()
    }

    /// The ids of all that run.
    pub(crate) fn ids(&self) -> BTreeSet<ReplicaId> {
        self.running().map(|(_, it)| it.node.id()).collect()
    }

    /// Waits until all that run hold the same, up to `log_id` at least.
    pub(crate) async fn agree(&self, log_id: LogId) -> Written {
        let all: Vec<usize> = self.running().map(|(at, _)| at).collect();
        self.agree_among(&all, log_id).await
    }

    /// Waits until some of those that run hold the same, up to `log_id` at least.
    pub(crate) async fn agree_among(&self, places: &[usize], log_id: LogId) -> Written {
        eventually("replicas to agree", || async {
            let states: Vec<Written> = places
                .iter()
                .map(|at| self.replica(*at).written())
                .collect();
            let first = states.first()?.clone();
            let same = states.iter().all(|state| *state == first);
            (same && first.last >= Some(log_id)).then_some(first)
        })
        .await
    }
}

/// An address of loopback that nobody listens on, and that no connection takes by
/// chance: the ports that systems give to connections begin at 32,768.
async fn free_address() -> SocketAddr {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let own = u16::try_from(std::process::id() % 2_000).unwrap() * 10;
    loop {
        let port = 12_000 + (own + NEXT.fetch_add(1, Ordering::Relaxed)) % 20_000;
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        if TcpListener::bind(address).await.is_ok() {
            return address;
        }
    }
}

/// Starts one replica with a fresh register.
pub(crate) async fn start(config: Config) -> Result<Running, StartError> {
    let register = Register::default();
    let published = Arc::clone(&register.published);
    let shown = Arc::clone(&published);
    let probe = Arc::new(move || {
        let values = shown.lock().unwrap().values.len() as u64;
        values.to_be_bytes().to_vec()
    });
    let voice = Voice {
        probe,
        standing: Arc::new(|question| [b"answer to ", question].concat()),
    };
    let (node, tasks) = Node::start(config, register, voice).await?;
    Ok(Running {
        node,
        tasks,
        published,
    })
}

/// Polls until there is an answer, or gives up.
pub(crate) async fn eventually<T, F>(what: &str, mut ask: impl FnMut() -> F) -> T
where
    F: Future<Output = Option<T>>,
{
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(Instant::now() < deadline, "gave up waiting for {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Waits until every running replica knows exactly these voters and nobody else.
pub(crate) async fn settled(group: &Group, voters: &BTreeSet<ReplicaId>) {
    let all: Vec<usize> = group.running().map(|(at, _)| at).collect();
    settled_among(group, &all, voters).await;
}

/// Waits until these replicas know exactly these voters and nobody else.
pub(crate) async fn settled_among(group: &Group, places: &[usize], voters: &BTreeSet<ReplicaId>) {
    eventually("the members to be the same everywhere", || async {
        let is_settled = places.iter().all(|at| {
            let replica = group.replica(*at);
            let members = replica.node.status().members;
            members.iter().all(|member| member.voter)
                && members
                    .iter()
                    .map(|member| member.id)
                    .collect::<BTreeSet<_>>()
                    == *voters
        });
        is_settled.then_some(())
    })
    .await;
}

/// An error and its sources, in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let sources = std::iter::successors(error.source(), |source| source.source());
    sources.fold(error.to_string(), |text, source| {
        format!("{text}: {source}")
    })
}

/// Flips one byte of a file.
pub(crate) fn flip(path: &Path, place: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[place] ^= 0x40;
    std::fs::write(path, bytes).unwrap();
}
