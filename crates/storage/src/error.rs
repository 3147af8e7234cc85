//! Why the data folder could not be opened, read or written.

use lockstep_position::HistoryId;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What an operator can do about a folder that is refused.
const MOVE_AWAY: &str = "move the folder away and start again: the replica then comes back empty and rejoins under a new id, as long as a majority of the group is up without it";

/// Why the data folder could not be opened, read or written.
///
/// Cloned to every caller that waits for the same failed write.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StorageError {
    /// The operating system refused, or the disk is full. Nothing that was
    /// acknowledged before is lost by it.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was attempted, such as `write`.
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// The operating system's answer.
        #[source]
        source: Arc<io::Error>,
    },
    /// Bytes on disk are not what was once written.
    #[error("{} is damaged: {what}; {MOVE_AWAY}", path.display())]
    Damaged {
        /// The damaged file.
        path: PathBuf,
        /// What does not fit.
        what: String,
    },
    /// The folder once held more than it holds now: its log is shorter, or its
    /// vote older, than it has promised to others.
    #[error("{} has lost data: {what}; it must not vote again; {MOVE_AWAY}", path.display())]
    Amnesia {
        /// The folder.
        path: PathBuf,
        /// What was promised and what is there.
        what: String,
    },
    /// Another process has the folder open.
    #[error("{} is in use by another process; stop that process or choose another folder", path.display())]
    Locked {
        /// The folder.
        path: PathBuf,
    },
    /// The folder belongs to another cluster.
    #[error("{} belongs to cluster `{found}`, not to `{wanted}`; choose another folder, or {MOVE_AWAY}", path.display())]
    OtherCluster {
        /// The folder.
        path: PathBuf,
        /// The cluster that it was made for.
        found: String,
        /// The cluster that was asked for.
        wanted: String,
    },
    /// The folder belongs to another replica of the cluster.
    #[error("{} belongs to replica `{found}`, not to `{wanted}`; choose another folder, or {MOVE_AWAY}", path.display())]
    OtherReplica {
        /// The folder.
        path: PathBuf,
        /// The replica that it was made for.
        found: String,
        /// The replica that was asked for.
        wanted: String,
    },
    /// The folder belongs to another history of the cluster.
    #[error("{} belongs to history {found}, not to {wanted}; {MOVE_AWAY}", path.display())]
    OtherHistory {
        /// The folder.
        path: PathBuf,
        /// The history that it belongs to.
        found: HistoryId,
        /// The history that was asked for.
        wanted: HistoryId,
    },
    /// The folder was written by a newer version.
    #[error("{} has format {found}, this version reads up to format {supported}; use the newer version, or {MOVE_AWAY}", path.display())]
    NewerFormat {
        /// The file that says so.
        path: PathBuf,
        /// Its format.
        found: u64,
        /// The newest format that this version reads.
        supported: u64,
    },
    /// The folder holds files, but no identity: it is not ours.
    #[error("{} holds `{example}` but no identity, so it is not a data folder; choose an empty folder, or {MOVE_AWAY}", path.display())]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// One of the files in it.
        example: String,
    },
    /// The store was closed.
    #[error("{} is closed", path.display())]
    Closed {
        /// The log file.
        path: PathBuf,
    },
}

impl StorageError {
    /// What was found, without what an operator can do about it.
    #[must_use]
    pub fn finding(&self) -> String {
        let said = self.to_string();
        let advice = format!("; {MOVE_AWAY}");
        said.strip_suffix(&advice).unwrap_or(&said).to_owned()
    }

    /// Whether it says that the folder holds less than it once did, or something else.
    pub(crate) const fn is_loss(&self) -> bool {
        match self {
            Self::Damaged { .. } | Self::Amnesia { .. } => true,
            Self::Io { .. }
            | Self::Locked { .. }
            | Self::OtherCluster { .. }
            | Self::OtherReplica { .. }
            | Self::OtherHistory { .. }
            | Self::NewerFormat { .. }
            | Self::Foreign { .. }
            | Self::Closed { .. } => false,
        }
    }

    /// Names the operation and the place of an operating system error.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            action,
            path,
            source: Arc::new(source),
        }
    }

    /// A damaged file, and what does not fit.
    pub(crate) fn damaged(path: &Path, what: impl Into<String>) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            what: what.into(),
        }
    }
}
