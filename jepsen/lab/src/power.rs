//! A power cut: file systems that stop at once and forget what was not synced.
//!
//! The kernel does it by an ioctl (0x8004587d with flag 2: shut down, do not flush the journal);
//! `xfs_io` sends it, to ext4 as well. The program waits with all disks open, so that between the
//! first and the last there is nothing but two system calls.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use crate::disk::Disk;

/// A switch that is ready to cut the power of some disks.
#[derive(Debug)]
pub(crate) struct Switch {
    armed: Child,
    orders: String,
}

// === impl Switch ===

impl Switch {
    /// Gets everything ready.
    ///
    /// # Errors
    ///
    /// When `xfs_io` is not installed.
    pub(crate) fn armed(disks: &[&Disk]) -> anyhow::Result<Self> {
        let armed = Command::new("xfs_io")
            .arg("-x")
            .args(disks.iter().map(|disk| disk.mount_point()))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot execute xfs_io")?;
        let orders = (0..disks.len()).map(|place| format!("file {place}\nshutdown\n"));
        Ok(Self {
            armed,
            orders: orders.collect::<String>() + "quit\n",
        })
    }

    /// Cuts the power, and returns how long it took at most from the first disk to the last.
    ///
    /// # Errors
    ///
    /// When a disk was not cut.
    pub(crate) fn cut(mut self) -> anyhow::Result<Duration> {
        let mut pipe = self.armed.stdin.take().context("no pipe to xfs_io")?;
        let started = Instant::now();
        pipe.write_all(self.orders.as_bytes())?;
        drop(pipe);
        let status = self.armed.wait()?;
        ensure!(status.success(), "xfs_io ended with {status}");
        Ok(started.elapsed())
    }
}
