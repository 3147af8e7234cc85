//! Probes of file systems, each in a file.

use std::fs;

use anyhow::ensure;

use super::scratch::Scratch;
use crate::debt::Debt;
use crate::disk::{Disk, FileSystem};
use crate::power;
use crate::program::run;

/// What was synced before a power cut.
const KEPT: &str = "kept";
/// What was written and not synced.
const LOST: &str = "lost";

pub(super) fn ext4(scratch: &Scratch) -> anyhow::Result<()> {
    disk(scratch, "ext4", FileSystem::Ext4).map(drop)
}

pub(super) fn xfs(scratch: &Scratch) -> anyhow::Result<()> {
    disk(scratch, "xfs", FileSystem::Xfs).map(drop)
}

pub(super) fn power_cut_ext4(scratch: &Scratch) -> anyhow::Result<()> {
    power_cut(scratch, "cut-ext4", FileSystem::Ext4)
}

pub(super) fn power_cut_xfs(scratch: &Scratch) -> anyhow::Result<()> {
    power_cut(scratch, "cut-xfs", FileSystem::Xfs)
}

/// A file system that stands still, and moves again.
pub(super) fn freeze(scratch: &Scratch) -> anyhow::Result<()> {
    let disk = disk(scratch, "freeze", FileSystem::Ext4)?;
    scratch.owe(Debt::Thaw(disk.mount_point().to_owned()))?;
    let mount = disk.mount_point().to_string_lossy();
    run(&["fsfreeze", "--freeze", &mount])?;
    run(&["fsfreeze", "--unfreeze", &mount]).map(drop)
}

/// The device that file systems in user space talk to.
pub(super) fn fuse(_: &Scratch) -> anyhow::Result<()> {
    let opened = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/fuse");
    Ok(opened.map(drop)?)
}

fn disk(scratch: &Scratch, name: &str, kind: FileSystem) -> anyhow::Result<Disk> {
    let disk = Disk::make(scratch.debts(), &scratch.path(name), kind)?;
    fs::write(disk.mount_point().join(KEPT), KEPT)?;
    Ok(disk)
}

/// What was synced is there afterwards, and what was not is gone: both are needed, or the cut
/// would prove nothing.
fn power_cut(scratch: &Scratch, name: &str, kind: FileSystem) -> anyhow::Result<()> {
    let disk = disk(scratch, name, kind)?;
    let kept = disk.mount_point().join(KEPT);
    fs::File::open(&kept)?.sync_all()?;
    fs::File::open(disk.mount_point())?.sync_all()?;
    let lost = disk.mount_point().join(LOST);
    fs::write(&lost, LOST)?;
    power::Switch::armed(&[&disk])?.cut()?;
    disk.remount()?;
    ensure!(
        fs::read_to_string(&kept)? == KEPT,
        "what was synced is gone"
    );
    ensure!(!lost.exists(), "what was not synced has survived");
    Ok(())
}
