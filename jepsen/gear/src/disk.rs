//! A file system of one's own, in a file.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::ValueEnum;
use serde::Serialize;

use crate::debt::{Debt, Debts, is_mounted};
use crate::program::run;

/// Which file system.
#[derive(Copy, Clone, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileSystem {
    /// ext4
    Ext4,
    /// XFS
    Xfs,
}

/// A file with a file system in it, and where that is mounted.
#[derive(Clone, Debug)]
pub struct Disk {
    image: PathBuf,
    mount: PathBuf,
}

/// Bytes of a disk that nobody wants to fill. XFS takes no less than 300 MiB.
const BYTES: u64 = 512 * 1024 * 1024;

// === impl Disk ===

impl Disk {
    /// Makes the file `path.img` (sparse) and mounts it at `path`.
    ///
    /// # Errors
    ///
    /// When the file system cannot be made or mounted.
    pub fn make(debts: &Debts, path: &Path, kind: FileSystem) -> anyhow::Result<Self> {
        Self::make_of_size(debts, path, kind, BYTES)
    }

    /// As [`Self::make`], with room for so many bytes.
    ///
    /// # Errors
    ///
    /// As [`Self::make`].
    pub fn make_of_size(
        debts: &Debts,
        path: &Path,
        kind: FileSystem,
        bytes: u64,
    ) -> anyhow::Result<Self> {
        let disk = Self {
            image: path.with_extension("img"),
            mount: path.to_owned(),
        };
        let file = fs::File::create_new(&disk.image)
            .with_context(|| format!("cannot create {}", disk.image.display()))?;
        file.set_len(bytes)?;
        let image = disk.image.to_string_lossy();
        match kind {
            FileSystem::Ext4 => run(&["mkfs.ext4", "-q", "-F", &image])?,
            FileSystem::Xfs => run(&["mkfs.xfs", "-q", "-f", &image])?,
        };
        fs::create_dir_all(&disk.mount)?;
        debts.owe(Debt::Unmount(disk.mount.clone()))?;
        disk.mount()?;
        // What the file system makes for itself must survive a cut that comes at once.
        fs::File::open(&disk.mount)?.sync_all()?;
        Ok(disk)
    }

    /// Where its files are.
    pub fn mount_point(&self) -> &Path {
        &self.mount
    }

    fn mount(&self) -> anyhow::Result<()> {
        let (image, mount) = (self.image.to_string_lossy(), self.mount.to_string_lossy());
        run(&["mount", "-o", "loop", &image, &mount]).map(drop)
    }

    /// Unmounts it.
    ///
    /// # Errors
    ///
    /// When somebody still uses it.
    pub fn unmount(&self) -> anyhow::Result<()> {
        if is_mounted(&self.mount) {
            run(&["umount", &self.mount.to_string_lossy()])?;
        }
        Ok(())
    }

    /// Unmounts and mounts it, as a machine does that starts again; the journal is replayed.
    ///
    /// # Errors
    ///
    /// When somebody still uses it, or the file system does not mount again.
    pub fn remount(&self) -> anyhow::Result<()> {
        self.unmount()?;
        self.mount()
    }
}
