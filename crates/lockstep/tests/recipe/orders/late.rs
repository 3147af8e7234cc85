//! One kind lags behind the others.

use super::{
    super::{
        listener::Listener,
        scene::Scene,
        stage::{Sides, Stage},
    },
    BACK_OFF, PARTS, Part, add, identity, is_final, its_pod_is_known, token, until_final,
};

/// One kind's watch lags behind all others: what is told meanwhile is what they say.
pub async fn a_kind_that_lags_behind_is_made_good_when_it_arrives(stage: &Stage) {
    for (number, late) in (80..).zip(PARTS) {
        let name = format!("o8-late-{late:?}").to_lowercase();
        let scene = Scene::new(stage, &name, number).await;
        stage.settled().await;
        let sides = stage.sides().await;
        let resource = match late {
            Part::Slice => "endpointslices",
            Part::Pod => "pods",
            Part::Node => "nodes",
            Part::Service => "services",
            Part::Server => "servers",
        };
        let api = stage.api.simapi().unwrap();
        api.hold_watches(resource).unwrap();
        for part in PARTS {
            add(&scene, part).await;
        }
        let clients = lagging(&scene, &sides, late).await;
        api.release_watches(resource).unwrap();
        let mut finals = Vec::new();
        for (listener, channel) in clients.into_iter().zip([&sides.leader, &sides.follower]) {
            finals.push(match listener {
                None => until_final(channel, &scene).await,
                Some(mut listener) => {
                    while !is_final(&listener, &scene) {
                        listener.next().await;
                        its_pod_is_known(&listener, &scene);
                    }
                    listener
                }
            });
        }
        assert_eq!(finals[0].held(), finals[1].held());
        assert_eq!(finals[0].identity(scene.at(1)), Some(identity(&scene)));
    }
}

/// Clients that hold what all kinds but one say; none where that is a refusal.
async fn lagging(scene: &Scene<'_>, sides: &Sides, late: Part) -> [Option<Listener>; 2] {
    let both = |last: &[u8]| last.iter().map(|it| scene.at(*it)).collect();
    let (expected, is_opaque) = match late {
        Part::Service => return [None, None],
        Part::Slice => (both(&[]), None),
        Part::Pod => (both(&[2]), None),
        Part::Node => (both(&[1, 2]), Some(true)),
        Part::Server => (both(&[1]), Some(false)),
    };
    let mut clients = Vec::new();
    for channel in [&sides.leader, &sides.follower] {
        let mut listener = Listener::new(channel, &scene.path("alpha"), &token(scene));
        while listener.open().await.is_err() {
            tokio::time::sleep(BACK_OFF).await;
        }
        while listener.addresses().as_ref() != Some(&expected)
            || listener.is_opaque(scene.at(1)) != is_opaque
        {
            listener.next().await;
            its_pod_is_known(&listener, scene);
        }
        clients.push(Some(listener));
    }
    clients.try_into().unwrap_or_else(|_| panic!("two sides"))
}
