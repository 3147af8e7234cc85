//! Several replicas in one process: `dev`, tests and benchmarks. Real Raft,
//! real sockets, real disk.

use lockstep_model::Settings;
use lockstep_raft::PeerAddress;
use lockstep_replica::StalenessPolicy;
use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use crate::{
    ServeConfig, ServeError, Source, SourceConfig, Tuning,
    config::Endpoints,
    listen::Listeners,
    own_threads::Threads,
    running::{Others, Running},
    wire,
};

/// The cluster's name in every data folder of a group.
pub(crate) const DEV_CLUSTER: &str = "lockstep-dev";

/// What a group is made of.
#[derive(Clone, Debug)]
pub struct GroupConfig {
    /// Where each replica listens; as many replicas as there are items.
    pub endpoints: Vec<Endpoints>,
    /// The folder that holds a data folder for each replica.
    pub data: PathBuf,
    /// Where the facts come from.
    pub source: SourceConfig,
    /// What decides answers.
    pub settings: Settings,
    /// How the log is kept.
    pub tuning: Tuning,
}

/// Running replicas, in the order of their numbers.
pub struct Group {
    /// The replicas.
    pub replicas: Vec<Running>,
}

impl GroupConfig {
    /// `count` replicas on free ports of loopback.
    #[must_use]
    pub fn on_free_ports(count: usize, data: PathBuf, source: SourceConfig) -> Self {
        let free = SocketAddr::from(([127, 0, 0, 1], 0));
        let endpoints = Endpoints {
            peer: free,
            proxy: free,
            admin: free,
        };
        Self {
            endpoints: vec![endpoints; count],
            data,
            source,
            settings: Settings::default(),
            tuning: Tuning::default(),
        }
    }
}

impl Group {
    /// Starts every replica, with one source for all.
    ///
    /// # Errors
    ///
    /// The first [`ServeError`]; those already started are dropped.
    pub async fn start(config: GroupConfig, source: Arc<Source>) -> Result<Self, ServeError> {
        let sources = vec![source; config.endpoints.len()];
        Self::start_each(config, sources).await
    }

    /// Starts a replica for each of the sources, which are ways to the same cluster.
    ///
    /// # Errors
    ///
    /// As [`Group::start`].
    pub async fn start_each(
        config: GroupConfig,
        sources: Vec<Arc<Source>>,
    ) -> Result<Self, ServeError> {
        let bound: Result<Vec<Listeners>, _> =
            config.endpoints.iter().map(Listeners::bind).collect();
        let bound = bound?;
        let mut peers = Vec::with_capacity(bound.len());
        for (number, listeners) in (1..).zip(&bound) {
            let address = listeners.endpoints()?.peer.to_string();
            peers.push(PeerAddress {
                name: replica_name(number),
                address,
            });
        }
        let threads = Threads::start()?;
        let mut replicas = Vec::with_capacity(bound.len());
        for ((number, listeners), source) in (1..).zip(bound).zip(sources) {
            let serve = serve_config(&config, number, listeners.endpoints()?, peers.clone());
            replicas.push(wire::start(serve, listeners, source, threads.clone()).await?);
        }
        Ok(Self { replicas })
    }

    /// Stops every replica.
    ///
    /// # Errors
    ///
    /// The first replica that failed on its way out.
    pub async fn stop(self) -> anyhow::Result<()> {
        let stops = self.replicas.into_iter();
        let stops = stops.map(|replica| replica.stop(Others::StopToo));
        futures::future::join_all(stops).await.into_iter().collect()
    }
}

/// The name of the replica with this number, from 1.
#[must_use]
pub(crate) fn replica_name(number: usize) -> String {
    format!("replica-{number}")
}

fn serve_config(
    group: &GroupConfig,
    number: usize,
    endpoints: Endpoints,
    peers: Vec<PeerAddress>,
) -> ServeConfig {
    let name = replica_name(number);
    ServeConfig {
        data: group.data.join(&name),
        name,
        cluster: DEV_CLUSTER.to_owned(),
        peers,
        staleness: StalenessPolicy::default(),
        endpoints,
        source: group.source.clone(),
        settings: group.settings.clone(),
        tuning: group.tuning,
    }
}
