//! Three replicas against an API server: the simulated one, and with
//! `LOCKSTEP_KUBE=1` the real one. One body for both, so that the simulation
//! cannot drift away.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod harness;

use futures::{StreamExt, stream};
use harness::{
    agreed,
    api::{Api, Requests},
    cluster::{NAMESPACE, Writer, ip},
    eventually, leader, naive,
    process::Fleet,
    proxy::{Open, Proxy},
    settled,
};
use lockstep::{Group, GroupConfig, Source, SourceConfig};
use std::{collections::BTreeSet, net::SocketAddr, sync::Arc};

const SERVICES: u32 = 200;
const PODS_EACH: u32 = 10;

/// The kinds that are watched, by resource.
const RESOURCES: [&str; 6] = [
    "nodes",
    "replicasets",
    "jobs",
    "pods",
    "services",
    "endpointslices",
];

fn authority(service: &str) -> String {
    format!("{service}.{NAMESPACE}.svc.cluster.local:80")
}

/// A service with its pods and one slice, as controllers would write them.
async fn deploy(
    writer: &Writer,
    number: u32,
    pods: u32,
) -> Vec<(String, String, std::net::Ipv4Addr)> {
    let name = format!("service-{number}");
    writer.service(&name).await;
    let mut members = Vec::new();
    for pod in 0..pods {
        let (pod_name, ip) = (format!("{name}-{pod}"), ip(1 + number * 64 + pod));
        let uid = writer.pod(&pod_name, ip).await;
        members.push((pod_name, uid, ip));
    }
    writer.slice(&format!("{name}-1"), &name, &members).await;
    members
}

async fn group(api: &Api, replicas: usize, data: &str) -> Group {
    let source = SourceConfig::Kubernetes(Some(api.kubeconfig()));
    let opened = Arc::new(Source::open(&source).await.unwrap());
    let config = GroupConfig::on_free_ports(replicas, api.folder().join(data), source);
    Group::start(config, opened).await.unwrap()
}

fn admins(group: &Group) -> Vec<SocketAddr> {
    group
        .replicas
        .iter()
        .map(|running| running.endpoints().admin)
        .collect()
}

async fn requests(api: &Api) -> Vec<Requests> {
    let mut all = Vec::new();
    for resource in RESOURCES {
        all.push(api.requests(resource).await);
    }
    all
}

/// Every replica tells what the naive recomputation says, for every service.
async fn assert_answers(writer: &Writer, proxies: &[SocketAddr]) {
    let truth = naive::answers(&writer.client()).await;
    assert!(!truth.is_empty());
    for address in proxies {
        let proxy = Proxy::connect(*address).await.unwrap();
        let told: Vec<(&String, BTreeSet<SocketAddr>)> = stream::iter(truth.keys())
            .map(|authority| {
                let proxy = &proxy;
                async move { (authority, proxy.get(authority).await.unwrap().set) }
            })
            .buffered(32)
            .collect()
            .await;
        for (authority, set) in told {
            assert_eq!(set, truth[authority], "{authority} on {address}");
        }
    }
}

/// 200 services and 2,000 endpoints; every answer of every replica against a
/// recomputation that shares no code; changes while streams are open; and the
/// watches that the server sees.
async fn one_cluster(api: Api) {
    let writer = Writer::new(api.client().await);
    writer.ground().await;
    stream::iter(0..SERVICES)
        .for_each_concurrent(16, |number| {
            let writer = writer.clone();
            async move { drop(deploy(&writer, number, PODS_EACH).await) }
        })
        .await;

    let none = requests(&api).await;
    let single = group(&api, 1, "single").await;
    settled(&admins(&single)).await;
    let one = requests(&api).await;
    single.stop().await.unwrap();
    eventually("watches that end with their replica", async || {
        let now = requests(&api).await;
        let ended = now
            .iter()
            .zip(&none)
            .all(|(now, none)| now.open_watches == none.open_watches);
        if ended {
            Ok(())
        } else {
            Err(format!("{now:?} instead of {none:?}"))
        }
    })
    .await;

    let three = group(&api, 3, "three").await;
    let admins = admins(&three);
    let proxies: Vec<SocketAddr> = three
        .replicas
        .iter()
        .map(|running| running.endpoints().proxy)
        .collect();
    settled(&admins).await;
    let all = requests(&api).await;
    for (place, resource) in RESOURCES.into_iter().enumerate() {
        let added = |some: &[Requests]| some[place].open_watches - none[place].open_watches;
        assert_eq!(added(&one), 1, "watches of {resource} by one replica");
        assert_eq!(added(&all), 1, "watches of {resource} by three replicas");
    }
    assert_answers(&writer, &proxies).await;

    changes_reach_streams(&writer, &proxies).await;
    settled(&admins).await;
    assert_answers(&writer, &proxies).await;
    three.stop().await.unwrap();
}

