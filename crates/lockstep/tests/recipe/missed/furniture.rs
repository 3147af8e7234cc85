//! What there is before anything is missed.

use lockstep_simapi::SimApi;
use serde_json::Value;
use std::net::{Ipv4Addr, SocketAddr};

use super::{
    super::{
        objects::{
            endpoint, endpoint_of, external_workload, hinted, job, node, owned_by, pod,
            replica_set, server, service, service_profile, slice,
        },
        scene::Scene,
    },
    PROFILED,
};

/// As many objects as the fleet asks for in one page.
const PAGE: u16 = 500;

/// Endpoints of each of the three slices of `alpha`.
const IN_A_SLICE: u8 = 100;

/// Objects that nothing else refers to, before all others in the order of a list: what is
/// told of a list without its second page would withdraw everything. One of each kind comes
/// last, so that there is a second page after the deletions too.
pub fn fill_first_pages(sim: &SimApi) {
    for number in 0..PAGE {
        fill(sim, "filler", number);
    }
    fill(sim, "survivor", PAGE);
}

fn fill(sim: &SimApi, namespace: &str, number: u16) {
    let name = format!("{namespace}-{number}");
    let [high, low] = number.to_be_bytes();
    let ip = Ipv4Addr::new(10, 200 + high, low, 1);
    for mut object in [
        node(&name, "zone-c"),
        replica_set(&name),
        job(&name),
        pod(&name, ip, "filler"),
        service(&name),
        slice(&name, &name, &[endpoint(ip)]),
        service_profile(&format!("{name}.{namespace}.svc.cluster.local")),
        server(&name, &name),
        external_workload(&name, ip),
    ] {
        if object["kind"] != "Node" {
            object["metadata"]["namespace"] = namespace.into();
        }
        sim.apply(object).unwrap();
    }
}

/// For each kind a service whose answer depends on one object of it.
pub async fn furnish(scene: &Scene<'_>) {
    for name in [
        "pods",
        "guarded",
        "zoned",
        "owned",
        "worked",
        "dropped",
        "vms",
        "profiled",
        "bystander",
    ] {
        scene.service(name).await;
    }
    let pods = [
        scene.pod("a-0", 1, "sa").await,
        scene.pod("a-1", 2, "sa").await,
    ];
    scene.slice("pods-1", "pods", &pods).await;

    let mut guarded = Vec::new();
    for number in 0..5_u8 {
        let name = format!("g-{number}");
        scene.put(server(&format!("policy-{number}"), &name)).await;
        guarded.push(scene.pod(&name, 10 + number, "sa").await);
    }
    scene.slice("guarded-1", "guarded", &guarded).await;

    scene.node("zone-a").await;
    let zoned = [
        hinted(endpoint(scene.ip(20)), "zone-a"),
        hinted(endpoint(scene.ip(21)), "zone-b"),
    ];
    scene.slice("zoned-1", "zoned", &zoned).await;

    let set = owned_by(replica_set("set"), "Deployment", "deployment");
    let job = owned_by(job("job"), "CronJob", "cron");
    for (owner, kind, service, last) in
        [(set, "ReplicaSet", "owned", 30), (job, "Job", "worked", 31)]
    {
        let name = owner["metadata"]["name"].as_str().unwrap().to_owned();
        scene.put(owner).await;
        let pod = owned_by(
            pod(&format!("of-{name}"), scene.ip(last), "sa"),
            kind,
            &name,
        );
        let uid = scene.put(pod).await;
        let own = endpoint_of("Pod", (&format!("of-{name}"), &uid), scene.ip(last));
        scene.slice(&format!("{service}-1"), service, &[own]).await;
    }

    let one = |last| [endpoint(scene.ip(last))];
    scene.slice("dropped-1", "dropped", &one(40)).await;
    scene.slice("bystander-1", "bystander", &one(41)).await;
    scene.put(external_workload("vm", scene.ip(50))).await;
    let vm = endpoint_of("ExternalWorkload", ("vm", "1"), scene.ip(50));
    scene.slice("vms-1", "vms", &[vm]).await;
    scene.put(service_profile(PROFILED)).await;
}

/// `alpha` with 300 endpoints in three slices.
pub async fn large(scene: &Scene<'_>) {
    scene.service("alpha").await;
    for number in 1..=3_u16 {
        let endpoints: Vec<Value> = members(number).map(endpoint).collect();
        scene
            .slice(&format!("alpha-{number}"), "alpha", &endpoints)
            .await;
    }
}

/// The addresses of one slice of `alpha`.
fn members(number: u16) -> impl Iterator<Item = Ipv4Addr> {
    let [_, low] = number.to_be_bytes();
    (0..IN_A_SLICE).map(move |last| Ipv4Addr::new(10, 90, low, last))
}

pub fn addresses(number: u16) -> impl Iterator<Item = SocketAddr> {
    members(number).map(|ip| SocketAddr::new(ip.into(), 8080))
}
