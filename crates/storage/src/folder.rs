//! The data folder of one replica.

use lockstep_position::{HistoryId, ReplicaId};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::identity::Identity;
use crate::promise::PromiseFile;
use crate::table::LogTable;
use crate::{LogStore, SnapshotFolder, StorageError, atomic_file, set_aside};

const IDENTITY: &str = "identity";
/// Written first and renamed last: while it is there without an identity, the
/// folder is being made and holds nothing.
const IDENTITY_UNFINISHED: &str = "identity.tmp";
const LOCK: &str = "lock";
const LOG: &str = "log.redb";
const PROMISE: &str = "promise";
const SNAPSHOTS: &str = "snapshots";
/// What was found when the replica was quarantined; for people.
const EVIDENCE: &str = "quarantine.json";
/// The same, after the replica was found to be right.
const EVIDENCE_SETTLED: &str = "quarantine-settled.json";
/// Made by the file system in a fresh volume.
const LOST_AND_FOUND: &str = "lost+found";

/// Who opens a folder.
#[derive(Copy, Clone, Debug)]
pub struct OpenAs<'a> {
    /// The cluster's name.
    pub cluster: &'a str,
    /// The replica's configured name.
    pub name: &'a str,
}

/// The data folder of one replica, open and locked.
pub struct DataFolder {
    path: PathBuf,
    identity: Mutex<Identity>,
    log: LogStore,
    snapshots: SnapshotFolder,
    lock: File,
}

impl DataFolder {
    /// Opens the folder, or makes it on first use; verifies all of it.
    ///
    /// # Errors
    ///
    /// Any [`StorageError`] but [`StorageError::Closed`]; each says what is
    /// wrong and what to do.
    pub fn open(path: &Path, who: OpenAs<'_>) -> Result<Self, StorageError> {
        fs::create_dir_all(path).map_err(StorageError::io("create", path))?;
        let identity = path.join(IDENTITY);
        let is_new = !identity.exists();
        if is_new {
            refuse_foreign(path)?;
        }
        let lock = lock(path)?;
        let is_given_up = set_aside::is_marked(path);
        if is_given_up {
            let all = [
                IDENTITY,
                LOG,
                PROMISE,
                SNAPSHOTS,
                EVIDENCE,
                EVIDENCE_SETTLED,
            ];
            set_aside::move_away(path, &all)?;
        }
        if is_new || is_given_up {
            // Also when a crash has cut the move short: the place is there by then.
            let was_given_up = is_given_up || path.join(set_aside::PLACE).exists();
            create(path, who, was_given_up)?;
        }
        let bytes = fs::read(&identity).map_err(StorageError::io("read", &identity))?;
        let identity = Identity::parse(&identity, &bytes)?;
        refuse_other(path, &identity, who)?;
        refuse_missing(path)?;
        let log = LogStore::open(&path.join(LOG), &path.join(PROMISE), identity.replica)?;
        check_history(path, &identity, log.history())?;
        let snapshots = SnapshotFolder::open(&path.join(SNAPSHOTS), log.bounds())?;
        Ok(Self {
            path: path.to_owned(),
            identity: Mutex::new(identity),
            log,
            snapshots,
            lock,
        })
    }

    /// Where the folder is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The replica's id: random, as old as the folder.
    #[must_use]
    pub fn id(&self) -> ReplicaId {
        self.lock_identity().replica
    }

    /// Whether a folder was given up here before: the replica may join its group, and
    /// never make one, because what the group held may be in that folder alone.
    #[must_use]
    pub fn joins_only(&self) -> bool {
        self.lock_identity().joins_only
    }

    /// The history that the folder belongs to, once known.
    #[must_use]
    pub fn history(&self) -> Option<HistoryId> {
        self.lock_identity().history
    }

    /// Notes the history that the folder belongs to, durably. Waits for the
    /// disk. Noting the same again does nothing.
    ///
    /// # Errors
    ///
    /// [`StorageError::OtherHistory`] when it belongs to another; `Io`.
    pub fn remember_history(&self, history: HistoryId) -> Result<(), StorageError> {
        let mut identity = self.lock_identity();
        match identity.history {
            Some(known) if known == history => return Ok(()),
            Some(found) => {
                return Err(StorageError::OtherHistory {
                    path: self.path.clone(),
                    found,
                    wanted: history,
                });
            }
            None => {}
        }
        let remembered = Identity {
            history: Some(history),
            ..identity.clone()
        };
        // The identity first: a promise with a history needs an identity with the same.
        write_identity(&self.path, &remembered)?;
        *identity = remembered;
        self.log.remember_history(history)
    }

