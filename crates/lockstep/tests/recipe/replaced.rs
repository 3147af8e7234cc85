//! O6: a pod of a stateful set comes back under its name, at another address.

use serde_json::{Value, json};

use super::{
    both::Both,
    listener::{Listener, Said},
    scene::Scene,
    stage::Stage,
};

/// How the fleet learns of it.
#[derive(Copy, Clone)]
enum Seen {
    /// By events.
    Events,
    /// Only as the difference between two lists.
    Relist,
}

/// No address is ever told with the identity of the other pod of the name.
fn nobody_is_mistaken(listener: &Listener, scene: &Scene<'_>) {
    for (last, account) in [(1, "before"), (9, "after")] {
        if let Some(identity) = listener.identity(scene.at(last)) {
            assert!(identity.starts_with(&format!("{account}.")), "{identity}");
        }
    }
}

/// The pod behind the name, as its slice entry.
async fn named(scene: &Scene<'_>, last: u8, account: &str) -> Value {
    let mut endpoint = scene.pod("a-0", last, account).await;
    endpoint["hostname"] = "a-0".into();
    endpoint
}

async fn replace(scene: &Scene<'_>, seen: Seen) {
    scene.delete("Pod", "a-0").await;
    let endpoint = named(scene, 9, "after").await;
    if let Seen::Events = seen {
        // The slice still has the old address, and the name is another pod's already.
        scene.stage.settled().await;
    }
    scene.rewrite_slice("alpha-1", "alpha", &[endpoint]).await;
}

pub async fn a_pod_that_comes_back_under_its_name_is_another_pod(stage: &Stage) {
    for (number, (name, seen)) in (60..).zip([("events", Seen::Events), ("relist", Seen::Relist)]) {
        let scene = Scene::new(stage, &format!("o6-{name}"), number).await;
        scene.service("alpha").await;
        let published = json!({ "spec": { "publishNotReadyAddresses": true } });
        scene.patch("Service", "alpha", published).await;
        let endpoint = named(&scene, 1, "before").await;
        scene.slice("alpha-1", "alpha", &[endpoint]).await;
        stage.settled().await;

        let sides = stage.sides().await;
        let by_name = format!("a-0.{}", scene.path("alpha"));
        let mut streams = [
            scene.open(&sides, "alpha").await,
            Both::open(&sides, &by_name, "").await.unwrap(),
        ];
        for both in &mut streams {
            both.hear(&Said::Added([scene.at(1)].into())).await;
        }
        match seen {
            Seen::Events => replace(&scene, seen).await,
            Seen::Relist => {
                let replaced = async || replace(&scene, seen).await;
                stage.behind_its_back(replaced).await;
            }
        }
        let replaced = [scene.at(9)].into();
        for both in &mut streams {
            let check = |listener: &Listener| nobody_is_mistaken(listener, &scene);
            both.until(&replaced, check).await;
            both.assert_equal();
        }
        let identity = streams[0].leader.identity(scene.at(9)).unwrap();
        let expected = format!(
            "after.{}.serviceaccount.identity.linkerd.cluster.local",
            scene.name
        );
        assert_eq!(identity, expected);

        stage.settled().await;
        let mut new = Both::open(&sides, &by_name, "").await.unwrap();
        new.hear(&Said::Added(replaced)).await;
        assert_eq!(new.leader.held(), streams[1].leader.held());
        scene.nothing_else(&mut streams[0], "alpha").await;
    }
}
