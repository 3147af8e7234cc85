//! Probes of limits, clocks and system calls.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail, ensure};

use super::scratch::Scratch;
use crate::debt::Debt;
use crate::program::{run, run_command};

/// Where version 1 of control groups is mounted.
pub const GROUPS: &str = "/sys/fs/cgroup";
/// Where Debian keeps libraries, one folder for each architecture.
const LIBRARIES: &str = "/usr/lib";
const FAKE_TIME: &str = "faketime/libfaketimeMT.so.1";

pub(super) fn memory_group(scratch: &Scratch) -> anyhow::Result<()> {
    group(scratch, "memory", "memory.limit_in_bytes", "104857600")
}

pub(super) fn cpu_group(scratch: &Scratch) -> anyhow::Result<()> {
    group(scratch, "cpu", "cpu.cfs_quota_us", "5000")
}

pub(super) fn freezer_group(scratch: &Scratch) -> anyhow::Result<()> {
    group(scratch, "freezer", "freezer.state", "THAWED")
}

pub(super) fn blkio_group(scratch: &Scratch) -> anyhow::Result<()> {
    group(
        scratch,
        "blkio",
        "blkio.throttle.write_bps_device",
        "7:0 1048576",
    )
}

/// Makes a group and sets its knob.
fn group(scratch: &Scratch, controller: &str, knob: &str, value: &str) -> anyhow::Result<()> {
    let path = Path::new(GROUPS).join(controller);
    let is_mounted = path.join("tasks").exists();
    ensure!(
        is_mounted,
        "no control groups of version 1 at {}",
        path.display()
    );
    let path = path.join(scratch.name("g"));
    scratch.owe(Debt::Group(path.clone()))?;
    fs::create_dir(&path).with_context(|| format!("cannot create {}", path.display()))?;
    let knob = path.join(knob);
    fs::write(&knob, value).with_context(|| format!("cannot write {}", knob.display()))
}

/// The library that lies about the time.
///
/// # Errors
///
/// When it is not installed.
pub fn fake_time_library() -> anyhow::Result<PathBuf> {
    let folders = fs::read_dir(LIBRARIES)?.filter_map(Result::ok);
    let mut found = folders.map(|folder| folder.path().join(FAKE_TIME));
    found
        .find(|path| path.exists())
        .context("libfaketimeMT.so.1 is not installed")
}

/// A program that is told another year, and another time between two questions.
pub(super) fn fake_time(_: &Scratch) -> anyhow::Result<()> {
    let year = |offset: Option<&str>| -> anyhow::Result<i64> {
        let mut command = Command::new("date");
        command.arg("+%Y");
        if let Some(offset) = offset {
            command
                .env("LD_PRELOAD", fake_time_library()?)
                .env("FAKETIME", offset)
                .env("DONT_FAKE_MONOTONIC", "1");
        }
        Ok(run_command(command)?.trim().parse()?)
    };
    let years = year(Some("+800d"))? - year(None)?;
    ensure!((2..=3).contains(&years), "800 days are {years} years");
    Ok(())
}

/// A call that fails because somebody else says so.
pub(super) fn call_faults(scratch: &Scratch) -> anyhow::Result<()> {
    let folder = scratch.path("never");
    let inject = "inject=mkdir:error=EIO";
    let made = ["mkdir", &folder.to_string_lossy()];
    let traced = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", inject];
    match run(&[&traced, made.as_slice()].concat()) {
        Ok(_) => bail!("a call that should have failed did not"),
        Err(error) if format!("{error:#}").contains("Input/output error") => Ok(()),
        Err(error) => Err(error),
    }
}
