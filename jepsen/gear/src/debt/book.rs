//! The files in which runs note what they owe.
//!
//! A file begins with its owner, in one step, so that nobody who looks takes a book that was just
//! opened for a dead run's. Whoever pays for the dead locks the book: two who come at once do not
//! undo the same thing twice.

use std::fs::{self, File, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use super::{Debt, pay};
use crate::process::ProcessId;

/// Where books are, unless [`MOVED`] says otherwise.
const FOLDER: &str = "/run/lockstep-jepsen";
/// The variable that names another folder: for tests, which must not meet other runs.
const MOVED: &str = "LOCKSTEP_JEPSEN_BOOKS";

/// The file of one run.
#[derive(Debug)]
pub(super) struct Book {
    file: PathBuf,
}

/// What a run has left that did not end well.
#[derive(Debug)]
pub struct Left {
    /// The run.
    pub run: String,
    /// What it made.
    pub things: usize,
}

/// A line of the file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    Owner(ProcessId),
    Owes(Debt),
}

// === impl Book ===

impl Book {
    /// Opens the book of a run.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub(super) fn open(run: &str) -> anyhow::Result<Self> {
        let folder = folder();
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        Self::open_at(folder.join(format!("{run}.jsonl")))
    }

    /// Opens a book in this file.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub(super) fn open_at(file: PathBuf) -> anyhow::Result<Self> {
        let draft = file.with_extension("draft");
        let owner = line(&Line::Owner(ProcessId::own()?))?;
        fs::write(&draft, owner).with_context(|| format!("cannot write {}", draft.display()))?;
        fs::rename(&draft, &file).with_context(|| format!("cannot write {}", file.display()))?;
        Ok(Self { file })
    }

    /// Notes a debt.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub(super) fn note(&self, debt: &Debt) -> anyhow::Result<()> {
        let file = fs::OpenOptions::new().append(true).open(&self.file);
        let mut file = file.with_context(|| format!("cannot open {}", self.file.display()))?;
        let text = line(&Line::Owes(debt.clone()))?;
        file.write_all(text.as_bytes())
            .with_context(|| format!("cannot write {}", self.file.display()))
    }

    /// Nothing is owed any more.
    pub(super) fn close(&self) {
        // It may be closed already.
        let _ = fs::remove_file(&self.file);
    }
}

fn folder() -> PathBuf {
    std::env::var_os(MOVED).map_or_else(|| PathBuf::from(FOLDER), PathBuf::from)
}

fn line(line: &Line) -> anyhow::Result<String> {
    Ok(serde_json::to_string(line)? + "\n")
}

/// What runs have left that were killed together with their wardens.
///
/// # Errors
///
/// When the folder of the books cannot be read.
pub fn left_by_the_dead() -> anyhow::Result<Vec<Left>> {
    let dead = books()?.into_iter().filter_map(|path| {
        let mut text = String::new();
        // One that is gone by now is paid.
        File::open(&path).ok()?.read_to_string(&mut text).ok()?;
        let owed = owed_by_the_dead(&text)?;
        Some(Left {
            run: name(&path),
            things: owed.len(),
        })
    });
    Ok(dead.collect())
}

/// Pays what killed runs have left, and says of which.
///
/// # Errors
///
/// When the folder of the books cannot be read.
pub fn pay_for_the_dead() -> anyhow::Result<Vec<String>> {
    let mut paid = Vec::new();
    for path in books()? {
        if pay_book(&path)? {
            paid.push(name(&path));
        }
    }
    Ok(paid)
}

/// Whether the book was a dead run's and is paid now, by nobody else.
fn pay_book(path: &Path) -> anyhow::Result<bool> {
    let Ok(mut file) = File::open(path) else {
        return Ok(false);
    };
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(false),
        Err(TryLockError::Error(error)) => return Err(error.into()),
    }
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    // Whoever had the lock before may have paid and removed it.
    let Some(owed) = owed_by_the_dead(&text).filter(|_| path.exists()) else {
        return Ok(false);
    };
    let is_paid = pay(owed) == 0;
    if is_paid {
        fs::remove_file(path)?;
    }
    Ok(is_paid)
}

/// What the book's owner owes; nothing if it lives.
fn owed_by_the_dead(text: &str) -> Option<Vec<Debt>> {
    let (mut is_alive, mut owed) = (false, Vec::new());
    // The last line may be torn; what it would have noted was not made yet.
    let lines = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    for line in lines {
        match line {
            Line::Owner(owner) => is_alive = owner.is_alive(),
            Line::Owes(debt) => owed.push(debt),
        }
    }
    (!is_alive).then_some(owed)
}

fn books() -> anyhow::Result<Vec<PathBuf>> {
    let Ok(entries) = fs::read_dir(folder()) else {
        // Nobody ever ran here.
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn name(path: &Path) -> String {
    let name = path.file_stem().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_book_of_the_dead_is_paid_once_and_one_of_the_living_never() {
        let folder = tempfile::tempdir().unwrap();
        let made = folder.path().join("made");
        fs::create_dir(&made).unwrap();
        let owes = line(&Line::Owes(Debt::Folder(made.clone()))).unwrap();
        let alive = line(&Line::Owner(ProcessId::own().unwrap())).unwrap();
        let dead = "{\"owner\":{\"id\":1,\"started\":1}}\n".to_owned();
        for (owner, is_paid) in [(alive, false), (dead, true)] {
            let path = folder.path().join("ls0001.jsonl");
            fs::write(&path, owner + &owes + "{\"owes\":{\"fold").unwrap();
            assert_eq!(pay_book(&path).unwrap(), is_paid);
            assert_eq!((made.exists(), path.exists()), (!is_paid, !is_paid));
            assert!(!pay_book(&path).unwrap());
        }
    }
}