    /// Notes durably that this folder is not to be used again: opened next, its
    /// files are put aside and it starts anew, under a new id. Waits for the disk.
    ///
    /// # Errors
    ///
    /// [`StorageError::Io`].
    pub fn give_up(&self, reason: &str) -> Result<(), StorageError> {
        set_aside::mark(&self.path, reason)
    }

    /// Gives a folder up that could not be opened because it lost data, if it is
    /// this replica's beyond doubt; returns whether it is given up. Its files stay
    /// as they are until it is opened next. Waits for the disk.
    ///
    /// # Errors
    ///
    /// [`StorageError`] when that cannot be noted.
    pub fn give_up_lost(
        path: &Path,
        who: OpenAs<'_>,
        loss: &StorageError,
    ) -> Result<bool, StorageError> {
        if !loss.is_loss() {
            return Ok(false);
        }
        let identity = path.join(IDENTITY);
        let bytes = fs::read(&identity).map_err(StorageError::io("read", &identity))?;
        let owner = Identity::parse(&identity, &bytes);
        if !owner.is_ok_and(|owner| refuse_other(path, &owner, who).is_ok()) {
            return Ok(false);
        }
        let _lock = lock(path)?;
        let evidence = set_aside::evidence(&loss.finding());
        atomic_file::replace(&path.join(EVIDENCE), evidence.as_bytes())?;
        set_aside::mark(path, &loss.finding())?;
        Ok(true)
    }

    /// Keeps what shows that this replica is wrong, durably, in place of what was
    /// kept before; returns the file. Waits for the disk.
    ///
    /// # Errors
    ///
    /// [`StorageError::Io`].
    pub fn keep_evidence(&self, text: &str) -> Result<PathBuf, StorageError> {
        let file = self.path.join(EVIDENCE);
        atomic_file::replace(&file, text.as_bytes())?;
        Ok(file)
    }

    /// Whether evidence is kept that was not settled.
    #[must_use]
    pub fn has_evidence(&self) -> bool {
        self.path.join(EVIDENCE).exists()
    }

    /// Notes durably that the replica was found to be right: the evidence stays under
    /// another name. Waits for the disk.
    ///
    /// # Errors
    ///
    /// [`StorageError::Io`].
    pub fn settle_evidence(&self) -> Result<(), StorageError> {
        let (from, to) = (self.path.join(EVIDENCE), self.path.join(EVIDENCE_SETTLED));
        if from.exists() {
            atomic_file::rename(&from, &to)?;
        }
        Ok(())
    }

    /// The log and the vote.
    #[must_use]
    pub const fn log(&self) -> &LogStore {
        &self.log
    }

    /// The snapshots.
    #[must_use]
    pub const fn snapshots(&self) -> &SnapshotFolder {
        &self.snapshots
    }

    /// Waits for all writes, closes the log and lets go of the lock. Handles
    /// that still exist fail from now on.
    ///
    /// # Errors
    ///
    /// [`StorageError`] when something could not be written.
    pub fn close(&self) -> Result<(), StorageError> {
        let closed = self.log.close();
        let lock = self.path.join(LOCK);
        let unlocked = self.lock.unlock();
        closed.and(unlocked.map_err(StorageError::io("unlock", &lock)))
    }

