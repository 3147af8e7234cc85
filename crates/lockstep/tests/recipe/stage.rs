//! Three replicas in one process, with real sockets and real disks, and their API server.

use kube::{Client, config::Kubeconfig};
use lockstep::{Group, GroupConfig, Source, SourceConfig, Tuning};
use lockstep_model::Settings;
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tonic::transport::Channel;

use crate::harness::relay::Relay;
use crate::harness::{api::Api, leader, settled};

/// A leader's heart beats seldom enough here that a busy machine elects no other: what a
/// change of leaders does is shown elsewhere.
const HEARTBEAT: Duration = Duration::from_millis(500);

/// A fleet and its API server.
pub struct Stage {
    pub api: Api,
    client: Client,
    relay: Relay,
    group: Group,
}

/// A connection to the leader and one to a follower.
#[derive(Clone)]
pub struct Sides {
    pub leader: Channel,
    pub follower: Channel,
}

impl Stage {
    pub async fn on(api: Api) -> Self {
        Self::with(api, Settings::default()).await
    }

    pub async fn with(api: Api, settings: Settings) -> Self {
        let client = api.client().await;
        let kubeconfig = Kubeconfig::read_from(api.kubeconfig()).unwrap();
        let server = kubeconfig.clusters[0].cluster.clone().unwrap().server;
        let upstream = server.unwrap().rsplit('/').next().unwrap().to_owned();
        let relay = Relay::to(upstream.parse().unwrap()).await;
        let text = std::fs::read_to_string(api.kubeconfig()).unwrap();
        let relayed = api.folder().join("relayed");
        let text = text.replace(&upstream, &relay.address().to_string());
        std::fs::write(&relayed, text).unwrap();

        let source = SourceConfig::Kubernetes(Some(relayed));
        let opened = Arc::new(Source::open(&source).await.unwrap());
        let mut config = GroupConfig::on_free_ports(3, api.folder().join("data"), source);
        config.settings = settings;
        config.tuning = Tuning {
            heartbeat: HEARTBEAT,
            ..config.tuning
        };
        let group = Group::start(config, opened).await.unwrap();
        Self {
            api,
            client,
            relay,
            group,
        }
    }

    /// A client of the API server that no cut concerns.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    fn admins(&self) -> Vec<SocketAddr> {
        let replicas = self.group.replicas.iter();
        replicas.map(|it| it.endpoints().admin).collect()
    }

    /// Waits until all replicas hold what the API server holds.
    pub async fn settled(&self) {
        settled(&self.admins()).await;
    }

    /// New connections.
    pub async fn sides(&self) -> Sides {
        let leads = leader(&self.admins()).await;
        let follows = (leads + 1) % self.group.replicas.len();
        Sides {
            leader: self.connection(leads).await,
            follower: self.connection(follows).await,
        }
    }

    async fn connection(&self, place: usize) -> Channel {
        let address = self.group.replicas[place].endpoints().proxy;
        let endpoint = Channel::from_shared(format!("http://{address}")).unwrap();
        endpoint.connect().await.unwrap()
    }

    /// Lets things happen that the fleet will see only as a difference between two lists.
    pub async fn behind_its_back(&self, happens: impl AsyncFnOnce()) {
        self.relay.cut();
        happens().await;
        // Of its own thread, as the real one asks etcd and waits.
        tokio::task::block_in_place(|| self.api.compact());
        self.relay.heal();
    }

    /// All replicas end without an error.
    pub async fn stop(self) {
        self.group.stop().await.unwrap();
    }
}
