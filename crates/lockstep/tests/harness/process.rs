//! Replicas as processes that can be killed.

use rustix::process::{Pid, kill_process};
use std::{
    io::Read,
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::atomic::{AtomicU16, Ordering},
    time::{Duration, Instant},
};

use super::links::Links;
use lockstep_raft::PeerAddress;

pub use rustix::process::Signal;

/// What the replicas are called.
const NAMES: [&str; 3] = ["a", "b", "c"];

/// Three replicas as processes, with their folders and ports.
pub struct Fleet {
    folder: PathBuf,
    ports: Vec<Ports>,
    /// For each replica, where it dials whom.
    peers: Vec<Vec<PeerAddress>>,
    sources: Vec<Vec<String>>,
    flags: Vec<String>,
    running: Vec<Option<Child>>,
}

#[derive(Copy, Clone)]
struct Ports {
    peer: u16,
    proxy: u16,
    admin: u16,
}

impl Fleet {
    /// Starts three replicas that keep their data below `folder`.
    pub fn start(folder: &Path, source: &[&str], flags: &[&str]) -> Self {
        let mut fleet = Self::prepare(folder, source, flags);
        for place in 0..3 {
            fleet.restart(place);
        }
        fleet
    }

    /// A fleet none of which runs yet.
    pub fn prepare(folder: &Path, source: &[&str], flags: &[&str]) -> Self {
        let ports = free_ports();
        Self {
            folder: folder.to_owned(),
            peers: vec![named(&ports); NAMES.len()],
            ports,
            sources: vec![source.iter().map(ToString::to_string).collect(); NAMES.len()],
            flags: flags.iter().map(ToString::to_string).collect(),
            running: vec![None, None, None],
        }
    }

    /// Has the replica at `from` find the one at `to` at this address, from its next start on.
    pub fn reach(&mut self, from: usize, to: usize, address: SocketAddr) {
        self.peers[from][to].address = address.to_string();
    }

    /// Gives every replica ports that none of them had, from its next start on.
    pub fn move_all(&mut self) {
        self.ports = free_ports();
        self.peers = vec![named(&self.ports); NAMES.len()];
    }

    /// Gives two replicas each other's ports, from their next start on.
    pub fn exchange(&mut self, one: usize, other: usize) {
        self.ports.swap(one, other);
        self.peers = vec![named(&self.ports); NAMES.len()];
    }

    /// Has the replica at `place` follow this source, from its next start on.
    pub fn follow(&mut self, place: usize, source: &[&str]) {
        self.sources[place] = source.iter().map(ToString::to_string).collect();
    }

    /// Where each replica listens for the others.
    pub fn listening(&self) -> Vec<SocketAddr> {
        self.ports.iter().map(|ports| local(ports.peer)).collect()
    }

    /// Has the replicas that start from now on reach each other through links.
    pub async fn link(&mut self) -> Links {
        let listen = self.listening();
        let links = Links::between(&listen).await;
        for (place, peers) in self.peers.iter_mut().enumerate() {
            *peers = links.seen_from(place, peers);
        }
        links
    }

    /// What replicas that start from now on are told besides.
    pub fn set_flags(&mut self, flags: &[&str]) {
        self.flags = flags.iter().map(ToString::to_string).collect();
    }

    /// Starts three replicas and keeps what they say for [`Self::ended`].
    pub fn start_watched(folder: &Path, source: &[&str], flags: &[&str]) -> Self {
        let mut fleet = Self::prepare(folder, source, flags);
        for place in 0..3 {
            fleet.restart_watched(place);
        }
        fleet
    }

    /// Starts the replica at `place` again with the same folder and ports.
    pub fn restart(&mut self, place: usize) {
        self.running[place] = Some(self.command(place).spawn().unwrap());
    }

