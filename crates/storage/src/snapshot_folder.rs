//! The folder of snapshots: the newest two are kept.

use lockstep_position::{LogId, Term};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::tail::next_index;
use crate::{LogBounds, SnapshotFile, SnapshotWriter, StorageError};

/// How many snapshots are kept: the second is for the case that the newest is damaged.
const KEPT: usize = 2;

/// The snapshots of one replica, as files `<index>-<term>.snap`. A cheap handle.
#[derive(Clone, Debug)]
pub struct SnapshotFolder {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    newest: Mutex<Option<SnapshotFile>>,
    temporary: AtomicU64,
}

impl SnapshotFolder {
    /// Opens the folder: removes unfinished files, verifies the newest snapshot.
    ///
    /// A damaged newest one is an error, unless an older one and the log
    /// together still hold everything.
    pub(crate) fn open(path: &Path, log: LogBounds) -> Result<Self, StorageError> {
        let mut kept = Vec::new();
        for name in names(path)? {
            match parse_name(&name) {
                Some(log_id) => kept.push((log_id, path.join(&name))),
                None if name.ends_with(".tmp") => remove(&path.join(&name))?,
                None => {}
            }
        }
        kept.sort();
        let newest = newest_whole(&kept, log)?;
        let covered = newest.as_ref().map(SnapshotFile::log_id);
        if next_index(covered) < next_index(log.purged) {
            let what = format!(
                "the log begins at index {} but no snapshot covers what is before",
                next_index(log.purged)
            );
            return Err(StorageError::damaged(path, what));
        }
        Ok(Self {
            inner: Arc::new(Inner {
                path: path.to_owned(),
                newest: Mutex::new(newest),
                temporary: AtomicU64::new(0),
            }),
        })
    }

    /// The newest snapshot.
    #[must_use]
    pub fn newest(&self) -> Option<SnapshotFile> {
        self.lock().clone()
    }

    /// Starts a snapshot that covers the log up to `log_id`. `meta` is the
    /// owner's, at most 1 MiB.
    ///
    /// # Errors
    ///
    /// [`StorageError::Io`] when the file cannot be made.
    pub fn writer(&self, log_id: LogId, meta: &[u8]) -> Result<SnapshotWriter, StorageError> {
        let number = self.inner.temporary.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{number}.tmp", name_of(log_id));
        SnapshotWriter::create(self.inner.path.join(name), log_id, meta)
    }

    /// Keeps a finished snapshot, durably, and removes those that are too old.
    /// One that is older than the newest is not kept.
    ///
    /// # Errors
    ///
    /// [`StorageError::Io`] when the folder cannot be changed.
    pub fn keep(&self, snapshot: &SnapshotFile) -> Result<(), StorageError> {
        let mut newest = self.lock();
        let is_older = newest
            .as_ref()
            .is_some_and(|newest| newest.log_id() > snapshot.log_id());
        if is_older || snapshot.is_kept() {
            return Ok(());
        }
        let name = format!("{}.snap", name_of(snapshot.log_id()));
        snapshot.keep(&self.inner.path.join(name))?;
        *newest = Some(snapshot.clone());
        self.remove_old()
    }

    /// What all snapshots take. Unit: bytes.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        let names = names(&self.inner.path).unwrap_or_default();
        names
            .iter()
            .filter_map(|name| fs::metadata(self.inner.path.join(name)).ok())
            .map(|metadata| metadata.len())
            .sum()
    }

    fn remove_old(&self) -> Result<(), StorageError> {
        let mut kept: Vec<_> = names(&self.inner.path)?
            .into_iter()
            .filter_map(|name| parse_name(&name).map(|log_id| (log_id, name)))
            .collect();
        kept.sort();
        for (_, name) in kept.iter().rev().skip(KEPT) {
            remove(&self.inner.path.join(name))?;
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Option<SnapshotFile>> {
        // Replaced as a whole, so a panic of another holder leaves it usable.
        self.inner
            .newest
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// The newest snapshot that is whole, if the log continues it.
fn newest_whole(
    kept: &[(LogId, PathBuf)],
    log: LogBounds,
) -> Result<Option<SnapshotFile>, StorageError> {
    let mut first_error = None;
    for (log_id, path) in kept.iter().rev() {
        let is_covered = next_index(log.purged) <= next_index(Some(*log_id));
        match (SnapshotFile::open(path, *log_id), first_error.take()) {
            (Ok(snapshot), None) => return Ok(Some(snapshot)),
            (Ok(snapshot), Some(_)) if is_covered => return Ok(Some(snapshot)),
            (Ok(_), Some(error)) => return Err(error),
            (Err(error), earlier) => {
                tracing::warn!(%error, "a snapshot is not usable");
                first_error = Some(earlier.unwrap_or(error));
            }
        }
    }
    // Without any snapshot the log must reach back to the beginning.
    match first_error {
        Some(error) if log.purged.is_some() => Err(error),
        Some(_) | None => Ok(None),
    }
}

fn names(folder: &Path) -> Result<Vec<String>, StorageError> {
    let io = |source| StorageError::io("read", folder)(source);
    let entries = fs::read_dir(folder).map_err(io)?;
    entries
        .map(|entry| {
            Ok(entry
                .map_err(io)?
                .file_name()
                .to_string_lossy()
                .into_owned())
        })
        .collect()
}

fn remove(path: &Path) -> Result<(), StorageError> {
    fs::remove_file(path).map_err(StorageError::io("remove", path))
}

/// Padded, so that names sort like log ids.
fn name_of(log_id: LogId) -> String {
    format!("{:020}-{:020}", log_id.index, log_id.term.as_u64())
}

fn parse_name(name: &str) -> Option<LogId> {
    let (index, term) = name.strip_suffix(".snap")?.split_once('-')?;
    let log_id = LogId {
        term: Term::from_u64(term.parse().ok()?),
        index: index.parse().ok()?,
    };
    (format!("{}.snap", name_of(log_id)) == name).then_some(log_id)
}
