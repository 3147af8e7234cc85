//! The port of the proxies: Linkerd's destination API and the health service.

use anyhow::Context;
use lockstep_admin::HealthService;
use lockstep_destination::Metrics;
use lockstep_replica::ReplicaView;
use std::{future::Future, sync::Arc, time::Duration};
use tokio::net::TcpListener;
use tonic::transport::{Server, server::TcpIncoming};

use crate::{operator::ReplicaOperator, running::Signals, shutdown};

/// Finds peers that are gone without a word.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
/// How long such a peer may take to answer.
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(20);

pub(crate) fn serve(
    listener: TcpListener,
    view: Arc<ReplicaView>,
    health: HealthService<ReplicaOperator>,
    metrics: Metrics,
    signals: &Signals,
) -> impl Future<Output = anyhow::Result<()>> + Send + 'static {
    let destination =
        lockstep_destination::service(view, metrics, signals.stop.clone().cancelled_owned());
    let server = Server::builder()
        .http2_keepalive_interval(Some(KEEPALIVE_INTERVAL))
        .http2_keepalive_timeout(Some(KEEPALIVE_TIMEOUT))
        // One proxy in front multiplexes many: a ceiling here is an outage there.
        .max_concurrent_streams(Some(u32::MAX))
        .add_service(destination)
        .add_service(health)
        .serve_with_incoming_shutdown(
            // Without it, every second small message waits for a delayed acknowledgement.
            TcpIncoming::from(listener).with_nodelay(Some(true)),
            signals.stop.clone().cancelled_owned(),
        );
    let stop = signals.stop.clone();
    async move {
        tokio::select! {
            served = server => served.context("serving proxies"),
            () = shutdown::grace(stop) => Ok(()),
        }
    }
}
