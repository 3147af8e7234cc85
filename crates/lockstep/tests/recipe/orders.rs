//! O8: five objects that make one answer arrive in any order.

mod late;

use futures::{StreamExt, future::join_all, stream};
use linkerd2_proxy_api::destination::{Update, WeightedAddrSet, update};
use lockstep_contract::json;
use serde_json::json;
use std::time::Duration;
use tonic::{Code, transport::Channel};

use super::{
    both::Both,
    listener::{Listener, Said},
    objects::{endpoint, endpoint_of, hinted, node, pod, server, service, slice},
    scene::Scene,
    stage::Stage,
};
pub use late::a_kind_that_lags_behind_is_made_good_when_it_arrives;

/// What the answer is made of.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Slice,
    Pod,
    Node,
    Service,
    Server,
}

const PARTS: [Part; 5] = [
    Part::Slice,
    Part::Pod,
    Part::Node,
    Part::Service,
    Part::Server,
];

/// How often a proxy asks again for what was refused, at first.
const BACK_OFF: Duration = Duration::from_millis(100);

/// Requests under way at once; the API server refuses more than a few hundred.
const WRITERS: usize = 32;

fn orders(parts: &[Part]) -> Vec<Vec<Part>> {
    if parts.is_empty() {
        return vec![Vec::new()];
    }
    let with_first = |first: Part| {
        let rest: Vec<Part> = parts.iter().filter(|it| **it != first).copied().collect();
        let orders = orders(&rest).into_iter();
        orders.map(move |rest| [vec![first], rest].concat())
    };
    parts.iter().copied().flat_map(with_first).collect()
}

/// Adds one part. The slice has the pod in the client's zone and an address in another.
async fn add(scene: &Scene<'_>, part: Part) {
    let object = match part {
        Part::Slice => {
            // Without the pod's uid, which nobody knows before the pod is there.
            let mut own = endpoint_of("Pod", ("a-0", ""), scene.ip(1));
            own["targetRef"]["uid"].take();
            own["nodeName"] = scene.node_name().into();
            let endpoints = [
                hinted(own, "zone-a"),
                hinted(endpoint(scene.ip(2)), "zone-b"),
            ];
            slice("alpha-1", "alpha", &endpoints)
        }
        Part::Pod => {
            let mut pod = pod("a-0", scene.ip(1), "sa");
            pod["spec"]["nodeName"] = scene.node_name().into();
            pod
        }
        Part::Node => node(&scene.node_name(), "zone-a"),
        Part::Service => service("alpha"),
        Part::Server => server("policy", "a-0"),
    };
    scene.put(object).await;
}

fn token(scene: &Scene<'_>) -> String {
    json!({ "ns": scene.name, "nodeName": scene.node_name(), "pod": "client" }).to_string()
}

/// An address is never told with what belongs to a pod that is not known, or without it.
fn its_pod_is_known(listener: &Listener, scene: &Scene<'_>) {
    let identity = identity(scene);
    assert!(
        listener
            .identity(scene.at(1))
            .is_none_or(|it| it == identity)
    );
    assert!(
        listener
            .identity(scene.at(2))
            .is_none_or(|it| it.is_empty())
    );
}

fn identity(scene: &Scene<'_>) -> String {
    format!(
        "sa.{}.serviceaccount.identity.linkerd.cluster.local",
        scene.name
    )
}

/// The zone's endpoint only, with the pod's identity, and opaque.
fn is_final(listener: &Listener, scene: &Scene<'_>) -> bool {
    listener.addresses() == Some([scene.at(1)].into())
        && listener.is_opaque(scene.at(1)) == Some(true)
}

/// A client that is there from the start: it asks again while it is refused, and follows
/// until it holds the final answer.
async fn until_final(channel: &Channel, scene: &Scene<'_>) -> Listener {
    let mut listener = Listener::new(channel, &scene.path("alpha"), &token(scene));
    while let Err(refused) = listener.open().await {
        assert_eq!(refused.code(), Code::NotFound, "{refused:?}");
        tokio::time::sleep(BACK_OFF).await;
    }
    while !is_final(&listener, scene) {
        listener.next().await;
        its_pod_is_known(&listener, scene);
    }
    listener
}

