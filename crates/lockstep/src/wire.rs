//! Builds one replica: the object graph, in one place.
//!
//! ```text
//! source ─▶ ingest ─▶ proposer ─▶ replica ─▶ view ─▶ destination ─▶ proxies
//!             (only while it leads)    └────▶ operator ─▶ admin ─▶ people
//! ```

use anyhow::Context;
use lockstep_ingest::{Alive, HandOver, Ingest, Reach, watch_reach};
use lockstep_model::Settings;
use lockstep_position::HistoryId;
use lockstep_raft::{Compaction, Config, Limits, Listen, Timing};
use lockstep_replica::{Replica, ReplicaTasks};
use std::{io, sync::Arc};
use tokio::{net::TcpListener, sync::watch};
use tokio_util::sync::CancellationToken;

use crate::{
    ServeConfig, Source, Tuning,
    config::Endpoints,
    leadership::Leadership,
    listen::{ListenError, Listeners},
    logging,
    metrics::ReplicaMetrics,
    operator::ReplicaOperator,
    options::ServeOptions,
    own_threads::Threads,
    proxy_port,
    readiness::Standing,
    running::{Others, Running, Signals},
    shutdown,
    source_lead::SourceLead,
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
    let stop = shutdown::requested();
    running.run_until(stop, Others::GoOn).await
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
    let (cluster, tuning) = (config.cluster.clone(), config.tuning);
    let peer = listeners.peer.into_std()?;
    let (replica, replica_tasks) = threads.consensus.run(start_replica(config, peer)).await??;
    let leadership = Leadership::of(&replica);
    let signals = Signals::default();
    let standing = Standing {
        replica: replica.clone(),
        leaving: signals.leaving.clone(),
    };
    let metrics = ReplicaMetrics::new(&standing, &source);
    let (mut serving, mut consensus) = (Tasks::default(), Tasks::default());

    consensus.spawn_on(threads.consensus.handle(), "the replica", async move {
        Ok(replica_tasks.finished().await?)
    });
    let ingest = ingest(&replica, source.clone(), settings.clone(), tuning, &metrics)?;
    serving.spawn_on(
        threads.ingest.handle(),
        "the ingest",
        ingest_while_leading(ingest, &leadership, signals.stop.clone()),
    );
    let (told, source_lead) = source_lead(&replica, &leadership, tuning, &metrics);
    let reach = source_lead.reach.clone();
    serving.spawn_on(
        threads.ingest.handle(),
        "the way to the source",
        lead_near_source(source_lead, source.clone(), told, signals.stop.clone()),
    );
    let streams = metrics.destination.clone();
    let operator = ReplicaOperator::new(
        (cluster, endpoints),
        (standing, leadership.clone()),
        (source, reach),
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
        &signals,
    );
    serving.spawn("the proxy port", proxies);
    let admin = lockstep_admin::serve(
        listeners.admin,
        operator,
        signals.stop.clone().cancelled_owned(),
    );
    let grace = shutdown::grace(signals.stop.clone());
    serving.spawn("the admin port", async move {
        tokio::select! {
            served = admin => served.context("serving operators"),
            () = grace => Ok(()),
        }
    });
    Ok(Running {
        replica,
        endpoints,
        leadership,
        signals,
        serving,
        consensus,
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
        source_patience: _,
        audit_interval: _,
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

/// What follows the source while the replica leads.
fn ingest(
    replica: &Replica,
    source: Arc<Source>,
    settings: Arc<Settings>,
    tuning: Tuning,
    metrics: &ReplicaMetrics,
) -> io::Result<Ingest<Source, lockstep_replica::Proposer>> {
    Ok(Ingest {
        source,
        proposer: replica.proposer(),
        settings,
        history: random_history()?,
        alive: alive(replica),
        audit_interval: tuning.audit_interval,
        metrics: metrics.ingest.clone(),
    })
}

/// What keeps the lead with a replica that reaches the source, and the way to tell it.
fn source_lead(
    replica: &Replica,
    leadership: &Leadership,
    tuning: Tuning,
    metrics: &ReplicaMetrics,
) -> (watch::Sender<Reach>, SourceLead) {
    let (told, reach) = watch::channel(Reach::default());
    let source_lead = SourceLead {
        replica: replica.clone(),
        leadership: leadership.clone(),
        reach,
        machine: HandOver::new(tuning.source_patience),
        metrics: metrics.ingest.clone(),
    };
    (told, source_lead)
}

/// Hands each proof of the source on to what every replica is told of it.
fn alive(replica: &Replica) -> Alive {
    let proofs = replica.source_proofs();
    Arc::new(move |kind| proofs.proved(kind))
}

fn random_history() -> io::Result<HistoryId> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    // Zero means that no history has begun.
    Ok(HistoryId::from_u128(u128::from_be_bytes(bytes) | 1))
}

fn ingest_while_leading(
    ingest: Ingest<Source, lockstep_replica::Proposer>,
    leadership: &Leadership,
    stop: CancellationToken,
) -> impl Future<Output = anyhow::Result<()>> + Send + 'static {
    let (lead, follow) = leadership.lead();
    async move {
        tokio::select! {
            () = stop.cancelled() => {}
            ((), ()) = async { tokio::join!(follow, ingest.run(lead)) } => {}
        }
        Ok(())
    }
}

/// Asks whether the source is there, and keeps the lead with a replica for which it is.
async fn lead_near_source(
    source_lead: SourceLead,
    source: Arc<Source>,
    told: watch::Sender<Reach>,
    stop: CancellationToken,
) -> anyhow::Result<()> {
    let question_interval = source_lead.machine.question_interval();
    tokio::select! {
        () = stop.cancelled() => Ok(()),
        never = watch_reach(source, question_interval, told) => match never {},
        never = source_lead.run() => match never {},
    }
}
