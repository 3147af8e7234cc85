//! What an API server does not tell its watches is found all the same.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod harness;

use harness::{
    api::{Api, plain_get},
    cluster::{NAMESPACE, Writer, ip},
    eventually,
    proxy::Proxy,
    settled,
};
use lockstep::{Group, GroupConfig, Source, SourceConfig, Tuning};
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::time::sleep;

/// The value of a metric that is summed over all replicas.
async fn sum(admins: &[SocketAddr], series: &str) -> u64 {
    let mut sum = 0;
    for admin in admins {
        let text = plain_get(*admin, "/metrics").await.unwrap();
        let value = text.lines().find_map(|line| line.strip_prefix(series));
        sum += value.map_or(0, |value| value.trim().parse::<u64>().unwrap());
    }
    sum
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_no_watch_tells_is_repaired_and_counted() {
    let api = Api::simulated().await;
    let writer = Writer::new(api.client().await);
    writer.ground().await;
    writer.service("web").await;
    let mut pods = Vec::new();
    for number in 1..=2 {
        let name = format!("web-{number}");
        let uid = writer.pod(&name, ip(number)).await;
        pods.push((name, uid, ip(number)));
    }
    writer.slice("web-1", "web", &pods).await;
    let source = SourceConfig::Kubernetes(Some(api.kubeconfig()));
    let opened = Arc::new(Source::open(&source).await.unwrap());
    let mut config = GroupConfig::on_free_ports(3, api.folder().join("data"), source);
    config.tuning = Tuning {
        heartbeat: Duration::from_millis(500),
        audit_interval: Duration::from_secs(1),
        ..config.tuning
    };
    let group = Group::start(config, opened).await.unwrap();
    let endpoints: Vec<_> = group.replicas.iter().map(|it| it.endpoints()).collect();
    let admins: Vec<SocketAddr> = endpoints.iter().map(|it| it.admin).collect();
    settled(&admins).await;
    let mut stream = eventually("a stream", async || {
        let proxy = Proxy::connect(endpoints[0].proxy).await?;
        proxy
            .open(&format!("web.{NAMESPACE}.svc.cluster.local:80"))
            .await
    })
    .await;
    let at = |number| SocketAddr::new(ip(number).into(), 8080);
    stream.until(&[at(1), at(2)].into()).await;

    let simapi = api.simapi().unwrap().clone();
    // An audit waits until each watch was opened twice: sooner than by itself, though not
    // so soon that a watch looks like one that does not work.
    let closing = tokio::spawn({
        let simapi = simapi.clone();
        async move {
            loop {
                sleep(Duration::from_secs(6)).await;
                simapi.close_watches();
            }
        }
    });
    let audited = "lockstep_source_audits_total{result=\"complete\"} ";
    eventually("an audit", async || {
        let audits = sum(&admins, audited).await;
        (audits > 0).then_some(()).ok_or("none")
    })
    .await;
    let repairs = async |kind: &str| {
        let series = format!("lockstep_source_repairs_total{{kind=\"{kind}\"}} ");
        sum(&admins, &series).await
    };
    assert_eq!(repairs("endpointslices").await, 0);
    simapi.lose_events("endpointslices", 1).unwrap();
    writer.rewrite_slice("web-1", "web", &pods[..1]).await;
    stream.until(&[at(1)].into()).await;
    assert_eq!(repairs("endpointslices").await, 1);
    for kind in ["pods", "services", "nodes"] {
        assert_eq!(repairs(kind).await, 0, "{kind}");
    }
    closing.abort();
    group.stop().await.unwrap();
}