/// All that a client holds, without what only this scene has.
fn shown(listener: &Listener, scene: &Scene<'_>) -> String {
    let held = listener.held().unwrap();
    let endpoints = held.values().map(|it| it.endpoint.clone());
    let labels = held.values().next().map(|it| it.labels.clone());
    let add = update::Update::Add(WeightedAddrSet {
        addrs: endpoints.collect(),
        metric_labels: labels.unwrap_or_default().into_iter().collect(),
    });
    let shown = json::update(&Update { update: Some(add) }).to_string();
    let ip = u32::from(scene.ip(1)).to_string();
    shown.replace(&scene.name, "scene").replace(&ip, "ip")
}

/// In each order; between two parts the whole fleet catches up, so that each order is one.
pub async fn the_answer_is_the_same_in_whatever_order_its_parts_arrive(stage: &Stage) {
    let orders = orders(&PARTS);
    assert_eq!(orders.len(), 120);
    let made = (0..120_u16).map(async |number| {
        let scene = Scene::new(stage, &format!("o8-{number:03}"), 800 + number).await;
        scene.service("beta").await;
        scene
    });
    let scenes: Vec<Scene<'_>> = stream::iter(made).buffered(WRITERS).collect().await;
    stage.settled().await;

    let (alpha, beta) = (stage.sides().await, stage.sides().await);
    let betas = join_all(scenes.iter().map(async |scene| {
        let opened = Both::open(&beta, &scene.path("beta"), &token(scene)).await;
        let mut both = opened.unwrap();
        both.hear(&Said::Empty { exists: true }).await;
        both
    }))
    .await;
    let followed = join_all(scenes.iter().map(async |scene| {
        let leader = until_final(&alpha.leader, scene);
        let (leader, follower) = tokio::join!(leader, until_final(&alpha.follower, scene));
        Both { leader, follower }
    }));
    let (alphas, ()) = tokio::join!(followed, arrive(stage, &scenes, &orders));

    let first = shown(&alphas[0].leader, &scenes[0]);
    for ((both, scene), order) in alphas.iter().zip(&scenes).zip(&orders) {
        both.assert_equal();
        assert_eq!(shown(&both.leader, scene), first, "after {order:?}");
        assert_eq!(both.leader.identity(scene.at(1)), Some(identity(scene)));
    }
    relabel(stage, &scenes, alphas, betas).await;
}

async fn arrive(stage: &Stage, scenes: &[Scene<'_>], orders: &[Vec<Part>]) {
    for round in 0..PARTS.len() {
        let adds = scenes.iter().zip(orders);
        let adds = adds.map(|(scene, order)| add(scene, order[round]));
        stream::iter(adds)
            .buffer_unordered(WRITERS)
            .for_each(async |()| {})
            .await;
        stage.settled().await;
    }
}

/// The slice becomes another service's: it leaves the one and comes to the other.
async fn relabel(stage: &Stage, scenes: &[Scene<'_>], mut alphas: Vec<Both>, mut betas: Vec<Both>) {
    let label = json!({ "metadata": { "labels": { "kubernetes.io/service-name": "beta" } } });
    let patched = scenes
        .iter()
        .map(|scene| scene.patch("EndpointSlice", "alpha-1", label.clone()));
    stream::iter(patched)
        .buffer_unordered(WRITERS)
        .for_each(async |()| {})
        .await;
    stage.settled().await;
    for ((alpha, beta), scene) in alphas.iter_mut().zip(&mut betas).zip(scenes) {
        alpha.hear(&Said::Removed([scene.at(1)].into())).await;
        beta.hear(&Said::Added([scene.at(1)].into())).await;
        assert_eq!(beta.leader.identity(scene.at(1)), Some(identity(scene)));
        assert_eq!(beta.leader.is_opaque(scene.at(1)), Some(true));
    }
}
