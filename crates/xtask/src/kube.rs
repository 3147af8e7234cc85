//! A real API server on loopback: kube-apiserver over etcd, for tests and by hand.
//!
//! No controller manager and no scheduler run: whoever uses it writes Services,
//! Pods, Nodes and `EndpointSlices` themselves.
//!
//! ```no_run
//! let kube = xtask::kube::Kube::start(&xtask::kube::Options::default())?;
//! println!("{} {}", kube.url(), kube.kubeconfig().display());
//! kube.compact()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod api_server;
pub mod binaries;
mod child;
mod definitions;
mod errors;
mod etcd;
mod folder;
mod go_build;
mod https;
mod ports;
mod programs;
mod ready;
mod wanted;

use std::path::{Path, PathBuf};

use binaries::Binaries;
use child::Child;
pub use definitions::{CRDS, Crds};
pub use errors::{CrdError, RequestError, StartError};
pub use etcd::EtcdError;
use folder::Folder;
use ports::Ports;
use programs::{start_api_server, start_etcd};
pub use wanted::{WANTED, wanted_for};

/// A port can be taken between its choice and its use; three times in a row is no accident.
const START_ATTEMPTS_MAX: usize = 3;

/// Whether the API server answers watches from its memory or from etcd.
///
/// From memory it serves an old resource version even after a compaction of
/// etcd, as long as its own window holds it; and refuses (410) one from before
/// its own start even without a compaction. From etcd, 410 comes exactly after
/// a compaction; but then it sends no bookmarks.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum WatchCache {
    /// As in production.
    #[default]
    On,
    /// Every watch and list goes to etcd.
    Off,
}

/// How to start the API server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Folder for data and logs, kept afterwards; `None` is a temporary one.
    pub data: Option<PathBuf>,
    /// Where to write the kubeconfig; `None` is `kubeconfig` in the data folder.
    pub kubeconfig: Option<PathBuf>,
    /// Whether watches are served from memory.
    pub watch_cache: WatchCache,
    /// Which custom resource definitions are installed before `start` returns.
    pub crds: Crds,
}

/// A running API server and its etcd; dropping it stops both.
pub struct Kube {
    // Dropped in this order: the server first, so that it does not complain
    // about a missing etcd; the folder last.
    api_server: Child,
    etcd: Child,
    binaries: Binaries,
    options: Options,
    ports: Ports,
    token: String,
    kubeconfig: PathBuf,
    folder: Folder,
}

// === impl Kube ===

impl Kube {
    /// Builds what is missing, starts both programs and waits until `/readyz` is ok.
    ///
    /// # Errors
    ///
    /// Every variant of [`StartError`]; nothing is left running.
    pub fn start(options: &Options) -> Result<Self, StartError> {
        let binaries = Binaries::ensure().map_err(StartError::Build)?;
        let mut attempt = 1;
        loop {
            match Self::start_once(&binaries, options) {
                Err(StartError::Ended { last_lines, .. })
                    if attempt < START_ATTEMPTS_MAX
                        && last_lines.contains("address already in use") =>
                {
                    attempt += 1;
                }
                result => return result,
            }
        }
    }

    fn start_once(binaries: &Binaries, options: &Options) -> Result<Self, StartError> {
        let folder = Folder::open(options.data.as_deref())?;
        let ports = Ports::free().map_err(StartError::Port)?;
        let token = folder.write_token()?;
        let etcd = start_etcd(binaries, ports, &folder)?;
        let url = format!("https://127.0.0.1:{}", ports.api_server);
        let api_server = start_api_server(binaries, ports, &folder, options.watch_cache)?;
        let kubeconfig = options.kubeconfig.clone();
        let kubeconfig = kubeconfig.unwrap_or_else(|| folder.path().join("kubeconfig"));
        folder.write_kubeconfig(&kubeconfig, &url, &token)?;
        if options.crds == Crds::All {
            definitions::install(&folder, ports.api_server).map_err(StartError::Crds)?;
        }
        let (binaries, options) = (binaries.clone(), options.clone());
        Ok(Self {
            api_server,
            etcd,
            binaries,
            options,
            ports,
            token,
            kubeconfig,
            folder,
        })
    }

    /// Stops the API server and starts it again on the same port and etcd.
    ///
    /// With [`WatchCache::On`] every resource version from before is then too
    /// old to watch from (410), as its memory begins anew.
    ///
    /// # Errors
    ///
    /// Every variant of [`StartError`] but `Build` and `Port`.
    pub fn restart_api_server(&mut self) -> Result<(), StartError> {
        self.stop_api_server();
        self.api_server = start_api_server(
            &self.binaries,
            self.ports,
            &self.folder,
            self.options.watch_cache,
        )?;
        Ok(())
    }

    /// Kills the API server and returns when it is gone; etcd goes on.
    pub fn stop_api_server(&mut self) {
        self.api_server.stop();
    }

    /// Forgets etcd's history, so that an older resource version is gone (410).
    ///
    /// Returns the revision compacted at. Watching *from* it still works; from
    /// anything lower does not, given [`WatchCache::Off`].
    ///
    /// # Errors
    ///
    /// Either variant of [`EtcdError`].
    pub fn compact(&self) -> Result<u64, EtcdError> {
        let etcd = etcd::Client::new(self.ports.etcd.client);
        let revision = etcd.revision()?;
        etcd.compact(revision)?;
        Ok(revision)
    }

    /// Sends a GET with full rights and returns the body, for example of `/metrics`.
    ///
    /// # Errors
    ///
    /// Every variant of [`RequestError`].
    pub fn get(&self, path: &str) -> Result<String, RequestError> {
        https::get(&self.folder, self.ports.api_server, path)
    }

    /// Installs or renews the definitions of [`CRDS`] and waits until each of
    /// their versions is served.
    ///
    /// # Errors
    ///
    /// Either variant of [`CrdError`].
    pub fn install_crds(&self) -> Result<(), CrdError> {
        definitions::install(&self.folder, self.ports.api_server)
    }

    /// Removes one definition, by its name, and waits until its objects are
    /// gone and its paths with them.
    ///
    /// # Errors
    ///
    /// Either variant of [`CrdError`]; an unknown name is refused with 404.
    pub fn remove_crd(&self, name: &str) -> Result<(), CrdError> {
        definitions::remove(&self.folder, self.ports.api_server, name)
    }

    /// The file that gives `kubectl` and the kube client full rights.
    #[must_use]
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Where the API server listens: `https://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.ports.api_server)
    }

    /// The bearer token of a user with full rights.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The file with the certificates to trust, PEM.
    #[must_use]
    pub fn certificate(&self) -> PathBuf {
        self.folder.server_certificate()
    }

    /// Where etcd listens: `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn etcd_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.ports.etcd.client)
    }

    /// The data folder, with the logs.
    #[must_use]
    pub fn data(&self) -> &Path {
        self.folder.path()
    }

    /// The process ids of the API server and of etcd.
    #[must_use]
    pub fn pids(&self) -> [u32; 2] {
        [self.api_server.pid(), self.etcd.pid()]
    }

    /// The name of the first program that has ended by itself, if one has.
    pub fn ended(&mut self) -> Option<&'static str> {
        if self.api_server.ended().is_some() {
            return Some("kube-apiserver");
        }
        self.etcd.ended().map(|_| "etcd")
    }
}
