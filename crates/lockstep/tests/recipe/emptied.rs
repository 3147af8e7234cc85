//! O3: a service becomes empty, or goes, while its client is away.

use serde_json::Value;
use tonic::Code;

use super::{both::Both, listener::Said, scene::Scene, stage::Stage};

/// How a service that still exists comes to have no endpoints.
#[derive(Copy, Clone)]
enum Emptied {
    /// Its slice stays, without endpoints.
    Scaled,
    /// Its slice goes.
    SliceDeleted,
}

/// `alpha` with three endpoints; their slice entries.
async fn three(scene: &Scene<'_>) -> Vec<Value> {
    scene.service("alpha").await;
    let mut endpoints = Vec::new();
    for number in 1..=3 {
        endpoints.push(scene.pod(&format!("a-{number}"), number, "sa").await);
    }
    scene.slice("alpha-1", "alpha", &endpoints).await;
    scene.stage.settled().await;
    endpoints
}

fn all(scene: &Scene<'_>) -> Said {
    Said::Added((1..=3).map(|last| scene.at(last)).collect())
}

/// The first message of the new stream empties what the client kept, in the only form that
/// counts as a first message; one endpoint later is one `add` on that stream.
pub async fn a_client_that_returns_is_told_that_nothing_is_left(stage: &Stage) {
    let emptied = [
        ("scaled", Emptied::Scaled),
        ("slice-deleted", Emptied::SliceDeleted),
    ];
    for (number, (name, emptied)) in (30..).zip(emptied) {
        let scene = Scene::new(stage, &format!("o3-{name}"), number).await;
        let endpoints = three(&scene).await;
        let sides = stage.sides().await;
        let mut both = scene.open(&sides, "alpha").await;
        both.hear(&all(&scene)).await;

        both.hang_up();
        match emptied {
            Emptied::Scaled => scene.rewrite_slice("alpha-1", "alpha", &[]).await,
            Emptied::SliceDeleted => scene.delete("EndpointSlice", "alpha-1").await,
        }
        stage.settled().await;
        both.reopen().await.unwrap();
        both.hear(&Said::Empty { exists: true }).await;
        assert_eq!(both.leader.addresses(), Some([].into()));

        match emptied {
            Emptied::Scaled => {
                scene
                    .rewrite_slice("alpha-1", "alpha", &endpoints[..1])
                    .await;
            }
            Emptied::SliceDeleted => scene.slice("alpha-1", "alpha", &endpoints[..1]).await,
        }
        both.hear(&Said::Added([scene.at(1)].into())).await;
        scene.nothing_else(&mut both, "alpha").await;
    }
}

async fn assert_not_found(both: &mut Both) {
    for listener in both.each() {
        let refused = listener.open().await.unwrap_err();
        assert_eq!(refused.code(), Code::NotFound, "{refused:?}");
    }
}

/// A service that is gone is not told as an empty set to a client that returns: like the
/// recorded controller, `Get` answers `NotFound`, which clients ask again after a pause
/// while they keep what they hold. Who was connected is told at once, and its stream lives.
pub async fn a_client_of_a_deleted_service_is_refused_until_it_is_back(stage: &Stage) {
    let scene = Scene::new(stage, "o3-service-deleted", 32).await;
    let endpoints = three(&scene).await;
    let sides = stage.sides().await;
    let mut stayed = scene.open(&sides, "alpha").await;
    let mut away = scene.open(&sides, "alpha").await;
    for both in [&mut stayed, &mut away] {
        both.hear(&all(&scene)).await;
    }

    away.hang_up();
    scene.delete("Service", "alpha").await;
    let gone = (1..=3).map(|last| scene.at(last)).collect();
    stayed.hear(&Said::Removed(gone)).await;
    stage.settled().await;
    assert_not_found(&mut away).await;
    let kept = (1..=3).map(|last| scene.at(last)).collect();
    assert_eq!(away.leader.addresses(), Some(kept));

    scene
        .rewrite_slice("alpha-1", "alpha", &endpoints[..1])
        .await;
    stage.settled().await;
    assert_not_found(&mut away).await;
    scene.service("alpha").await;
    stayed.hear(&Said::Added([scene.at(1)].into())).await;
    stage.settled().await;
    away.reopen().await.unwrap();
    away.hear(&Said::Added([scene.at(1)].into())).await;
    assert_eq!(away.leader.addresses(), Some([scene.at(1)].into()));
    stage.settled().await;
    scene.nothing_else(&mut stayed, "alpha").await;
    away.hear(&Said::Added([scene.at(250)].into())).await;
}

/// With absent services answered, a client that returns is told that nothing is left, of a
/// service that is gone and of one that never was, and hears on the same stream when it comes.
pub async fn a_client_of_an_absent_service_is_told_that_nothing_is_left(stage: &Stage) {
    for (number, existed) in [(34, true), (35, false)] {
        let scene = Scene::new(stage, &format!("o3-absent-{existed}"), number).await;
        let sides = stage.sides().await;
        let mut both = Both::new(&sides, &scene.path("alpha"), "");
        if existed {
            three(&scene).await;
            both.reopen().await.unwrap();
            both.hear(&all(&scene)).await;
            both.hang_up();
            scene.delete("EndpointSlice", "alpha-1").await;
            scene.delete("Service", "alpha").await;
        }
        stage.settled().await;
        both.reopen().await.unwrap();
        both.hear(&Said::Empty { exists: false }).await;
        assert_eq!(both.leader.addresses(), Some([].into()));

        scene.service("alpha").await;
        let endpoint = scene.pod("a-9", 9, "sa").await;
        scene.slice("alpha-1", "alpha", &[endpoint]).await;
        both.hear(&Said::Added([scene.at(9)].into())).await;
        scene.nothing_else(&mut both, "alpha").await;
    }
}

/// What never existed is refused too, and told from its first moment on.
pub async fn a_client_of_a_service_that_never_existed_is_refused_until_it_does(stage: &Stage) {
    let scene = Scene::new(stage, "o3-never-existed", 33).await;
    stage.settled().await;
    let sides = stage.sides().await;
    let mut both = Both::new(&sides, &scene.path("alpha"), "");
    assert_not_found(&mut both).await;
    assert_eq!(both.leader.addresses(), None);

    scene.service("alpha").await;
    stage.settled().await;
    both.reopen().await.unwrap();
    both.hear(&Said::Empty { exists: true }).await;
    let endpoint = scene.pod("a-1", 1, "sa").await;
    scene.slice("alpha-1", "alpha", &[endpoint]).await;
    both.hear(&Said::Added([scene.at(1)].into())).await;
    scene.nothing_else(&mut both, "alpha").await;
}
