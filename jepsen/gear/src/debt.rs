//! What a run has changed on the machine and owes to undo.
//!
//! ```text
//! owe(debt) ─▶ a line in the run's book ─▶ the thing is made
//!                                            │
//! end, error: pay_all() ◀────────────────────┤
//! panic, Ctrl-C, killed: the warden pays ◀───┤
//! the warden killed too: the next run pays ◀─┘
//! ```
//!
//! A debt is noted before its thing is made, and paying one whose thing was never made does
//! nothing. They are paid by kind, in the order of [`Debt`]: a frozen file system must thaw before
//! a process that writes to it can die, and a process must die before its file system goes.

mod book;
mod warden;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::process::ProcessId;
use crate::program::run;
use crate::run_id::RunId;

pub use book::{Left, left_by_the_dead, pay_for_the_dead};
pub use warden::watch_over_the_parent;

use book::Book;

/// One thing to undo. The order of the variants is that of paying.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Debt {
    /// A file system that may be frozen, by its mount point.
    Thaw(PathBuf),
    /// A control group whose tasks may be frozen.
    ThawGroup(PathBuf),
    /// A process that may be stopped or running.
    Kill(ProcessId),
    /// A control group.
    Group(PathBuf),
    /// A mount point; its loop device goes with it.
    Unmount(PathBuf),
    /// A network namespace; the interfaces in it go with it.
    Namespace(String),
    /// An interface of the host.
    Link(String),
    /// A table of nftables, as `family name`, in the host's namespace.
    Table(String),
    /// A folder with everything in it.
    Folder(PathBuf),
}

/// The debts of one run. Paid when dropped.
#[derive(Debug)]
pub struct Debts {
    book: Book,
    owed: Mutex<Vec<Debt>>,
    /// Whoever pays if this process cannot.
    warden: Option<Child>,
}

// === impl Debts ===

impl Debts {
    /// Opens the book of a run.
    ///
    /// # Errors
    ///
    /// When the file cannot be written: nobody may change what cannot be undone.
    pub fn of(run: RunId) -> anyhow::Result<Self> {
        let book = Book::open(&run.to_string())?;
        let warden = warden::start()?;
        Ok(Self {
            book,
            owed: Mutex::default(),
            warden: Some(warden),
        })
    }

    /// Notes what is about to be made.
    ///
    /// # Errors
    ///
    /// When it cannot be noted; then it must not be made.
    pub fn owe(&self, debt: Debt) -> anyhow::Result<()> {
        self.book.note(&debt)?;
        let mut owed = self.owed.lock().unwrap_or_else(PoisonError::into_inner);
        owed.push(debt);
        Ok(())
    }

    /// Undoes everything; what could not be undone is said on standard error and stays noted.
    pub fn pay_all(&self) {
        let mut owed = self.owed.lock().unwrap_or_else(PoisonError::into_inner);
        let unpaid = pay(std::mem::take(&mut *owed));
        if unpaid == 0 {
            self.book.close();
        }
    }
}

impl Drop for Debts {
    fn drop(&mut self) {
        self.pay_all();
        // Nothing is left to do for it; that it ends is all the same to everybody.
        if let Some(warden) = &mut self.warden {
            let _ = warden.kill();
            let _ = warden.wait();
        }
    }
}

/// Pays in order and returns how many could not be.
fn pay(mut owed: Vec<Debt>) -> usize {
    // The newest of a kind first: a mount inside a mount, a folder inside a folder.
    owed.reverse();
    owed.sort_by_key(Debt::rank);
    let outcomes = owed.iter().map(|debt| (debt, debt.pay()));
    let unpaid = outcomes.filter_map(|(debt, outcome)| Some((debt, outcome.err()?)));
    unpaid
        .inspect(|(debt, error)| anstream::eprintln!("cannot undo {debt:?}: {error:#}"))
        .count()
}

// === impl Debt ===

impl Debt {
    const fn rank(&self) -> u8 {
        match self {
            Self::Thaw(_) => 0,
            Self::ThawGroup(_) => 1,
            Self::Kill(_) => 2,
            Self::Group(_) => 3,
            Self::Unmount(_) => 4,
            Self::Namespace(_) => 5,
            Self::Link(_) => 6,
            Self::Table(_) => 7,
            Self::Folder(_) => 8,
        }
    }

    fn pay(&self) -> anyhow::Result<()> {
        match self {
            Self::Thaw(mount) => thaw(mount),
            Self::ThawGroup(group) => {
                let state = group.join("freezer.state");
                when(state.exists(), || Ok(fs::write(&state, "THAWED")?))
            }
            Self::Kill(process) => process.kill_and_wait(),
            Self::Group(group) => when(group.exists(), || Ok(fs::remove_dir(group)?)),
            Self::Unmount(mount) => unmount(mount),
            Self::Namespace(name) => {
                let exists = Path::new("/run/netns").join(name).exists();
                when(exists, || run(&["ip", "netns", "del", name]).map(drop))
            }
            Self::Link(name) => {
                let exists = Path::new("/sys/class/net").join(name).exists();
                when(exists, || run(&["ip", "link", "del", name]).map(drop))
            }
            Self::Table(table) => {
                let words: Vec<&str> = table.split(' ').collect();
                let listed = run(&[&["nft", "list", "table"], words.as_slice()].concat());
                when(listed.is_ok(), || {
                    run(&[&["nft", "delete", "table"], words.as_slice()].concat()).map(drop)
                })
            }
            Self::Folder(folder) => when(folder.exists(), || Ok(fs::remove_dir_all(folder)?)),
        }
    }
}

fn when(is_needed: bool, act: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    if is_needed { act() } else { Ok(()) }
}

fn thaw(mount: &Path) -> anyhow::Result<()> {
    if is_mounted(mount) {
        // Fails when it is not frozen, which is what is wanted.
        let _ = run(&["fsfreeze", "--unfreeze", &mount.to_string_lossy()]);
    }
    Ok(())
}

/// Unmounts, however often something was mounted there.
fn unmount(mount: &Path) -> anyhow::Result<()> {
    while is_mounted(mount) {
        run(&["umount", &mount.to_string_lossy()])?;
    }
    Ok(())
}

/// Whether a file system is mounted exactly there.
pub fn is_mounted(mount: &Path) -> bool {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(1));
    // Spaces are written as \040; names of the lab have none.
    points.map(Path::new).any(|point| point == mount)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debts_are_paid_when_dropped_and_once() {
        let folder = tempfile::tempdir().unwrap();
        let (outer, inner) = (folder.path().join("a"), folder.path().join("a/b"));
        let file = folder.path().join("book.jsonl");
        let debts = Debts {
            book: Book::open_at(file.clone()).unwrap(),
            owed: Mutex::default(),
            warden: None,
        };
        for made in [&outer, &inner] {
            debts.owe(Debt::Folder(made.clone())).unwrap();
            fs::create_dir(made).unwrap();
        }
        // Noted, and never made.
        debts.owe(Debt::Namespace("ls-never".to_owned())).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 4);
        drop(debts);
        assert!(!outer.exists() && !file.exists());
    }

    #[test]
    fn a_kind_is_paid_before_what_it_depends_on() {
        let path = PathBuf::new;
        let mut debts = [
            Debt::Folder(path()),
            Debt::Unmount(path()),
            Debt::Kill(ProcessId::own().unwrap()),
            Debt::Thaw(path()),
        ];
        debts.sort_by_key(Debt::rank);
        let kinds: Vec<u8> = debts.iter().map(Debt::rank).collect();
        assert_eq!(kinds, [0, 2, 4, 8]);
    }
}
