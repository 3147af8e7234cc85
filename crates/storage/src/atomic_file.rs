//! Small files that are replaced as a whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;

use crate::StorageError;

/// Replaces `path` by `bytes`: written beside it, synced, renamed over it.
///
/// After a crash the file is the old one or the new one, never a part.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), StorageError> {
    let beside = path.with_extension("tmp");
    write_synced(&beside, bytes)?;
    rename(&beside, path)
}

/// Writes a new file and syncs its content; the folder is not synced.
pub(crate) fn write_synced(path: &Path, bytes: &[u8]) -> Result<(), StorageError> {
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)
        .map_err(StorageError::io("create", path))?;
    file.write_all(bytes)
        .map_err(StorageError::io("write", path))?;
    file.sync_all().map_err(StorageError::io("sync", path))
}

/// Renames within a folder, durably.
pub(crate) fn rename(from: &Path, to: &Path) -> Result<(), StorageError> {
    fs::rename(from, to).map_err(StorageError::io("rename", from))?;
    sync_parent(to)
}

/// Makes the names in the folder of `path` durable.
pub(crate) fn sync_parent(path: &Path) -> Result<(), StorageError> {
    match path.parent() {
        Some(folder) => sync_folder(folder),
        None => Ok(()),
    }
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), StorageError> {
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(StorageError::io("sync", folder))
}
