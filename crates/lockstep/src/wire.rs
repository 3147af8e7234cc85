//! Builds one replica: the object graph, in one place.
//!
//! ```text
//! source ─▶ ingest ─▶ proposer ─▶ replica ─▶ view ─▶ destination ─▶ proxies
//!             (only while it leads)    └────▶ operator ─▶ admin ─▶ people
//! ```

use anyhow::Context;
use lockstep_ingest::{Ingest, Lead};
use lockstep_position::HistoryId;
use lockstep_raft::{Compaction, Config, Limits, Listen, Timing};
use lockstep_replica::{Replica, ReplicaTasks};
use std::{io, sync::Arc};
use tokio::{net::TcpListener, sync::watch};
use tokio_util::sync::CancellationToken;

use crate::{
    ServeConfig, Source, Tuning,
    config::Endpoints,
    listen::{ListenError, Listeners},
    logging,
    metrics::ReplicaMetrics,
    operator::ReplicaOperator,
    options::ServeOptions,
    own_threads::Threads,
    proxy_port, shutdown,
    tasks::Tasks,
};

/// Why a replica did not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// An address cannot be listened on.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// A socket failed, or the system has no randomness.
    #[error("the operating system failed")]
    System(#[from] io::Error),
    /// The replica itself did not start.
    #[error(transparent)]
    Start(#[from] lockstep_raft::StartError),
}

/// One running replica.
pub struct Running {
    replica: Replica,
    endpoints: Endpoints,
    stop: CancellationToken,
    tasks: Tasks,
    // Dropped last: tasks above run on them.
    _threads: Threads,
}

/// `lockstep serve`: one replica until a signal or a failure ends it.
pub(crate) async fn serve(options: ServeOptions) -> anyhow::Result<()> {
    logging::start(&options.log)?;
    let config = ServeConfig::try_from(options)?;
    let source = Arc::new(Source::open(&config.source).await?);
    let listeners = Listeners::bind(&config.endpoints)?;
    let running = start(config, listeners, source, Threads::start()?).await?;
    let replica = running.replica().id();
    let Endpoints { peer, proxy, admin } = running.endpoints();
    tracing::info!(%replica, %proxy, %peer, %admin, "replica started");
    running.run_until(shutdown::requested()).await
}

/// Starts one replica on sockets that are bound already.
///
/// # Errors
///
/// [`ServeError`] says what cannot be used: a socket, the data folder, a limit.
pub async fn start(
    config: ServeConfig,
    listeners: Listeners,
    source: Arc<Source>,
    threads: Threads,
) -> Result<Running, ServeError> {
    let endpoints = listeners.endpoints()?;
    let settings = Arc::new(config.settings.clone());
    let cluster = config.cluster.clone();
    let peer = listeners.peer.into_std()?;
    let (replica, replica_tasks) = threads.consensus.run(start_replica(config, peer)).await??;
    let metrics = ReplicaMetrics::new(&replica, &source);
    let stop = CancellationToken::new();
    let mut tasks = Tasks::default();

    tasks.spawn_on(threads.consensus.handle(), "the replica", async move {
        Ok(replica_tasks.finished().await?)
    });
    let ingest = Ingest {
        source: source.clone(),
        proposer: replica.proposer(),
        settings: settings.clone(),
        history: random_history()?,
        metrics: metrics.ingest.clone(),
    };
    tasks.spawn_on(
        threads.ingest.handle(),
        "the ingest",
        ingest_while_leading(ingest, &replica, stop.clone()),
    );
    let streams = metrics.destination.clone();
    let operator = ReplicaOperator::new(
        (cluster, endpoints),
        replica.clone(),
        source,
        metrics,
        settings,
    );
    let operator = Arc::new(operator);
    let view = Arc::new(replica.view());
    let proxies = proxy_port::serve(
        listeners.proxy,
        view,
        lockstep_admin::health(operator.clone()),
        streams,
        &stop,
    );
    tasks.spawn("the proxy port", proxies);
    let admin = lockstep_admin::serve(listeners.admin, operator, stop.clone().cancelled_owned());
    let grace = shutdown::grace(stop.clone());
    tasks.spawn("the admin port", async move {
        tokio::select! {
            served = admin => served.context("serving operators"),
            () = grace => Ok(()),
        }
    });
    Ok(Running {
        replica,
        endpoints,
        stop,
        tasks,
        _threads: threads,
    })
}

async fn start_replica(
    config: ServeConfig,
    peer: std::net::TcpListener,
) -> Result<(Replica, ReplicaTasks), ServeError> {
    let peer = TcpListener::from_std(peer)?;
    let policy = config.staleness;
    Ok(Replica::start(raft_config(config, peer), policy).await?)
}

fn raft_config(config: ServeConfig, peer: TcpListener) -> Config {
    let Tuning {
        snapshot_after,
        snapshot_keep,
        heartbeat,
    } = config.tuning;
    Config {
        cluster: config.cluster,
        name: config.name,
        data: config.data,
        listen: Listen::Bound(peer),
        peers: config.peers,
        timing: Timing {
            heartbeat,
            election_min: heartbeat * 3,
            election_max: heartbeat * 6,
        },
        compaction: Compaction {
            snapshot_after_entries: snapshot_after,
            keep_entries: snapshot_keep,
        },
        limits: Limits {
            entry_bytes_max: lockstep_model::ENTRY_BYTES_MAX,
            message_bytes_max: lockstep_model::PEER_MESSAGE_BYTES_MAX,
            ..Limits::default()
        },
    }
}

fn random_history() -> io::Result<HistoryId> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    // Zero means that no history has begun.
    Ok(HistoryId::from_u128(u128::from_be_bytes(bytes) | 1))
}

