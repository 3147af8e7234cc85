//! A folder that its replica gave up, and what becomes of it.
//!
//! A replica whose id counts no more, or whose folder cannot be trusted, must
//! come back empty and under a new id. It says so by the file `given-up`; when
//! the folder is opened next, all its files move into `set-aside`, where they
//! stay until the next time that something is put there. Nothing that was once
//! acknowledged is deleted by the replica that gives it up.

use serde_json::json;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::{StorageError, atomic_file};

/// Says that the folder was given up, and why, in one line of text.
pub(crate) const MARK: &str = "given-up";
/// Holds what was given up.
pub(crate) const PLACE: &str = "set-aside";

/// Notes durably that the folder is given up.
pub(crate) fn mark(folder: &Path, reason: &str) -> Result<(), StorageError> {
    atomic_file::replace(&folder.join(MARK), reason.as_bytes())
}

/// What is kept of a folder that could not be opened: JSON, for people.
pub(crate) fn evidence(why: &str) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let unix_ms = u64::try_from(now.unwrap_or_default().as_millis()).unwrap_or(u64::MAX);
    format!("{:#}\n", json!({ "why": why, "unix_ms": unix_ms }))
}

/// Whether the folder was given up.
pub(crate) fn is_marked(folder: &Path) -> bool {
    folder.join(MARK).exists()
}

/// Moves the files of a folder that was given up, the first of which names
/// its owner. What a crash interrupts goes on where it stopped.
pub(crate) fn move_away(folder: &Path, names: &[&str]) -> Result<(), StorageError> {
    let place = folder.join(PLACE);
    let is_untouched = names.first().is_some_and(|name| folder.join(name).exists());
    if is_untouched {
        ignore_missing(fs::remove_dir_all(&place)).map_err(StorageError::io("clear", &place))?;
    }
    fs::create_dir_all(&place).map_err(StorageError::io("create", &place))?;
    // The mark last: as long as it is there, files may be on their way.
    for name in names.iter().chain([&MARK]) {
        let from = folder.join(name);
        ignore_missing(fs::rename(&from, place.join(name)))
            .map_err(StorageError::io("move", &from))?;
        atomic_file::sync_folder(&place)?;
        atomic_file::sync_folder(folder)?;
    }
    tracing::warn!(
        set_aside = %place.display(),
        "the data folder was given up: its files were moved, and it starts anew"
    );
    Ok(())
}

fn ignore_missing(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
