//! Which source of facts a replica follows when it leads.

use lockstep_catalog::{FactSession, FactSource, Listed, Resume, SourceError, SourceEvent};
use lockstep_kubernetes::{ConnectError, KubernetesSession, KubernetesSource};
use lockstep_manifests::{ManifestSession, ManifestSource, OpenError};
use std::path::PathBuf;

use crate::options::SourceOptions;

/// Where the facts come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceConfig {
    /// A folder of manifests.
    Manifests(PathBuf),
    /// An API server, by a kubeconfig file or the pod's own service account.
    Kubernetes(Option<PathBuf>),
}

impl From<SourceOptions> for SourceConfig {
    fn from(options: SourceOptions) -> Self {
        match options.manifests {
            Some(folder) => Self::Manifests(folder),
            None => Self::Kubernetes(options.kubeconfig),
        }
    }
}

/// An open source of either kind.
#[expect(
    clippy::large_enum_variant,
    reason = "a process has one, and moves it once"
)]
pub enum Source {
    /// A folder of manifests.
    Manifests(ManifestSource),
    /// An API server.
    Kubernetes(KubernetesSource),
}

/// A running session of either kind.
#[expect(
    clippy::large_enum_variant,
    reason = "a process has one, and moves it once"
)]
pub enum Session {
    /// Of a folder.
    Manifests(ManifestSession),
    /// Of an API server.
    Kubernetes(KubernetesSession),
}

/// Why a source cannot be used at all.
#[derive(Debug, thiserror::Error)]
pub enum SourceOpenError {
    /// The folder cannot be used.
    #[error("the manifests cannot be used")]
    Manifests(#[from] OpenError),
    /// The API server cannot be addressed.
    #[error("the Kubernetes API server cannot be addressed")]
    Kubernetes(#[from] ConnectError),
}

// === impl Source ===

impl Source {
    /// Opens a source. Nothing is asked of an API server yet.
    ///
    /// # Errors
    ///
    /// [`SourceOpenError`] when the folder or the kubeconfig cannot be used.
    pub async fn open(config: &SourceConfig) -> Result<Self, SourceOpenError> {
        match config {
            SourceConfig::Manifests(folder) => Ok(Self::Manifests(ManifestSource::open(folder)?)),
            SourceConfig::Kubernetes(kubeconfig) => Ok(Self::Kubernetes(
                lockstep_kubernetes::connect(kubeconfig.as_deref()).await?,
            )),
        }
    }

    /// Files and objects of a folder that could not be used, and kinds of an API
    /// server that cannot be followed just now, one sentence each. Objects of an API
    /// server are named in the log and counted in a metric: there may be thousands.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        match self {
            Self::Manifests(source) => source.problems().iter().map(ToString::to_string).collect(),
            Self::Kubernetes(source) => source.problems(),
        }
    }
}

impl FactSource for Source {
    type Session = Session;

    fn follow(&self, resume: Resume) -> Session {
        match self {
            Self::Manifests(source) => Session::Manifests(source.follow(resume)),
            Self::Kubernetes(source) => Session::Kubernetes(source.follow(resume)),
        }
    }

    async fn list(&self) -> Result<Vec<Listed>, SourceError> {
        match self {
            Self::Manifests(source) => source.list().await,
            Self::Kubernetes(source) => source.list().await,
        }
    }

    async fn reach(&self) -> Result<(), SourceError> {
        match self {
            Self::Manifests(source) => source.reach().await,
            Self::Kubernetes(source) => source.reach().await,
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Manifests(source) => source.describe(),
            Self::Kubernetes(source) => source.describe(),
        }
    }
}

impl FactSession for Session {
    async fn next(&mut self) -> Vec<SourceEvent> {
        match self {
            Self::Manifests(session) => session.next().await,
            Self::Kubernetes(session) => session.next().await,
        }
    }
}
