//! A power cut: file systems that stop at once and forget what was not synced.
//!
//! The kernel does it by an ioctl (0x8004587d with flag 2: shut down, do not flush the journal);
//! `xfs_io` sends it, to ext4 as well. One of these programs waits for each disk, and all get
//! their order at once; how far apart the disks went dark is not assumed but seen.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use crate::disk::Disk;
use crate::program::run;

/// How long a disk may take to go dark.
const PATIENCE: Duration = Duration::from_secs(10);
/// Real-time priorities. Whoever gives the orders must not be put aside by the first who obeys.
const ORDERING: &str = "60";
const OBEYING: u8 = 50;
/// Time between two looks at the disks, which the others need to run.
const LOOK_EVERY: Duration = Duration::from_micros(50);
/// A file on each disk by which one sees that it is dark.
const LAMP: &str = "lamp";

/// A switch that is ready to cut the power of some disks.
#[derive(Debug)]
pub struct Switch {
    wires: Vec<Wire>,
}

/// What cuts one disk.
#[derive(Debug)]
struct Wire {
    armed: Child,
    lamp: PathBuf,
}

// === impl Switch ===

impl Switch {
    /// Gets everything ready.
    ///
    /// # Errors
    ///
    /// When `xfs_io` is not installed, or a disk cannot be written.
    pub fn armed(disks: &[&Disk]) -> anyhow::Result<Self> {
        // The last who hears of it goes before those who are busy with it already.
        let wires = (OBEYING..).zip(disks);
        let wires = wires.map(|(priority, disk)| Wire::armed(disk.mount_point(), priority));
        Ok(Self {
            wires: wires.collect::<anyhow::Result<_>>()?,
        })
    }

    /// Cuts the power, and returns how long it took at most from the first disk to the last.
    ///
    /// # Errors
    ///
    /// When a disk was not cut.
    pub fn cut(self) -> anyhow::Result<Duration> {
        // A thread of its own, because it takes precedence over everything else.
        let cutting = thread::spawn(move || self.cut_now());
        cutting.join().ok().context("the switch panicked")?
    }

    fn cut_now(mut self) -> anyhow::Result<Duration> {
        let own = rustix::thread::gettid().as_raw_nonzero().to_string();
        // Where this is not allowed, the cut is only wider.
        let _ = run(&["chrt", "--fifo", "--pid", ORDERING, &own]);
        let quiet = QuietConsole::begin();
        let started = Instant::now();
        for wire in &mut self.wires {
            let mut pipe = wire.armed.stdin.take().context("no pipe to xfs_io")?;
            pipe.write_all(b"shutdown\nquit\n")?;
        }
        let spread = darkness(&self.wires, started)?;
        drop(quiet);
        for wire in &mut self.wires {
            let status = wire.armed.wait()?;
            ensure!(status.success(), "xfs_io ended with {status}");
        }
        Ok(spread)
    }
}

// === impl Wire ===

impl Wire {
    fn armed(mount: &Path, priority: u8) -> anyhow::Result<Self> {
        let lamp = mount.join(LAMP);
        File::create(&lamp).with_context(|| format!("cannot create {}", lamp.display()))?;
        let mut command = Command::new("chrt");
        let priority = priority.to_string();
        let words = ["--fifo", &priority, "xfs_io", "-x"];
        let is_allowed = run(&["chrt", "--fifo", &priority, "true"]).is_ok();
        if is_allowed {
            command.args(words);
        } else {
            command = Command::new("xfs_io");
            command.arg("-x");
        }
        let armed = command
            .arg(mount)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot execute xfs_io")?;
        Ok(Self { armed, lamp })
    }
}

/// Watches all disks go dark. From the last moment at which the first of them was still seen
/// lit, to the first at which all were seen dark.
fn darkness(wires: &[Wire], started: Instant) -> anyhow::Result<Duration> {
    let mut all_lit = Duration::ZERO;
    loop {
        let now = started.elapsed();
        let lit = wires.iter().filter(|wire| File::open(&wire.lamp).is_ok());
        match lit.count() {
            0 => return Ok(started.elapsed() - all_lit),
            count if count == wires.len() => all_lit = now,
            _ => {}
        }
        ensure!(now < PATIENCE, "a disk was not cut");
        thread::sleep(LOOK_EVERY);
    }
}

/// What the kernel says of a shutdown does not go to the console for a moment, but only to its
/// log: a slow console would hold the first two disks' processors for milliseconds, and with two
/// processors the third disk would live on for as long.
struct QuietConsole {
    level: String,
}

/// Four numbers, of which the first is the level of the console.
const CONSOLE: &str = "/proc/sys/kernel/printk";
/// Only emergencies.
const QUIET: &str = "1";

// === impl QuietConsole ===

impl QuietConsole {
    /// Where it is not allowed, the cut is only wider.
    fn begin() -> Option<Self> {
        let levels = fs::read_to_string(CONSOLE).ok()?;
        let level = levels.split_whitespace().next()?.to_owned();
        fs::write(CONSOLE, QUIET).ok()?;
        Some(Self { level })
    }
}

impl Drop for QuietConsole {
    fn drop(&mut self) {
        // It could be written a moment ago.
        let _ = fs::write(CONSOLE, &self.level);
    }
}