    fn lock_identity(&self) -> MutexGuard<'_, Identity> {
        // Replaced as a whole, so a panic of another holder leaves it usable.
        self.identity.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for DataFolder {
    /// Whoever opens the folder next in this process must not meet its writer.
    fn drop(&mut self) {
        match self.close() {
            Ok(()) | Err(StorageError::Closed { .. }) => {}
            Err(error) => tracing::error!(%error, "the data folder could not be closed cleanly"),
        }
    }
}

/// A folder without an identity must be empty, or be one that was being made or put aside.
fn refuse_foreign(path: &Path) -> Result<(), StorageError> {
    let ours = [
        IDENTITY_UNFINISHED,
        LOCK,
        LOG,
        PROMISE,
        SNAPSHOTS,
        EVIDENCE,
        EVIDENCE_SETTLED,
    ];
    let mut names = Vec::new();
    for entry in fs::read_dir(path).map_err(StorageError::io("read", path))? {
        let entry = entry.map_err(StorageError::io("read", path))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    names.retain(|name| name != LOST_AND_FOUND);
    let says_so = |name: &String| name == IDENTITY_UNFINISHED || name == set_aside::MARK;
    let is_unfinished = names.iter().any(says_so);
    let always_harmless = [LOCK, set_aside::MARK, set_aside::PLACE];
    let harmless =
        |name: &str| always_harmless.contains(&name) || is_unfinished && ours.contains(&name);
    match names.into_iter().find(|name| !harmless(name)) {
        Some(example) => Err(StorageError::Foreign {
            path: path.to_owned(),
            example,
        }),
        None => Ok(()),
    }
}

fn lock(path: &Path) -> Result<File, StorageError> {
    let lock = path.join(LOCK);
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&lock)
        .map_err(StorageError::io("open", &lock))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StorageError::Locked {
            path: path.to_owned(),
        }),
        Err(TryLockError::Error(source)) => Err(StorageError::io("lock", &lock)(source)),
    }
}

/// Makes everything, the identity's name last.
fn create(path: &Path, who: OpenAs<'_>, joins_only: bool) -> Result<(), StorageError> {
    let identity = Identity {
        cluster: who.cluster.to_owned(),
        name: who.name.to_owned(),
        replica: random_id(path)?,
        history: None,
        joins_only,
    };
    atomic_file::write_synced(&path.join(IDENTITY_UNFINISHED), b"")?;
    atomic_file::sync_folder(path)?;
    let (log, snapshots) = (path.join(LOG), path.join(SNAPSHOTS));
    // Left by an attempt that was cut short.
    for result in [fs::remove_file(&log), fs::remove_dir_all(&snapshots)] {
        match result {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(StorageError::io("clear", path)(error));
            }
            Ok(()) | Err(_) => {}
        }
    }
    LogTable::create(&log, identity.replica)?;
    PromiseFile::create(&path.join(PROMISE), identity.replica)?;
    fs::create_dir(&snapshots).map_err(StorageError::io("create", &snapshots))?;
    atomic_file::sync_folder(path)?;
    atomic_file::sync_parent(path)?;
    write_identity(path, &identity)
}

fn write_identity(path: &Path, identity: &Identity) -> Result<(), StorageError> {
    let file = path.join(IDENTITY);
    let text = identity
        .to_text()
        .map_err(|error| StorageError::io("encode", &file)(error.into()))?;
    atomic_file::replace(&file, text.as_bytes())
}

fn random_id(path: &Path) -> Result<ReplicaId, StorageError> {
    let random = getrandom::u64().map_err(|error| {
        StorageError::io("make an id for", path)(io::Error::other(error.to_string()))
    })?;
    // Zero is left free to mean "nobody" in messages.
    Ok(ReplicaId::from_u64(random.max(1)))
}

fn refuse_other(path: &Path, identity: &Identity, who: OpenAs<'_>) -> Result<(), StorageError> {
    if identity.cluster != who.cluster {
        return Err(StorageError::OtherCluster {
            path: path.to_owned(),
            found: identity.cluster.clone(),
            wanted: who.cluster.to_owned(),
        });
    }
    if identity.name != who.name {
        return Err(StorageError::OtherReplica {
            path: path.to_owned(),
            found: identity.name.clone(),
            wanted: who.name.to_owned(),
        });
    }
    Ok(())
}

/// The identity is named last, so with it everything else was there.
fn refuse_missing(path: &Path) -> Result<(), StorageError> {
    match [LOG, PROMISE, SNAPSHOTS]
        .iter()
        .find(|name| !path.join(name).exists())
    {
        Some(name) => Err(StorageError::Amnesia {
            path: path.to_owned(),
            what: format!("`{name}` is missing"),
        }),
        None => Ok(()),
    }
}

fn check_history(
    path: &Path,
    identity: &Identity,
    promised: HistoryId,
) -> Result<(), StorageError> {
    let known = identity.history.unwrap_or(HistoryId::NONE);
    if promised == HistoryId::NONE || promised == known {
        return Ok(());
    }
    Err(StorageError::OtherHistory {
        path: path.to_owned(),
        found: promised,
        wanted: known,
    })
}
