//! O7: an endpoint in two slices.

use serde_json::{Value, json};
use std::time::Duration;

use super::{both::Both, listener::Said, objects::endpoint, scene::Scene, stage::Stage};

/// `a-0` in a new service's two slices, heard by clients.
async fn in_two<'a>(stage: &'a Stage, name: &str, number: u16) -> (Scene<'a>, Value, Both) {
    let scene = Scene::new(stage, name, number).await;
    scene.service("alpha").await;
    let endpoint = scene.pod("a-0", 1, "sa").await;
    // The second is the newer one, if only by its name: ages count in seconds.
    for slice in ["alpha-1", "alpha-2"] {
        scene
            .slice(slice, "alpha", std::slice::from_ref(&endpoint))
            .await;
    }
    stage.settled().await;
    let mut both = scene.open(&stage.sides().await, "alpha").await;
    both.hear(&Said::Added([scene.at(1)].into())).await;
    (scene, endpoint, both)
}

pub async fn an_endpoint_that_leaves_one_of_its_slices_stays_without_a_word(stage: &Stage) {
    let (scene, _, mut both) = in_two(stage, "o7-removed", 70).await;
    scene.rewrite_slice("alpha-1", "alpha", &[]).await;
    scene.nothing_else(&mut both, "alpha").await;
}

pub async fn an_endpoint_stays_without_a_word_when_one_of_its_slices_is_deleted(stage: &Stage) {
    let (scene, _, mut both) = in_two(stage, "o7-deleted", 71).await;
    scene.delete("EndpointSlice", "alpha-1").await;
    scene.nothing_else(&mut both, "alpha").await;
}

pub async fn an_endpoint_that_leaves_both_its_slices_is_removed_once(stage: &Stage) {
    let (scene, _, mut both) = in_two(stage, "o7-removed-twice", 72).await;
    scene.rewrite_slice("alpha-1", "alpha", &[]).await;
    stage.settled().await;
    scene.rewrite_slice("alpha-2", "alpha", &[]).await;
    both.hear(&Said::Removed([scene.at(1)].into())).await;
    scene.nothing_else(&mut both, "alpha").await;
}

/// Of two slices that disagree about one pod, the one that was created last is believed,
/// whichever was written last and whatever their names.
pub async fn the_newer_of_two_slices_decides_whether_a_pod_serves(stage: &Stage) {
    let scene = Scene::new(stage, "o7-disagreeing", 73).await;
    scene.service("alpha").await;
    let ready = scene.pod("a-0", 1, "sa").await;
    let older = |more: &[Value]| [std::slice::from_ref(&ready), more].concat();
    scene.slice("alpha-2", "alpha", &older(&[])).await;
    stage.settled().await;
    let mut both = scene.open(&stage.sides().await, "alpha").await;
    both.hear(&Said::Added([scene.at(1)].into())).await;

    // The age of an object is told in whole seconds.
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    let mut unready = ready.clone();
    unready["conditions"] = json!({ "ready": false, "serving": false, "terminating": false });
    scene.slice("alpha-1", "alpha", &[unready]).await;
    both.hear(&Said::Removed([scene.at(1)].into())).await;
    let more = older(&[endpoint(scene.ip(2))]);
    scene.rewrite_slice("alpha-2", "alpha", &more).await;
    both.hear(&Said::Added([scene.at(2)].into())).await;
    stage.settled().await;
    scene.delete("EndpointSlice", "alpha-1").await;
    both.hear(&Said::Added([scene.at(1)].into())).await;
    scene.nothing_else(&mut both, "alpha").await;
}