    /// Starts the replica at `place`, waits until it ends by itself, and
    /// returns how, with what it said; `None` if it still runs.
    pub fn restart_and_watch(
        &mut self,
        place: usize,
        patience: Duration,
    ) -> Option<(ExitStatus, String)> {
        self.restart_watched(place);
        let deadline = Instant::now() + patience;
        while Instant::now() < deadline {
            if let Some(end) = self.ended(place) {
                return Some(end);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        None
    }

    /// Starts the replica at `place` again and keeps what it says for [`Self::ended`].
    pub fn restart_watched(&mut self, place: usize) {
        let child = self.command(place).stderr(Stdio::piped()).spawn().unwrap();
        self.running[place] = Some(child);
    }

    /// How the replica at `place` ended, with what it said, if it did. What it
    /// says is kept only when its start was a watched one.
    pub fn ended(&mut self, place: usize) -> Option<(ExitStatus, String)> {
        let status = self.running[place].as_mut()?.try_wait().unwrap()?;
        let mut child = self.running[place].take()?;
        let mut said = String::new();
        if let Some(mut stderr) = child.stderr.take() {
            stderr.read_to_string(&mut said).unwrap();
        }
        Some((status, said))
    }

    fn command(&self, place: usize) -> Command {
        let peers = self.peers[place].iter();
        let peers: Vec<String> = peers
            .map(|peer| format!("{}={}", peer.name, peer.address))
            .collect();
        let Ports { peer, proxy, admin } = self.ports[place];
        let mut command = Command::new(env!("CARGO_BIN_EXE_lockstep"));
        command
            .args(["serve", "--name", NAMES[place], "--peers", &peers.join(",")])
            .arg("--data")
            .arg(self.data(place))
            .arg(format!("--peer-listen=127.0.0.1:{peer}"))
            .arg(format!("--proxy-listen=127.0.0.1:{proxy}"))
            .arg(format!("--admin-listen=127.0.0.1:{admin}"))
            .args(&self.sources[place])
            .args(&self.flags)
            // Less than a flag: a test may want another level.
            .env("LOCKSTEP_LOG_LEVEL", "warn")
            .stdin(Stdio::null());
        command
    }

    /// Ends the replica at `place` without a word, as `kill -9` does.
    pub fn kill(&mut self, place: usize) {
        if let Some(mut child) = self.running[place].take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Asks the replica at `place` to end, as Kubernetes does, and waits until it
    /// has: how, with what it said since a watched start.
    pub fn terminate(&mut self, place: usize) -> (ExitStatus, String) {
        self.signal(place, Signal::TERM);
        let deadline = Instant::now() + super::PATIENCE;
        while Instant::now() < deadline {
            if let Some(end) = self.ended(place) {
                return end;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("a replica that was asked to end still runs");
    }

    /// Sends a signal to the replica at `place`.
    pub fn signal(&self, place: usize, signal: Signal) {
        let child = self.running[place].as_ref().unwrap();
        kill_process(Pid::from_child(child), signal).unwrap();
    }

    /// Processor time that the replica at `place` has used; hundredths of a second.
    pub fn cpu_ticks(&self, place: usize) -> u64 {
        let id = self.running[place].as_ref().unwrap().id();
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
        // Behind the name in parentheses: user and system time are the 12th and 13th.
        let fields: Vec<&str> = stat
            .rsplit_once(')')
            .unwrap()
            .1
            .split_whitespace()
            .collect();
        fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
    }

    pub fn data(&self, place: usize) -> PathBuf {
        self.folder.join(NAMES[place])
    }

    pub fn proxies(&self) -> Vec<SocketAddr> {
        self.ports.iter().map(|ports| local(ports.proxy)).collect()
    }

    pub fn admins(&self) -> Vec<SocketAddr> {
        self.ports.iter().map(|ports| local(ports.admin)).collect()
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for place in 0..3 {
            self.kill(place);
        }
    }
}

/// Where the replicas with these ports listen for each other.
fn named(ports: &[Ports]) -> Vec<PeerAddress> {
    let peers = NAMES.iter().zip(ports).map(|(name, ports)| PeerAddress {
        name: (*name).to_owned(),
        address: local(ports.peer).to_string(),
    });
    peers.collect()
}

fn local(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

/// Ports that nobody listens on, and that no connection takes by chance before a
/// replica comes back to them: those that systems give to connections begin at 32,768.
fn free_ports() -> Vec<Ports> {
    let replica = |_| Ports {
        peer: free_port(),
        proxy: free_port(),
        admin: free_port(),
    };
    (0..3).map(replica).collect()
}

fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let own = u16::try_from(std::process::id() % 2_000).unwrap() * 10;
    loop {
        let port = 12_000 + (own + NEXT.fetch_add(1, Ordering::Relaxed)) % 20_000;
        if TcpListener::bind(local(port)).is_ok() {
            return port;
        }
    }
}
