//! Finds the API server and the way to prove who asks.

use http::Uri;
use kube::{
    Client, Config,
    config::{InClusterError, KubeConfigOptions, Kubeconfig, KubeconfigError},
};
use std::{
    env,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::KubernetesSource;

/// How long a connection may take to come up.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Why there is no way to an API server.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The file cannot be read.
    #[error("kubeconfig `{}` cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file is read, but is no kubeconfig.
    #[error("kubeconfig `{place}` is not valid YAML of a kubeconfig")]
    Parse {
        /// The file, or the variable that names several.
        place: String,
        /// Line and reason.
        source: KubeconfigError,
    },
    /// The file names no context to use.
    #[error(
        "kubeconfig `{place}` has no current-context; set one with `kubectl config use-context`"
    )]
    NoContext {
        /// The file, or the variable that names several.
        place: String,
    },
    /// The file is a kubeconfig, but its current context leads nowhere.
    #[error("kubeconfig `{place}` cannot be used")]
    Unusable {
        /// The file, or the variable that names several.
        place: String,
        /// What is missing.
        source: KubeconfigError,
    },
    /// No file was named, none is in its usual place, and this is not a pod.
    #[error(
        "no API server is known: no kubeconfig was given, neither $KUBECONFIG nor \
         ~/.kube/config exists, and this does not run in a cluster"
    )]
    Nowhere {
        /// What is missing of a pod's credentials.
        source: InClusterError,
    },
    /// The address is no URL.
    #[error("`{url}` is not the URL of an API server, such as `https://10.0.0.1:6443`")]
    Url {
        /// The address.
        url: String,
    },
    /// The certificates or the credentials cannot be used.
    #[error("no client can be made for API server {url}")]
    Client {
        /// The API server.
        url: String,
        /// What is wrong with them.
        source: Box<kube::Error>,
    },
}

/// Prepares to ask an API server; nothing is asked yet.
///
/// Without a file: `$KUBECONFIG`, else `~/.kube/config`, else the service account of the
/// pod that this runs in. Must be called within a tokio runtime.
///
/// # Errors
///
/// See [`ConnectError`]. That the API server cannot be reached is none of them: that may
/// change, so the source retries it.
pub async fn connect(kubeconfig: Option<&Path>) -> Result<KubernetesSource, ConnectError> {
    let config = config_in(kubeconfig).await?;
    source(config, Way::Files(kubeconfig.map(Path::to_owned)))
}

/// Prepares to ask the API server at `url` without credentials: a simulated one, or
/// `kubectl proxy`. Must be called within a tokio runtime.
///
/// # Errors
///
/// [`ConnectError::Url`], and [`ConnectError::Client`] if TLS cannot be set up.
pub fn connect_to(url: &str) -> Result<KubernetesSource, ConnectError> {
    source(config_of(url)?, Way::Url(url.to_owned()))
}

/// Where a client comes from.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    /// A kubeconfig file, or the usual places.
    Files(Option<PathBuf>),
    /// An address.
    Url(String),
    /// Whoever made the client.
    #[cfg(test)]
    Given,
}

impl Way {
    /// A new client, from what the files say now; `None` if only a stranger can make one.
    ///
    /// # Errors
    ///
    /// See [`ConnectError`].
    pub(crate) async fn client(&self) -> Result<Option<Client>, ConnectError> {
        let config = match self {
            Self::Files(kubeconfig) => config_in(kubeconfig.as_deref()).await?,
            Self::Url(url) => config_of(url)?,
            #[cfg(test)]
            Self::Given => return Ok(None),
        };
        client(config).map(Some)
    }
}

fn config_of(url: &str) -> Result<Config, ConnectError> {
    let no_url = || ConnectError::Url {
        url: url.to_owned(),
    };
    let uri: Uri = url.parse().map_err(|_| no_url())?;
    match uri.scheme_str() {
        Some("http" | "https") => Ok(Config::new(uri)),
        Some(_) | None => Err(no_url()),
    }
}

async fn config_in(kubeconfig: Option<&Path>) -> Result<Config, ConnectError> {
    if let Some(path) = kubeconfig {
        return use_context(&shown(path), read(path)).await;
    }
    match usual() {
        Some((place, read)) => use_context(&place, read).await,
        None => Config::incluster().map_err(|source| ConnectError::Nowhere { source }),
    }
}

type Read = Result<Kubeconfig, KubeconfigError>;

fn read(path: &Path) -> Read {
    Kubeconfig::read_from(path)
}

/// The kubeconfig of the usual places, if there is one.
fn usual() -> Option<(String, Read)> {
    let listed = env::var("KUBECONFIG")
        .ok()
        .filter(|paths| !paths.is_empty());
    if let Some(paths) = listed {
        return Some((paths, Kubeconfig::read()));
    }
    let path = env::home_dir()?.join(".kube").join("config");
    path.exists().then(|| (shown(&path), read(&path)))
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

async fn use_context(place: &str, read: Read) -> Result<Config, ConnectError> {
    let kubeconfig = read.map_err(|error| refused(place, error))?;
    Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default())
        .await
        .map_err(|error| refused(place, error))
}

fn refused(place: &str, error: KubeconfigError) -> ConnectError {
    let place = place.to_owned();
    match error {
        KubeconfigError::ReadConfig(source, path) => ConnectError::Read { path, source },
        KubeconfigError::Parse(_) => ConnectError::Parse {
            place,
            source: error,
        },
        KubeconfigError::CurrentContextNotSet => ConnectError::NoContext { place },
        _ => ConnectError::Unusable {
            place,
            source: error,
        },
    }
}

fn source(config: Config, way: Way) -> Result<KubernetesSource, ConnectError> {
    let url = config.cluster_url.to_string();
    Ok(KubernetesSource::new(client(config)?, way, url))
}

fn client(mut config: Config) -> Result<Client, ConnectError> {
    config.connect_timeout = Some(CONNECT_TIMEOUT);
    // The watches have their own back-off, which knows what a failure means.
    config.default_retry = false;
    let url = config.cluster_url.to_string();
    Client::try_from(config).map_err(|error| ConnectError::Client {
        url,
        source: Box::new(error),
    })
}

#[cfg(test)]
mod tests;
