//! Three replicas as processes, so that they can be killed.

use anyhow::{Context as _, bail, ensure};
use lockstep_proto::admin::v1::{
    Role, StatusReply, StatusRequest, TransferLeadershipRequest, admin_client::AdminClient,
};
use rustix::process::{Pid, Signal, kill_process};
use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};
use tokio::time::{Instant, sleep};

const NAMES: [&str; 3] = ["a", "b", "c"];

/// How long a group may take to be whole; one that needs it all is broken.
const PATIENCE: Duration = Duration::from_secs(60);

/// Three replicas, some of which may not run.
pub(crate) struct Fleet {
    program: PathBuf,
    folder: PathBuf,
    kubeconfig: PathBuf,
    ports: [Ports; 3],
    running: [Option<Child>; 3],
}

#[derive(Copy, Clone)]
struct Ports {
    peer: SocketAddr,
    proxy: SocketAddr,
    admin: SocketAddr,
}

// === impl Fleet ===

impl Fleet {
    /// Starts three replicas that keep their data below `folder`, and waits until they are whole.
    pub(crate) async fn start(folder: &Path, kubeconfig: &Path) -> anyhow::Result<Self> {
        let mut fleet = Self {
            program: program()?,
            folder: folder.to_owned(),
            kubeconfig: kubeconfig.to_owned(),
            ports: [free_ports()?, free_ports()?, free_ports()?],
            running: [None, None, None],
        };
        for place in 0..3 {
            fleet.restart(place)?;
        }
        fleet.whole().await?;
        Ok(fleet)
    }

    /// Starts the replica at `place`, with the folder that it had.
    pub(crate) fn restart(&mut self, place: usize) -> anyhow::Result<()> {
        let Ports { peer, proxy, admin } = self.ports[place];
        let peers = NAMES.iter().zip(&self.ports);
        let peers: Vec<_> = peers
            .map(|(name, ports)| format!("{name}={}", ports.peer))
            .collect();
        let child = Command::new(&self.program)
            .args(["serve", "--log-level=error", "--name", NAMES[place]])
            .arg(format!("--peers={}", peers.join(",")))
            .arg("--data")
            .arg(self.folder.join(NAMES[place]))
            .arg("--kubeconfig")
            .arg(&self.kubeconfig)
            .arg(format!("--peer-listen={peer}"))
            .arg(format!("--proxy-listen={proxy}"))
            .arg(format!("--admin-listen={admin}"))
            .stdin(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", self.program.display()))?;
        self.running[place] = Some(child);
        Ok(())
    }

    /// Sends a signal to the replica at `place`.
    pub(crate) fn signal(&self, place: usize, signal: Signal) -> anyhow::Result<()> {
        let child = self.running[place].as_ref().context("it does not run")?;
        Ok(kill_process(Pid::from_child(child), signal)?)
    }

    /// Waits until the replica at `place` has ended.
    pub(crate) async fn ended(&mut self, place: usize) -> anyhow::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while let Some(child) = &mut self.running[place] {
            if child.try_wait()?.is_some() {
                self.running[place] = None;
            } else if Instant::now() > deadline {
                bail!("replica {} does not end", NAMES[place]);
            } else {
                sleep(Duration::from_millis(5)).await;
            }
        }
        Ok(())
    }

    /// Asks the leader to hand over to any other voter.
    pub(crate) async fn transfer(&self, leader: usize) -> anyhow::Result<()> {
        let mut admin = self.admin(leader).await?;
        let request = TransferLeadershipRequest { to: String::new() };
        admin.transfer_leadership(request).await?;
        Ok(())
    }

    /// Where proxies connect to the replica at `place`.
    pub(crate) fn proxy(&self, place: usize) -> SocketAddr {
        self.ports[place].proxy
    }

    /// Waits until one leads and all three hold the same position; where the leader is.
    pub(crate) async fn whole(&self) -> anyhow::Result<usize> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.leader().await {
                Ok(leader) => return Ok(leader),
                Err(error) if Instant::now() > deadline => return Err(error),
                Err(_) => sleep(Duration::from_millis(50)).await,
            }
        }
    }

    async fn leader(&self) -> anyhow::Result<usize> {
        let mut all = Vec::new();
        for place in 0..3 {
            let reply = self.admin(place).await?.status(StatusRequest {}).await?;
            all.push(reply.into_inner());
        }
        let leads = |status: &StatusReply| status.role() == Role::Leader;
        let leader = all.iter().position(leads).context("nobody leads")?;
        for status in &all {
            ensure!(status.term == all[leader].term, "terms differ");
            ensure!(status.position == all[leader].position, "positions differ");
            ensure!(status.role() != Role::Learner, "one is no voter yet");
        }
        Ok(leader)
    }

    async fn admin(&self, place: usize) -> anyhow::Result<AdminClient<tonic::transport::Channel>> {
        let address = format!("http://{}", self.ports[place].admin);
        Ok(AdminClient::connect(address).await?)
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for mut child in self.running.iter_mut().filter_map(Option::take) {
            // One that has ended already needs neither.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The program of replicas: the one beside the benchmark's own.
fn program() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe()?;
    let program = own.with_file_name("lockstep");
    ensure!(
        program.is_file(),
        "no program at {}: build it with the same profile, cargo build --release -p lockstep",
        program.display()
    );
    Ok(program)
}

fn free_ports() -> anyhow::Result<Ports> {
    Ok(Ports {
        peer: free_port()?,
        proxy: free_port()?,
        admin: free_port()?,
    })
}

/// Ports that systems give to connections begin at 32,768: a replica must find its own
/// free when it comes back.
fn free_port() -> anyhow::Result<SocketAddr> {
    static NEXT: std::sync::atomic::AtomicU16 = std::sync::atomic::AtomicU16::new(12_000);
    loop {
        let port = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        ensure!(port < 32_000, "no port is free");
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        if TcpListener::bind(address).is_ok() {
            return Ok(address);
        }
    }
}
