//! O4: a slice is deleted after its pod is gone, never updated before.

use super::{listener::Said, scene::Scene, stage::Stage};

/// How the fleet learns that the slice is gone.
#[derive(Copy, Clone)]
enum Seen {
    /// By an event.
    Event,
    /// Only as the difference between two lists.
    Relist,
}

pub async fn a_slice_that_goes_after_its_pod_leaves_nothing_behind(stage: &Stage) {
    for (number, (name, seen)) in (40..).zip([("event", Seen::Event), ("relist", Seen::Relist)]) {
        let scene = Scene::new(stage, &format!("o4-{name}"), number).await;
        scene.service("alpha").await;
        for (place, slice) in [(0, "alpha-1"), (1, "alpha-2")] {
            let endpoint = scene.pod(&format!("a-{place}"), 1 + place, "sa").await;
            scene.slice(slice, "alpha", &[endpoint]).await;
        }
        stage.settled().await;
        let sides = stage.sides().await;
        let mut both = scene.open(&sides, "alpha").await;
        both.hear(&Said::Added([scene.at(1), scene.at(2)].into()))
            .await;

        // The pod's address leaves with the pod: nobody knows whose it is.
        scene.delete("Pod", "a-0").await;
        both.hear(&Said::Removed([scene.at(1)].into())).await;
        stage.settled().await;
        match seen {
            Seen::Event => scene.delete("EndpointSlice", "alpha-1").await,
            Seen::Relist => {
                let deleted = async || scene.delete("EndpointSlice", "alpha-1").await;
                stage.behind_its_back(deleted).await;
            }
        }
        stage.settled().await;
        let mut new = scene.open(&sides, "alpha").await;
        new.hear(&Said::Added([scene.at(2)].into())).await;
        scene.nothing_else(&mut both, "alpha").await;
        // A pod of the old name does not bring the slice back.
        scene.pod("a-0", 1, "sa").await;
        stage.settled().await;
        scene.delete("EndpointSlice", "alpha-last").await;
        both.hear(&Said::Removed([scene.at(250)].into())).await;
        assert_eq!(both.leader.addresses(), Some([scene.at(2)].into()));
    }
}
