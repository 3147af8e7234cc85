//! One replica as a process: started, signalled, killed, started again.

use std::fs::File;
use std::net::SocketAddr;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use anyhow::Context as _;

use crate::debt::{Debt, Debts};
use crate::process::ProcessId;
use crate::room::Room;

/// Where a replica listens.
#[derive(Copy, Clone, Debug)]
pub struct Listens {
    /// For peers.
    pub peer: SocketAddr,
    /// For proxies.
    pub proxy: SocketAddr,
    /// For operators.
    pub admin: SocketAddr,
}

/// How a replica is started, each time.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The program.
    pub program: PathBuf,
    /// Its name, for example `n1`.
    pub name: String,
    /// Where it listens.
    pub listens: Listens,
    /// Its data folder.
    pub data: PathBuf,
    /// What it logs goes here, over all its lives.
    pub log: PathBuf,
    /// Flags that are equal for all replicas: peers, source, tuning.
    pub flags: Vec<String>,
    /// Variables of its environment.
    pub variables: Vec<(String, String)>,
}

/// A replica, whether or not it runs.
#[derive(Debug)]
pub struct Replica {
    plan: Plan,
    room: Room,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    child: Child,
    process: ProcessId,
}

// === impl Replica ===

impl Replica {
    /// A replica that does not run yet.
    pub const fn new(plan: Plan, room: Room) -> Self {
        Self {
            plan,
            room,
            running: None,
        }
    }

    /// How it is started.
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Starts it, if it does not run.
    ///
    /// # Errors
    ///
    /// When its program cannot be executed.
    pub fn start(&mut self, debts: &Debts) -> anyhow::Result<()> {
        if self.process().is_some() {
            return Ok(());
        }
        let mut command = self.command()?;
        let spawned = self.room.run(move || command.spawn())?;
        let child = spawned.context("cannot execute setpriv")?;
        let process = ProcessId::of(child.id())?;
        debts.owe(Debt::Kill(process))?;
        self.running = Some(Running { child, process });
        Ok(())
    }

    fn command(&self) -> anyhow::Result<Command> {
        let plan = &self.plan;
        let log = File::options()
            .create(true)
            .append(true)
            .open(&plan.log)
            .with_context(|| format!("cannot open {}", plan.log.display()))?;
        // With the lab, or with its thread in the namespace, the replica ends.
        let mut command = Command::new("setpriv");
        command
            .args(["--pdeathsig", "KILL", "--"])
            .arg(&plan.program)
            .args(["serve", "--name", &plan.name, "--data"])
            .arg(&plan.data)
            .arg(format!("--peer-listen={}", plan.listens.peer))
            .arg(format!("--proxy-listen={}", plan.listens.proxy))
            .arg(format!("--admin-listen={}", plan.listens.admin))
            .args(&plan.flags)
            .envs(plan.variables.iter().cloned())
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            // Ctrl-C on the terminal is for the lab.
            .process_group(0);
        Ok(command)
    }

    /// Its process, if it runs.
    pub fn process(&self) -> Option<ProcessId> {
        let process = self.running.as_ref()?.process;
        process.is_alive().then_some(process)
    }

    /// How it ended, once, if it ended by itself or by a signal since it was last started.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        let status = self.running.as_mut()?.child.try_wait().ok()??;
        self.running = None;
        Some(status)
    }

    /// Ends it without a word, as `kill -9` does, and waits; how it ended if it had ended before.
    ///
    /// # Errors
    ///
    /// When it does not die.
    pub fn kill(&mut self) -> anyhow::Result<Option<ExitStatus>> {
        let ended = self.ended();
        if let Some(mut running) = self.running.take() {
            running.process.kill_and_wait()?;
            running.child.wait()?;
        }
        Ok(ended)
    }
}

/// The program of replicas: the one beside the lab's own.
///
/// # Errors
///
/// When it is not there.
pub fn program(given: Option<&Path>) -> anyhow::Result<PathBuf> {
    let beside = || -> anyhow::Result<PathBuf> {
        let own = std::env::current_exe()?;
        let folder = own.parent().context("the lab's program is in no folder")?;
        Ok(folder.join("lockstep"))
    };
    let path = given.map_or_else(beside, |path| Ok(path.to_owned()))?;
    anyhow::ensure!(
        path.is_file(),
        "no program at {}; build it, or name another with --lockstep",
        path.display()
    );
    Ok(path)
}
