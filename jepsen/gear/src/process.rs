//! A process, named so that no other is ever mistaken for it.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

/// How long a killed process may take to go: it may hang in a write.
const PATIENCE: Duration = Duration::from_secs(20);

/// A process id and when that process started: ids are used again, both together are not.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProcessId {
    id: u32,
    /// Unit: clock ticks since the machine booted. Source: `/proc/PID/stat`, field 22.
    started: u64,
}

// === impl ProcessId ===

impl ProcessId {
    /// The process that has this id now, even if it is a zombie by now.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub fn of(id: u32) -> anyhow::Result<Self> {
        let (started, _) = look(id).with_context(|| format!("no process {id}"))?;
        Ok(Self { id, started })
    }

    /// The lab itself.
    ///
    /// # Errors
    ///
    /// When `/proc` is not mounted.
    pub fn own() -> anyhow::Result<Self> {
        Self::of(std::process::id())
    }

    /// The id alone, which names it as long as it is alive.
    pub const fn id(self) -> u32 {
        self.id
    }

    /// Whether the process still runs; a zombie does not.
    pub fn is_alive(self) -> bool {
        look(self.id) == Some((self.started, Stage::Runs))
    }

    /// Sends a signal, if the process still runs.
    ///
    /// # Errors
    ///
    /// When it may not be sent.
    pub fn signal(self, signal: Signal) -> anyhow::Result<()> {
        if !self.is_alive() {
            return Ok(());
        }
        let id = i32::try_from(self.id).ok().and_then(Pid::from_raw);
        kill_process(id.context("an id of zero")?, signal)
            .with_context(|| format!("cannot send a signal to process {}", self.id))
    }

    /// Ends the process as `kill -9` does, and waits until it is gone.
    ///
    /// # Errors
    ///
    /// When it may not be killed, or hangs in the kernel.
    pub fn kill_and_wait(self) -> anyhow::Result<()> {
        self.signal(Signal::KILL)?;
        let deadline = Instant::now() + PATIENCE;
        while self.is_alive() {
            if Instant::now() > deadline {
                bail!("process {} does not die", self.id);
            }
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

/// How far a process has come.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Stage {
    Runs,
    /// Dead, and not yet waited for.
    Zombie,
}

/// When the process started, and whether it still runs; nothing of a process that is gone.
fn look(id: u32) -> Option<(u64, Stage)> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name in parentheses may hold anything, so what counts begins behind the last one.
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?;
    let started = fields.nth(18)?.parse().ok()?;
    // A dead process whose other threads still end holds its files until they have.
    let threads = fs::read_dir(format!("/proc/{id}/task")).map_or(0, Iterator::count);
    let is_gone = matches!(state, "Z" | "X") && threads <= 1;
    Some((started, if is_gone { Stage::Zombie } else { Stage::Runs }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_killed_process_is_gone_and_its_id_alone_names_nobody() {
        assert!(ProcessId::own().unwrap().is_alive());
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let process = ProcessId::of(child.id()).unwrap();
        let other = ProcessId {
            started: process.started + 1,
            ..process
        };
        assert!(process.is_alive() && !other.is_alive());
        other.kill_and_wait().unwrap();
        assert!(process.is_alive());
        process.kill_and_wait().unwrap();
        assert!(!process.is_alive());
        // Nobody has waited for it yet, so it still has its name.
        assert_eq!(ProcessId::of(child.id()).unwrap(), process);
        child.wait().unwrap();
        ProcessId::of(child.id()).unwrap_err();
    }
}
