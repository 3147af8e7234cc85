//! An API server: the simulated one, or the real one.

use http::Request;
use kube::{
    Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
};
use lockstep_kubernetes::{KubernetesSource, connect};
use lockstep_model::FactKind;
use lockstep_simapi::{Crds, Options, SimApi};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};
use tempfile::TempDir;
use tokio::{net::TcpListener, time::Instant};
use xtask::kube::{Crds as RealCrds, Kube, Options as RealOptions, WatchCache};

use crate::known::PATIENCE;

/// A running API server with nothing of ours in it.
pub(crate) struct Server {
    running: Running,
    kubeconfig: PathBuf,
    client: Client,
    /// The watches that the real server keeps on itself.
    own_watches: BTreeMap<FactKind, u64>,
}

enum Running {
    Simulated {
        api: SimApi,
        _server: lockstep_simapi::Server,
        _folder: TempDir,
    },
    Real(Box<Kube>),
}

impl Server {
    pub(crate) async fn simulated() -> Self {
        Self::simulating(SimApi::new(Options::default())).await
    }

    pub(crate) async fn simulated_without_linkerd() -> Self {
        let crds = Crds::None;
        Self::simulating(SimApi::new(Options {
            crds,
            ..Options::default()
        }))
        .await
    }

    pub(crate) async fn simulating(api: SimApi) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = api.serve(listener).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let kubeconfig = folder.path().join("kubeconfig");
        server.write_kubeconfig(&kubeconfig).unwrap();
        let running = Running::Simulated {
            api,
            _server: server,
            _folder: folder,
        };
        Self::new(running, kubeconfig).await
    }

    /// With its watch cache, as in production. Without it, history ends exactly where it
    /// is compacted, and survives a restart of the server.
    pub(crate) async fn real(watch_cache: WatchCache) -> Self {
        Self::starting(watch_cache, RealCrds::All).await
    }

    /// One where Linkerd was never installed.
    pub(crate) async fn real_without_linkerd() -> Self {
        Self::starting(WatchCache::On, RealCrds::None).await
    }

    async fn starting(watch_cache: WatchCache, crds: RealCrds) -> Self {
        let options = RealOptions {
            watch_cache,
            crds,
            ..Default::default()
        };
        let kube = tokio::task::block_in_place(|| Kube::start(&options).unwrap());
        let kubeconfig = kube.kubeconfig().to_owned();
        Self::new(Running::Real(Box::new(kube)), kubeconfig).await
    }

    async fn new(running: Running, kubeconfig: PathBuf) -> Self {
        let client = client(&kubeconfig).await;
        let mut server = Self {
            running,
            kubeconfig,
            client,
            own_watches: BTreeMap::new(),
        };
        server.own_watches = server.watches().await;
        server
    }

    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    pub(crate) async fn source(&self) -> KubernetesSource {
        connect(Some(&self.kubeconfig)).await.unwrap()
    }

    /// Forgets every change so far: who asks for one is told 410.
    pub(crate) async fn forget_history(&self) {
        match &self.running {
            Running::Simulated { api, .. } => api.compact(),
            Running::Real(kube) => {
                tokio::task::block_in_place(|| kube.compact().unwrap());
            }
        }
    }

    /// Installs every kind that a cluster may do without.
    pub(crate) async fn install_linkerd(&self) {
        match &self.running {
            Running::Simulated { api, .. } => {
                for kind in FactKind::ALL.into_iter().filter(|kind| kind.is_optional()) {
                    api.install_crd(kind.resource()).unwrap();
                }
            }
            Running::Real(kube) => {
                tokio::task::block_in_place(|| kube.install_crds().unwrap());
            }
        }
    }

    /// Removes the definition of Servers, and with it every Server.
    pub(crate) async fn remove_servers(&self) {
        match &self.running {
            Running::Simulated { api, .. } => api.remove_crd("servers").unwrap(),
            Running::Real(kube) => {
                tokio::task::block_in_place(|| kube.remove_crd("servers.policy.linkerd.io"))
                    .unwrap();
            }
        }
    }

    /// Ends every open watch.
    pub(crate) async fn close_watches(&mut self) {
        match &mut self.running {
            Running::Simulated { api, .. } => api.close_watches(),
            Running::Real(kube) => {
                tokio::task::block_in_place(|| kube.restart_api_server().unwrap());
            }
        }
    }

    /// How many LIST requests each kind has seen.
    pub(crate) async fn lists(&self) -> BTreeMap<FactKind, u64> {
        self.sums("apiserver_request_total", "LIST").await
    }

    /// Waits until each kind has so many open watches beside the server's own.
    pub(crate) async fn wait_for_watches(&self, wanted: u64) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let open = self.watches().await;
            let is_reached = |(kind, own): (&FactKind, &u64)| open[kind] == own + wanted;
            if self.own_watches.iter().all(is_reached) {
                return;
            }
            assert!(Instant::now() < deadline, "open watches: {open:?}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn watches(&self) -> BTreeMap<FactKind, u64> {
        self.sums("apiserver_longrunning_requests", "WATCH").await
    }

    /// The sum of a metric for each kind.
    async fn sums(&self, metric: &str, verb: &str) -> BTreeMap<FactKind, u64> {
        let request = Request::get("/metrics").body(Vec::new()).unwrap();
        let page = self.client.request_text(request).await.unwrap();
        let sum = |kind: FactKind| {
            let resource = format!("resource=\"{}\"", kind.resource());
            let verb = format!("verb=\"{verb}\"");
            let lines = page.lines().filter(|line| {
                line.starts_with(metric) && line.contains(&resource) && line.contains(&verb)
            });
            let values = lines.filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok());
            (kind, values.sum())
        };
        FactKind::ALL.map(sum).into()
    }
}

async fn client(kubeconfig: &Path) -> Client {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options);
    Client::try_from(config.await.unwrap()).unwrap()
}
