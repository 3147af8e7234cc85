//! Where probes try things: a folder and a namespace that go with it.

use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;

use crate::debt::{Debt, Debts};
use crate::program::run;
use crate::room::Room;
use crate::run_id::RunId;

/// A folder, and a network namespace if there can be one.
pub(super) struct Scratch {
    run: RunId,
    debts: Debts,
    folder: PathBuf,
    namespace: anyhow::Result<String>,
}

// === impl Scratch ===

impl Scratch {
    /// Makes the folder and tries to make the namespace.
    pub(super) fn new() -> anyhow::Result<Self> {
        let run = RunId::random()?;
        let debts = Debts::of(run).context("only root can break things")?;
        let folder = std::env::temp_dir().join(run.name("doctor"));
        debts.owe(Debt::Folder(folder.clone()))?;
        fs::create_dir(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let namespace = make_namespace(&debts, run.name("p"));
        Ok(Self {
            run,
            debts,
            folder,
            namespace,
        })
    }

    /// A name for a thing of this probe.
    pub(super) fn name(&self, thing: &str) -> String {
        self.run.name(thing)
    }

    /// A path in the folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Notes what a probe is about to make.
    pub(super) fn owe(&self, debt: Debt) -> anyhow::Result<()> {
        self.debts.owe(debt)
    }

    /// Where mounts and the like are noted.
    pub(super) const fn debts(&self) -> &Debts {
        &self.debts
    }

    /// The namespace.
    ///
    /// # Errors
    ///
    /// When it could not be made.
    pub(super) fn namespace(&self) -> anyhow::Result<&str> {
        match &self.namespace {
            Ok(name) => Ok(name),
            Err(reason) => Err(anyhow::anyhow!("{reason:#}")),
        }
    }

    /// A thread in the namespace.
    ///
    /// # Errors
    ///
    /// When it could not be made, or not be entered.
    pub(super) fn room(&self) -> anyhow::Result<Room> {
        Room::enter(Some(self.namespace()?))
    }

    /// Runs a program of the system in the namespace.
    ///
    /// # Errors
    ///
    /// When there is no namespace, or the program fails.
    pub(super) fn run_inside(&self, words: &[&str]) -> anyhow::Result<String> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        self.room()?.run(move || {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            run(&words)
        })?
    }
}

fn make_namespace(debts: &Debts, name: String) -> anyhow::Result<String> {
    debts.owe(Debt::Namespace(name.clone()))?;
    run(&["ip", "netns", "add", &name])?;
    run(&["ip", "-n", &name, "link", "set", "lo", "up"])?;
    Ok(name)
}
