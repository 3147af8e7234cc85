//! An API server, real or simulated, as a test needs it.

use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use lockstep_simapi::{Options, Server, SimApi};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tokio::net::TcpListener;
use xtask::kube::{Crds, Kube, Options as KubeOptions, WatchCache};

/// A running API server.
pub struct Api {
    folder: TempDir,
    kind: Kind,
}

enum Kind {
    Simulated { api: SimApi, server: Server },
    Real(Box<Kube>),
}

/// Requests of one verb for one resource, as the server itself counts them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Requests {
    /// Watches that are open now.
    pub open_watches: u64,
    /// Lists answered since the server started.
    pub lists: u64,
}

impl Api {
    pub async fn simulated() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let api = SimApi::new(Options::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = api.serve(listener).unwrap();
        server
            .write_kubeconfig(&folder.path().join("kubeconfig"))
            .unwrap();
        Self {
            folder,
            kind: Kind::Simulated { api, server },
        }
    }

    /// The real one; `None`, with the reason printed, where it is not wanted.
    pub fn real(test: &str) -> Option<Self> {
        if !xtask::kube::wanted_for(test) {
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        // Without the watch cache, a compaction is the end of old resource versions.
        let options = KubeOptions {
            watch_cache: WatchCache::Off,
            crds: Crds::All,
            ..KubeOptions::default()
        };
        let kube = Kube::start(&options).unwrap();
        Some(Self {
            folder,
            kind: Kind::Real(Box::new(kube)),
        })
    }

    pub fn kubeconfig(&self) -> PathBuf {
        match &self.kind {
            Kind::Simulated { .. } => self.folder.path().join("kubeconfig"),
            Kind::Real(kube) => kube.kubeconfig().to_owned(),
        }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub async fn client(&self) -> Client {
        let kubeconfig = Kubeconfig::read_from(self.kubeconfig()).unwrap();
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(kubeconfig, &options)
            .await
            .unwrap();
        Client::try_from(config).unwrap()
    }

    /// The simulated one, to tell it how to fail; `None` of the real one.
    pub fn simapi(&self) -> Option<&SimApi> {
        match &self.kind {
            Kind::Simulated { api, .. } => Some(api),
            Kind::Real(_) => None,
        }
    }

    /// Forgets every resource version before now.
    pub fn compact(&self) {
        match &self.kind {
            Kind::Simulated { api, .. } => api.compact(),
            Kind::Real(kube) => drop(kube.compact().unwrap()),
        }
    }

    /// What the server's own metrics say of one resource.
    pub async fn requests(&self, resource: &str) -> Requests {
        let text = match &self.kind {
            Kind::Simulated { server, .. } => {
                plain_get(server.address(), "/metrics").await.unwrap()
            }
            Kind::Real(kube) => {
                // A blocking call of a child process.
                tokio::task::block_in_place(|| kube.get("/metrics")).unwrap()
            }
        };
        Requests {
            open_watches: sum(&text, "apiserver_longrunning_requests", "WATCH", resource),
            lists: sum(&text, "apiserver_request_total", "LIST", resource),
        }
    }
}

/// The sum of all series of a metric with this verb and resource.
fn sum(text: &str, metric: &str, verb: &str, resource: &str) -> u64 {
    let labels = [
        format!("verb=\"{verb}\""),
        format!("resource=\"{resource}\""),
    ];
    let series = text.lines().filter(|line| {
        line.starts_with(&format!("{metric}{{")) && labels.iter().all(|label| line.contains(label))
    });
    let values = series.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
    values
        .map(|value| format!("{value:.0}").parse::<u64>().unwrap())
        .sum()
}

/// The whole answer to a `GET` over HTTP/1.0, head and body.
pub async fn plain_get(address: std::net::SocketAddr, path: &str) -> std::io::Result<String> {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(address).await?;
    let request = format!("GET {path} HTTP/1.0\r\nHost: api\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    Ok(answer)
}
