//! Replicas that each have a way of their own to one API server, some of them cut.
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
    eventually, leader,
    proxy::{Open, Proxy},
    relay::Relay,
    settled, status,
};
use kube::config::Kubeconfig;
use lockstep::{Group, GroupConfig, Source, SourceConfig, Tuning};
use std::{
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::time::sleep;

/// How long a leader is without its source before it hands over, and how long the lead
/// rests after its first move.
const PATIENCE: Duration = Duration::from_millis(1500);

/// Three replicas and their ways to one API server.
struct Ways {
    api: Api,
    relays: Vec<Relay>,
    group: Group,
}

impl Ways {
    async fn new() -> Self {
        let api = Api::simulated().await;
        let mut relays = Vec::new();
        let mut sources = Vec::new();
        for _ in 0..3 {
            let relay = Relay::to(upstream(&api)).await;
            let source = SourceConfig::Kubernetes(Some(kubeconfig(&api, &relay)));
            sources.push(Arc::new(Source::open(&source).await.unwrap()));
            relays.push(relay);
        }
        let source = SourceConfig::Kubernetes(None);
        let mut config = GroupConfig::on_free_ports(3, api.folder().join("data"), source);
        config.tuning = Tuning {
            // A busy machine must not cost elections.
            heartbeat: Duration::from_millis(500),
            source_patience: PATIENCE,
            ..config.tuning
        };
        let group = Group::start_each(config, sources).await.unwrap();
        Self { api, relays, group }
    }

    fn admins(&self) -> Vec<SocketAddr> {
        let replicas = self.group.replicas.iter();
        replicas.map(|it| it.endpoints().admin).collect()
    }

    /// Only these ways are cut from now on.
    fn cut(&self, cut: &[usize]) {
        for (place, relay) in self.relays.iter().enumerate() {
            if cut.contains(&place) {
                relay.cut();
            } else {
                relay.heal();
            }
        }
    }

    async fn streams(&self) -> Vec<Open> {
        let mut streams = Vec::new();
        for running in &self.group.replicas {
            let stream = eventually("a stream", async || {
                let proxy = Proxy::connect(running.endpoints().proxy).await?;
                proxy
                    .open(&format!("web.{NAMESPACE}.svc.cluster.local:80"))
                    .await
            });
            streams.push(stream.await);
        }
        streams
    }

    /// How often the lead was handed over for the sake of the source.
    async fn hand_overs(&self) -> u64 {
        let mut sum = 0;
        for admin in self.admins() {
            let text = plain_get(admin, "/metrics").await.unwrap();
            let count = text
                .lines()
                .find_map(|line| line.strip_prefix("lockstep_source_hand_overs_total "));
            sum += count.unwrap().parse::<u64>().unwrap();
        }
        sum
    }
}

fn upstream(api: &Api) -> SocketAddr {
    let kubeconfig = Kubeconfig::read_from(api.kubeconfig()).unwrap();
    let server = kubeconfig.clusters[0].cluster.clone().unwrap().server;
    let server = server.unwrap();
    server.rsplit('/').next().unwrap().parse().unwrap()
}

fn kubeconfig(api: &Api, relay: &Relay) -> std::path::PathBuf {
    let text = std::fs::read_to_string(api.kubeconfig()).unwrap();
    let (from, to) = (upstream(api).to_string(), relay.address().to_string());
    let path = api.folder().join(relay.address().port().to_string());
    std::fs::write(&path, text.replace(&from, &to)).unwrap();
    path
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_lost_its_way_to_the_source_hands_over_to_one_that_has_it() {
    let ways = Ways::new().await;
    let writer = Writer::new(ways.api.client().await);
    writer.ground().await;
    writer.service("web").await;
    let uid = writer.pod("web-1", ip(1)).await;
    let mut pods = vec![("web-1".to_owned(), uid, ip(1))];
    writer.slice("web-1", "web", &pods).await;
    let admins = ways.admins();
    settled(&admins).await;
    let mut streams = ways.streams().await;

    let mut cut = Vec::new();
    for number in 2..=3 {
        let lost = leader(&admins).await;
        cut.push(lost);
        ways.cut(&cut);
        // Told on every replica, also on those that do not reach the API server.
        let name = format!("web-{number}");
        let uid = writer.pod(&name, ip(number)).await;
        pods.push((name, uid, ip(number)));
        writer.rewrite_slice("web-1", "web", &pods).await;
        let at = |(_, _, ip): &(String, String, std::net::Ipv4Addr)| (*ip, 8080).into();
        let told = pods.iter().map(at).collect();
        for stream in &mut streams {
            stream.until(&told).await;
        }
        let now = leader(&admins).await;
        assert!(!cut.contains(&now), "{now} leads, {cut:?} are cut");
        let warnings = status(admins[lost]).await.unwrap().warnings;
        let said = "the source does not answer this replica, for ";
        assert!(
            warnings.iter().any(|warning| warning.starts_with(said)),
            "{warnings:?}"
        );
    }
    assert!(ways.hand_overs().await >= 2);
    ways.group.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_lead_stays_while_nobody_has_the_source() {
    let ways = Ways::new().await;
    let admins = ways.admins();
    settled(&admins).await;
    ways.cut(&[0, 1, 2]);
    let all_say_so = async || {
        for admin in &admins {
            let warnings = status(*admin).await?.warnings;
            if warnings.is_empty() {
                return Err("no warning".to_owned());
            }
        }
        Ok(())
    };
    eventually("a warning of every replica", all_say_so).await;
    // Twice as long as a leader is patient, if nobody is late.
    sleep(2 * PATIENCE).await;
    assert_eq!(ways.hand_overs().await, 0);
    ways.cut(&[]);
    settled(&admins).await;
    ways.group.stop().await.unwrap();
}

/// Whoever leads loses its source, and the others have it: the lead goes round, but not
/// more often than the rests between two moves allow.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lead_that_is_chased_rests_longer_each_time() {
    let ways = Ways::new().await;
    let admins = ways.admins();
    settled(&admins).await;
    let begun = Instant::now();
    let end = begun + 7 * PATIENCE;
    while Instant::now() < end {
        let lost = leader(&admins).await;
        ways.cut(&[lost]);
        sleep(Duration::from_millis(200)).await;
    }
    let hand_overs = ways.hand_overs().await;
    // The first rest, from the election on, may be over. Each one is twice the one before.
    let mut most = 1;
    let mut rest = 2 * PATIENCE;
    let mut passed = rest;
    while passed <= begun.elapsed() {
        most += 1;
        rest *= 2;
        passed += rest;
    }
    assert!((1..=most).contains(&hand_overs), "{hand_overs} of {most}");
    ways.group.stop().await.unwrap();
}
