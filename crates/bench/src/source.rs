//! Sources that a benchmark can change: the simulated API server, over real
//! sockets, or a folder of manifests.

use anyhow::Context;
use lockstep::SourceConfig;
use lockstep_simapi::{Options, Server, SimApi};
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use tokio::net::TcpListener;

/// The service that is changed.
pub(crate) const AUTHORITY: &str = "web.bench.svc.cluster.local:80";

/// Which source is measured.
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SourceKind {
    /// The simulated API server
    Simapi,
    /// A folder of manifests
    Folder,
}

impl std::fmt::Display for SourceKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Simapi => "simapi",
            Self::Folder => "folder",
        })
    }
}

/// An open source.
pub(crate) enum BenchSource {
    Simapi {
        api: SimApi,
        _server: Server,
        kubeconfig: PathBuf,
    },
    Folder(PathBuf),
}

impl BenchSource {
    pub(crate) async fn open(kind: SourceKind, folder: &Path) -> anyhow::Result<Self> {
        match kind {
            SourceKind::Simapi => {
                let api = SimApi::new(Options::default());
                let listener = TcpListener::bind("127.0.0.1:0").await?;
                let server = api.serve(listener)?;
                let kubeconfig = folder.join("kubeconfig");
                server.write_kubeconfig(&kubeconfig)?;
                api.load(json!([{
                    "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "bench" }
                }]))?;
                Ok(Self::Simapi {
                    api,
                    _server: server,
                    kubeconfig,
                })
            }
            SourceKind::Folder => {
                let manifests = folder.join("manifests");
                std::fs::create_dir(&manifests)?;
                Ok(Self::Folder(manifests))
            }
        }
    }

    pub(crate) fn config(&self) -> SourceConfig {
        match self {
            Self::Simapi { kubeconfig, .. } => SourceConfig::Kubernetes(Some(kubeconfig.clone())),
            Self::Folder(folder) => SourceConfig::Manifests(folder.clone()),
        }
    }

    /// Makes the service, and its slice with `count` addresses.
    pub(crate) fn create(&self, count: u8) -> anyhow::Result<()> {
        if let Self::Simapi { api, .. } = self {
            api.apply(service())?;
        }
        self.change(count)
    }

    /// The file that tells how to reach the API server; a folder has none.
    pub(crate) fn kubeconfig(&self) -> anyhow::Result<&Path> {
        match self {
            Self::Simapi { kubeconfig, .. } => Ok(kubeconfig),
            Self::Folder(_) => anyhow::bail!("a folder has no kubeconfig"),
        }
    }

    /// Rewrites the slice with one address, another one for each serial number.
    pub(crate) fn replace(&self, serial: u32) -> anyhow::Result<()> {
        let [_, a, b, c] = serial.to_be_bytes();
        self.rewrite(slice(&[Ipv4Addr::new(10, a, b, c)]))
    }

    /// Rewrites the slice with `count` addresses.
    pub(crate) fn change(&self, count: u8) -> anyhow::Result<()> {
        let addresses: Vec<_> = (1..=count)
            .map(|last| Ipv4Addr::new(10, 1, 0, last))
            .collect();
        self.rewrite(slice(&addresses))
    }

    fn rewrite(&self, slice: Value) -> anyhow::Result<()> {
        match self {
            Self::Simapi { api, .. } => {
                api.apply(slice)?;
                Ok(())
            }
            Self::Folder(folder) => rewrite(folder, slice),
        }
    }
}

fn rewrite(folder: &Path, slice: Value) -> anyhow::Result<()> {
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": [service(), slice] });
    let (new, file) = (folder.join("bench.new"), folder.join("bench.json"));
    std::fs::write(&new, list.to_string()).context("writing the manifest")?;
    std::fs::rename(new, file).context("renaming the manifest")
}

fn service() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": { "name": "web", "namespace": "bench" },
        "spec": { "ports": [{ "name": "http", "port": 80 }] },
    })
}

fn slice(addresses: &[Ipv4Addr]) -> Value {
    let endpoint = |address: &Ipv4Addr| json!({ "addresses": [address.to_string()], "conditions": { "ready": true } });
    json!({
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": "web-1",
            "namespace": "bench",
            "labels": { "kubernetes.io/service-name": "web" },
        },
        "addressType": "IPv4",
        "ports": [{ "name": "http", "port": 8080, "protocol": "TCP" }],
        "endpoints": addresses.iter().map(endpoint).collect::<Vec<Value>>(),
    })
}
