//! Three replicas and their clients in one process: real Raft, sockets and disk.

use linkerd2_proxy_api::destination::{GetDestination, destination_client::DestinationClient};
use lockstep::{Group, GroupConfig, Source};
use std::{path::Path, sync::Arc, time::Instant};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::{
    arrivals::Arrivals,
    source::{AUTHORITY, BenchSource},
};

/// A running group with observers of every change.
pub(crate) struct Scene {
    pub(crate) source: BenchSource,
    pub(crate) group: Group,
    /// When the last replica has applied a change.
    pub(crate) applied: UnboundedReceiver<Instant>,
    /// When the last stream has its message.
    pub(crate) told: UnboundedReceiver<Instant>,
}

impl Scene {
    /// Starts three replicas with `streams` open streams each.
    pub(crate) async fn start(
        source: BenchSource,
        folder: &Path,
        streams: usize,
    ) -> anyhow::Result<Self> {
        let config = source.config();
        let opened = Arc::new(Source::open(&config).await?);
        let config = GroupConfig::on_free_ports(3, folder.join("data"), config);
        let group = Group::start(config, opened).await?;
        for running in &group.replicas {
            let mut position = running.replica().published().position();
            position
                .wait_for(|position| position.revision.as_u64() > 0)
                .await?;
        }
        let applied = observe_replicas(&group);
        let told = observe_streams(&group, streams).await?;
        Ok(Self {
            source,
            group,
            applied,
            told,
        })
    }
}

fn observe_replicas(group: &Group) -> UnboundedReceiver<Instant> {
    let (arrivals, times) = Arrivals::of(group.replicas.len());
    for running in &group.replicas {
        let arrivals = arrivals.clone();
        let mut position = running.replica().published().position();
        let mut revision = position.borrow_and_update().revision;
        tokio::spawn(async move {
            while position.changed().await.is_ok() {
                let now = position.borrow_and_update().revision;
                if std::mem::replace(&mut revision, now) != now {
                    arrivals.seen();
                }
            }
        });
    }
    times
}

async fn observe_streams(
    group: &Group,
    streams: usize,
) -> anyhow::Result<UnboundedReceiver<Instant>> {
    let (arrivals, times) = Arrivals::of(group.replicas.len() * streams);
    for running in &group.replicas {
        let address = format!("http://{}", running.endpoints().proxy);
        let client = DestinationClient::connect(address).await?;
        for _ in 0..streams {
            let request = GetDestination {
                path: AUTHORITY.to_owned(),
                ..Default::default()
            };
            let mut updates = client.clone().get(request).await?.into_inner();
            anyhow::ensure!(updates.message().await?.is_some(), "a stream ended at once");
            let arrivals = arrivals.clone();
            tokio::spawn(async move {
                while let Ok(Some(_)) = updates.message().await {
                    arrivals.seen();
                }
            });
        }
    }
    Ok(times)
}