/// A pod replaced, a service emptied, a service gone: told on every replica.
async fn changes_reach_streams(writer: &Writer, proxies: &[SocketAddr]) {
    let members = deploy(writer, SERVICES + 1, 2).await;
    let name = format!("service-{}", SERVICES + 1);
    let at = |number: u32| SocketAddr::new(ip(number).into(), 8080);
    let first = 1 + (SERVICES + 1) * 64;
    let mut streams: Vec<Open> = Vec::new();
    for proxy in proxies {
        let open = eventually("a stream of the new service", async || {
            Proxy::connect(*proxy).await?.open(&authority(&name)).await
        });
        streams.push(open.await);
    }
    for stream in &mut streams {
        stream.until(&[at(first), at(first + 1)].into()).await;
    }
    // A slice that names a pod before the pod is there: told when it is.
    let slice = format!("{name}-1");
    let uid = writer.pod("replacement", ip(first + 2)).await;
    let replaced = [
        members[1].clone(),
        ("replacement".to_owned(), uid, ip(first + 2)),
    ];
    writer.rewrite_slice(&slice, &name, &replaced).await;
    writer.delete_pod(&members[0].0).await;
    for stream in &mut streams {
        stream.until(&[at(first + 1), at(first + 2)].into()).await;
    }
    writer.rewrite_slice(&slice, &name, &[]).await;
    for stream in &mut streams {
        stream.until(&BTreeSet::new()).await;
    }
    writer.rewrite_slice(&slice, &name, &replaced).await;
    for stream in &mut streams {
        stream.until(&[at(first + 1), at(first + 2)].into()).await;
    }
    writer.delete_service(&name).await;
    for stream in &mut streams {
        stream.until(&BTreeSet::new()).await;
    }
}

/// After the leader is killed, its successor goes on with the watches where
/// they were; after a compaction it lists once.
async fn one_successor(api: Api) {
    let writer = Writer::new(api.client().await);
    writer.ground().await;
    for number in 0..3 {
        deploy(&writer, number, 2).await;
    }
    let kubeconfig = api.kubeconfig();
    let source = ["--kubeconfig", kubeconfig.to_str().unwrap()];
    let mut fleet = Fleet::start(&api.folder().join("data"), &source, &[]);
    settled(&fleet.admins()).await;
    the_successor_lists_nothing(&api, &writer, &mut fleet).await;
    a_forgotten_history_is_listed_once(&api, &writer, &mut fleet).await;
    settled(&fleet.admins()).await;
    assert_answers(&writer, &fleet.proxies()).await;
}

/// What is written while nobody leads is not lost and needs no list.
async fn the_successor_lists_nothing(api: &Api, writer: &Writer, fleet: &mut Fleet) {
    let admins = fleet.admins();
    let before = agreed(&admins, 1).await.revision;
    let listed = requests(api).await;
    let leads = leader(&admins).await;
    fleet.kill(leads);
    deploy(writer, 3, 2).await;
    let expected: BTreeSet<SocketAddr> = (0..2)
        .map(|pod| SocketAddr::new(ip(1 + 3 * 64 + pod).into(), 8080))
        .collect();
    // An audit would list, so the answers are looked at instead.
    for place in (0..3).filter(|place| *place != leads) {
        let mut stream = eventually("the new service", async || {
            let proxy = Proxy::connect(fleet.proxies()[place]).await?;
            proxy.open(&authority("service-3")).await
        })
        .await;
        stream.until(&expected).await;
    }
    let resumed = requests(api).await;
    for (place, resource) in RESOURCES.into_iter().enumerate() {
        let (now, then) = (resumed[place], listed[place]);
        assert_eq!(
            now.lists, then.lists,
            "lists of {resource} by the successor"
        );
        assert_eq!(now.open_watches, then.open_watches, "watches of {resource}");
    }
    fleet.restart(leads);
    assert!(agreed(&admins, before + 1).await.revision > before);
}

/// Nobody leads while the API server forgets, and something is deleted then.
async fn a_forgotten_history_is_listed_once(api: &Api, writer: &Writer, fleet: &mut Fleet) {
    let listed = requests(api).await;
    (0..3).for_each(|place| fleet.kill(place));
    writer.delete_service("service-0").await;
    for number in 0..20 {
        writer.service(&format!("filler-{number}")).await;
    }
    api.compact();
    (0..3).for_each(|place| fleet.restart(place));
    for proxy in fleet.proxies() {
        eventually("the deletion", async || {
            let proxy = Proxy::connect(proxy)
                .await
                .map_err(|status| status.to_string())?;
            match proxy.get(&authority("service-0")).await {
                Err(status) if status.code() == tonic::Code::NotFound => Ok(()),
                other => Err(format!("{other:?}")),
            }
        })
        .await;
    }
    let relisted = requests(api).await;
    for (place, resource) in RESOURCES.into_iter().enumerate() {
        let lists = relisted[place].lists - listed[place].lists;
        let expected = if resource == "services" { 1..=1 } else { 0..=1 };
        assert!(
            expected.contains(&lists),
            "{lists} lists of {resource} after one compaction"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_answers_equal_a_naive_recomputation_on_the_simulated_api_server() {
    one_cluster(Api::simulated().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_answers_equal_a_naive_recomputation_on_the_real_api_server() {
    if let Some(api) = Api::real("the answers on the real API server") {
        one_cluster(api).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_successor_resumes_the_watches_of_the_simulated_api_server() {
    one_successor(Api::simulated().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_successor_resumes_the_watches_of_the_real_api_server() {
    if let Some(api) = Api::real("the successor on the real API server") {
        one_successor(api).await;
    }
}
