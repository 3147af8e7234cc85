//! The port of the proxies: Linkerd's destination API and the health service.

use anyhow::Context;
use lockstep_destination::Metrics;
use lockstep_replica::{FreshnessState, Replica, ReplicaView};
use std::{future::Future, sync::Arc, time::Duration};
use tokio::{net::TcpListener, time::interval};
use tonic::transport::{Server, server::TcpIncoming};
use tonic_health::{ServingStatus, server::HealthReporter};

use crate::{running::Signals, shutdown};

/// Finds peers that are gone without a word.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
/// How long such a peer may take to answer.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(20);
/// How often the health service learns how the replica fares.
const HEALTH_INTERVAL: Duration = Duration::from_millis(250);

/// The names under which health is asked: the process, and its one service.
const HEALTH_NAMES: [&str; 2] = ["", "io.linkerd.proxy.destination.Destination"];

pub(crate) fn serve(
    listener: TcpListener,
    view: Arc<ReplicaView>,
    replica: &Replica,
    metrics: Metrics,
    signals: &Signals,
) -> impl Future<Output = anyhow::Result<()>> + Send + 'static {
    let (health, health_service) = tonic_health::server::health_reporter();
    let destination =
        lockstep_destination::service(view, metrics, signals.stop.clone().cancelled_owned());
    let server = Server::builder()
        .http2_keepalive_interval(Some(KEEPALIVE_INTERVAL))
        .http2_keepalive_timeout(Some(KEEPALIVE_TIMEOUT))
        // One proxy in front multiplexes many: a ceiling here is an outage there.
        .max_concurrent_streams(Some(u32::MAX))
        .add_service(destination)
        .add_service(health_service)
        .serve_with_incoming_shutdown(
            // Without it, every second small message waits for a delayed acknowledgement.
            TcpIncoming::from(listener).with_nodelay(Some(true)),
            signals.stop.clone().cancelled_owned(),
        );
    let replica = replica.clone();
    let signals = signals.clone();
    async move {
        tokio::select! {
            () = report_health(replica, health, &signals) => Ok(()),
            served = server => served.context("serving proxies"),
            () = shutdown::grace(signals.stop.clone()) => Ok(()),
        }
    }
}

async fn report_health(replica: Replica, health: HealthReporter, signals: &Signals) {
    let mut ticks = interval(HEALTH_INTERVAL);
    loop {
        let is_leaving = tokio::select! {
            biased;
            () = signals.leaving.cancelled() => true,
            _ = ticks.tick() => false,
        };
        let status = match replica.freshness().state {
            _ if is_leaving => ServingStatus::NotServing,
            FreshnessState::Syncing => ServingStatus::NotServing,
            // A stale replica serves what it has: old endpoints beat none.
            FreshnessState::Fresh | FreshnessState::Stale => ServingStatus::Serving,
        };
        for name in HEALTH_NAMES {
            health.set_service_status(name, status).await;
        }
        if is_leaving {
            // Until the port closes, nothing will change that.
            return std::future::pending().await;
        }
    }
}