fn ingest_while_leading(
    ingest: Ingest<Source, lockstep_replica::Proposer>,
    replica: &Replica,
    stop: CancellationToken,
) -> impl Future<Output = anyhow::Result<()>> + Send + 'static {
    let mut role = replica.role();
    let (lead, leading) = watch::channel::<Lead>(role.borrow().leading());
    let follow_role = async move {
        while role.changed().await.is_ok() {
            lead.send_if_modified(|lead| {
                let now = role.borrow_and_update().leading();
                std::mem::replace(lead, now) != now
            });
        }
    };
    async move {
        tokio::select! {
            () = stop.cancelled() => {}
            ((), ()) = async { tokio::join!(follow_role, ingest.run(leading)) } => {}
        }
        Ok(())
    }
}

/// What to say of a run: the first failure. A part that only ended may have
/// ended because of another one that failed, and be seen before it.
fn verdict(
    first: Option<(&'static str, anyhow::Result<()>)>,
    rest: anyhow::Result<()>,
) -> anyhow::Result<()> {
    match first {
        None => rest,
        Some((name, Ok(()))) => {
            rest.and_then(|()| Err(anyhow::anyhow!("{name} ended although nobody stopped it")))
        }
        Some((name, Err(error))) => Err(error.context(format!("{name} failed"))),
    }
}

// === impl Running ===

impl Running {
    /// The replica.
    #[must_use]
    pub fn replica(&self) -> &Replica {
        &self.replica
    }

    /// Where it listens.
    #[must_use]
    pub fn endpoints(&self) -> Endpoints {
        self.endpoints
    }

    /// Runs until `stop` resolves, or until a part of the replica ends.
    ///
    /// # Errors
    ///
    /// What ended by itself, and why.
    pub async fn run_until(mut self, stop: impl Future<Output = ()>) -> anyhow::Result<()> {
        let ended = tokio::select! {
            () = stop => None,
            end = self.tasks.first_end() => Some(end),
        };
        verdict(ended, self.stop().await)
    }

    /// Ends open streams with OK, then everything else, and closes the data folder.
    ///
    /// # Errors
    ///
    /// The first part that failed on its way out.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        self.stop.cancel();
        self.replica.shutdown().await;
        self.tasks.all_ended().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(first: Option<(&'static str, anyhow::Result<()>)>, rest: anyhow::Result<()>) -> String {
        verdict(first, rest).map_or_else(|error| format!("{error:#}"), |()| String::new())
    }

    #[test]
    fn a_run_ends_with_the_failure_that_ended_it() {
        let failed = || Err(anyhow::anyhow!("the disk is full"));
        assert_eq!(said(None, Ok(())), "");
        assert_eq!(said(None, failed()), "the disk is full");
        assert_eq!(
            said(Some(("the replica", failed())), Ok(())),
            "the replica failed: the disk is full"
        );
        assert_eq!(
            said(Some(("the ingest", Ok(()))), Ok(())),
            "the ingest ended although nobody stopped it"
        );
        assert_eq!(
            said(Some(("the ingest", Ok(()))), failed()),
            "the disk is full"
        );
    }
}
