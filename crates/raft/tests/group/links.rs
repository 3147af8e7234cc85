//! Links between replicas that can be muted: bytes stop, connections stay open.

use lockstep_raft::PeerAddress;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// One link for each ordered pair of replicas.
pub(crate) struct Links {
    /// `[from][to]`; the entry of a replica to itself is its own address.
    addresses: Vec<Vec<SocketAddr>>,
    /// Whether requests are held back.
    muted: Vec<Vec<watch::Sender<bool>>>,
    /// How many bytes of requests may still pass; without a number as many as there are.
    passing: Vec<Vec<watch::Sender<Option<usize>>>>,
    /// Whether answers are.
    unheard: Vec<Vec<watch::Sender<bool>>>,
}

impl Links {
    /// Links between replicas that listen at these addresses.
    pub(crate) async fn between(listen: &[SocketAddr]) -> Self {
        let mut links = Self {
            addresses: Vec::new(),
            muted: Vec::new(),
            passing: Vec::new(),
            unheard: Vec::new(),
        };
        for from in 0..listen.len() {
            let (mut addresses, mut muted, mut unheard) = (Vec::new(), Vec::new(), Vec::new());
            let mut passing = Vec::new();
            for (to, target) in listen.iter().enumerate() {
                let requests = Gate::default();
                let answers = Gate::default();
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let own = from == to;
                let address = if own {
                    *target
                } else {
                    listener.local_addr().unwrap()
                };
                addresses.push(address);
                muted.push(requests.muted.clone());
                passing.push(requests.passing.clone());
                unheard.push(answers.muted.clone());
                tokio::spawn(forward(listener, *target, requests, answers));
            }
            links.addresses.push(addresses);
            links.muted.push(muted);
            links.passing.push(passing);
            links.unheard.push(unheard);
        }
        links
    }

    /// The peers as one replica dials them.
    pub(crate) fn seen_from(&self, from: usize, peers: &[PeerAddress]) -> Vec<PeerAddress> {
        let seen = peers.iter().zip(&self.addresses[from]);
        seen.map(|(peer, address)| PeerAddress {
            name: peer.name.clone(),
            address: address.to_string(),
        })
        .collect()
    }

    /// Stops, or lets through, everything between two replicas.
    pub(crate) fn set_apart(&self, one: usize, other: usize, apart: bool) {
        self.muted[one][other].send_replace(apart);
        self.muted[other][one].send_replace(apart);
    }

    /// Stops, or lets through, everything between a replica and all others.
    pub(crate) fn set_isolated(&self, replica: usize, isolated: bool) {
        for other in 0..self.muted.len() {
            for gates in [&self.muted, &self.unheard] {
                gates[replica][other].send_replace(isolated);
                gates[other][replica].send_replace(isolated);
            }
        }
    }

    /// Holds requests back once this many more bytes of them have passed; whether it does.
    pub(crate) fn mute_after(&self, from: usize, to: usize, bytes: usize) -> watch::Receiver<bool> {
        self.passing[from][to].send_replace(Some(bytes));
        self.muted[from][to].subscribe()
    }

    /// Lets what a replica asks arrive, and nothing of what it is answered.
    pub(crate) fn set_deaf(&self, replica: usize, deaf: bool) {
        for gate in &self.unheard[replica] {
            gate.send_replace(deaf);
        }
    }
}

/// What stands in the way of one direction of a link.
#[derive(Clone, Default)]
struct Gate {
    muted: watch::Sender<bool>,
    passing: watch::Sender<Option<usize>>,
}

impl Gate {
    /// Counts bytes that are about to pass, and shuts behind the last one.
    fn count(&self, bytes: usize) {
        let mut left = None;
        self.passing.send_modify(|passing| {
            *passing = passing.map(|left| left.saturating_sub(bytes));
            left = *passing;
        });
        if left == Some(0) {
            self.muted.send_replace(true);
        }
    }
}

async fn forward(listener: TcpListener, target: SocketAddr, requests: Gate, answers: Gate) {
    while let Ok((near, _)) = listener.accept().await {
        let (requests, answers) = (requests.clone(), answers.clone());
        tokio::spawn(async move {
            if let Ok(far) = TcpStream::connect(target).await {
                let (near_read, near_write) = near.into_split();
                let (far_read, far_write) = far.into_split();
                tokio::spawn(pump(near_read, far_write, requests));
                tokio::spawn(pump(far_read, near_write, answers));
            }
        });
    }
}

/// Copies bytes while the link is open; what is in flight when it is muted arrives later.
async fn pump(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, gate: Gate) {
    let mut buffer = vec![0; 64 << 10];
    loop {
        let Ok(length @ 1..) = from.read(&mut buffer).await else {
            return;
        };
        gate.count(length);
        let mut muted = gate.muted.subscribe();
        if muted.wait_for(|muted| !*muted).await.is_err() {
            return;
        }
        if to.write_all(&buffer[..length]).await.is_err() {
            return;
        }
    }
}
