//! A folder of manifests as a source of facts.

use lockstep_catalog::{FactSource, Listed, Resume, SourceError};
use lockstep_model::FactKind;
use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio::sync::watch;

use crate::{ManifestSession, Problem, difference::lists, folder::Folder, read::contents};

/// A folder of manifests. Clones share what is in force, so that the last good version of
/// a file outlives a session.
#[derive(Clone, Debug)]
pub struct ManifestSource {
    path: Arc<Path>,
    shared: watch::Sender<Arc<Folder>>,
}

/// Why a folder cannot be a source.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It does not exist, is no folder, or is not ours to read.
    #[error("folder of manifests `{}` cannot be read", path.display())]
    Unreadable {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It holds no file that could be a manifest.
    #[error(
        "folder of manifests `{}` holds none: no file ends in .yaml, .yml or .json",
        path.display()
    )]
    Empty {
        /// The folder.
        path: PathBuf,
    },
    /// None of its manifests can be read.
    #[error("folder of manifests `{}` holds none that can be read: {first}", path.display())]
    NoneReadable {
        /// The folder.
        path: PathBuf,
        /// What is wrong with the first.
        first: Problem,
    },
}

impl ManifestSource {
    /// Reads a folder once, to see whether it can be a source.
    ///
    /// # Errors
    ///
    /// See [`OpenError`]. A bad file beside a good one is no error but a
    /// [problem](Self::problems).
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        let owned = || path.to_owned();
        let contents = contents(path).map_err(|source| OpenError::Unreadable {
            path: owned(),
            source,
        })?;
        if contents.is_empty() {
            return Err(OpenError::Empty { path: owned() });
        }
        let mut folder = Folder::default();
        folder.update(contents);
        match folder.problems().into_iter().next() {
            Some(first) if !folder.is_usable() => Err(OpenError::NoneReadable {
                path: owned(),
                first,
            }),
            Some(_) | None => Ok(Self {
                path: path.into(),
                shared: watch::Sender::new(Arc::new(folder)),
            }),
        }
    }

    /// What is wrong in the folder now, by file and line; as of the last edit while a
    /// session follows it.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        self.folder().problems()
    }

    /// What is in force.
    pub(crate) fn folder(&self) -> Arc<Folder> {
        self.shared.borrow().clone()
    }

    /// Reads the folder again on top of what is in force.
    pub(crate) fn reread(&self) -> Folder {
        let mut folder = Folder::clone(&self.folder());
        match contents(&self.path) {
            Ok(contents) => folder.update(contents),
            Err(error) => folder.keep(format!("the folder cannot be read: {error}")),
        }
        folder
    }

    /// Puts a folder in force.
    pub(crate) fn put(&self, folder: Folder) {
        self.shared.send_replace(Arc::new(folder));
    }

    fn unreadable(&self, error: &io::Error) -> SourceError {
        SourceError {
            kind: FactKind::Node,
            reason: format!("{}: {error}", self.path.display()),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl FactSource for ManifestSource {
    type Session = ManifestSession;

    /// There is no history to resume in: every kind is listed first.
    fn follow(&self, _resume: Resume) -> ManifestSession {
        ManifestSession::new(self.clone())
    }

    async fn list(&self) -> Result<Vec<Listed>, SourceError> {
        match contents(&self.path) {
            Ok(contents) => {
                let mut folder = Folder::clone(&self.folder());
                folder.update(contents);
                Ok(lists(&folder.facts()))
            }
            Err(error) => Err(self.unreadable(&error)),
        }
    }

    async fn reach(&self) -> Result<(), SourceError> {
        std::fs::read_dir(&self.path)
            .map(drop)
            .map_err(|error| self.unreadable(&error))
    }

    fn describe(&self) -> String {
        self.path.display().to_string()
    }
}
