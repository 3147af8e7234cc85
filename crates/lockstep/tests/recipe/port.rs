//! O5: a service's target port changes, and with it the slice that is there.

use serde_json::json;
use std::{collections::BTreeSet, net::SocketAddr};

use super::{listener::Said, scene::Scene, stage::Stage};

pub async fn a_target_port_that_changes_moves_all_endpoints_and_never_none_is_left(stage: &Stage) {
    let scene = Scene::new(stage, "o5", 50).await;
    scene.service("alpha").await;
    let endpoints = [
        scene.pod("a-0", 1, "sa").await,
        scene.pod("a-1", 2, "sa").await,
    ];
    scene.slice("alpha-1", "alpha", &endpoints).await;
    stage.settled().await;
    let sides = stage.sides().await;
    let mut both = scene.open(&sides, "alpha").await;
    both.hear(&Said::Added([scene.at(1), scene.at(2)].into()))
        .await;

    let target =
        json!({ "spec": { "ports": [{ "name": "web", "port": 80, "targetPort": 9090 }] } });
    scene.patch("Service", "alpha", target).await;
    let ports = json!({ "ports": [{ "name": "web", "port": 9090, "protocol": "TCP" }] });
    scene.patch("EndpointSlice", "alpha-1", ports).await;
    let moved = |last| SocketAddr::new(scene.ip(last).into(), 9090);
    let expected: BTreeSet<SocketAddr> = [moved(1), moved(2)].into();
    let never_empty = |listener: &super::listener::Listener| {
        assert_ne!(listener.addresses(), Some(BTreeSet::new()));
    };
    both.until(&expected, never_empty).await;
    both.assert_equal();
    let mut new = scene.open(&sides, "alpha").await;
    new.hear(&Said::Added(expected)).await;
    assert_eq!(new.leader.held(), both.leader.held());
    scene.nothing_else(&mut both, "alpha").await;
}
