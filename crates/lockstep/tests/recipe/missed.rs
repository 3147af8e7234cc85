//! O9: every watch is cut, something of each kind is deleted, and the way back is full of
//! errors. Exactly what was missed is told.

mod furniture;
mod streams;

use lockstep_simapi::{Behaviour, Fault, FaultAnswer, FaultOn, Rejection, SimApi, Verb};

use super::{objects::api_of, scene::Scene, stage::Stage};
use crate::harness::{api::Api, eventually};
use furniture::{fill_first_pages, furnish, large};
use streams::Streams;

/// One object of each watched kind, which is deleted.
const DELETED: [(&str, &str); 9] = [
    ("EndpointSlice", "alpha-2"),
    ("Pod", "a-1"),
    ("Server", "policy-2"),
    ("Node", "missed-node"),
    ("ReplicaSet", "set"),
    ("Job", "job"),
    ("Service", "dropped"),
    ("ExternalWorkload", "vm"),
    ("ServiceProfile", PROFILED),
];

const PROFILED: &str = "profiled.missed.svc.cluster.local";

pub async fn exactly_what_was_missed_is_told(api: Api) {
    if let Some(sim) = api.simapi() {
        fill_first_pages(sim);
    }
    let fleet = Stage::on(api).await;
    let stage = &fleet;
    // Sorts behind what fills the first page, as do all its objects.
    let scene = &Scene::new(stage, "missed", 900).await;
    let alpha = &Scene::new(stage, "missed-alpha", 901).await;
    furnish(scene).await;
    large(alpha).await;
    stage.settled().await;
    let sides = stage.sides().await;
    let mut streams = Streams::open(scene, alpha, &sides).await;

    let missed = async || {
        alpha.delete("EndpointSlice", "alpha-2").await;
        for (kind, name) in &DELETED[1..] {
            scene.delete(kind, name).await;
        }
    };
    match stage.api.simapi() {
        Some(sim) => through_errors(sim, missed).await,
        None => stage.behind_its_back(missed).await,
    }
    stage.settled().await;
    streams.hear_what_was_missed(scene).await;
    streams.hear_nothing_else(scene, alpha).await;
    fleet.stop().await;
}

/// Cuts all watches and lets nobody watch again meanwhile; then history is forgotten, the
/// second page fails twice and is forgotten too, and only then all is well.
async fn through_errors(sim: &SimApi, happens: impl AsyncFnOnce()) {
    sim.set_behaviour(Behaviour {
        reject: Some(Rejection {
            code: 503,
            retry_after: None,
            verb: Some(Verb::Watch),
            resource: None,
        }),
        ..Behaviour::default()
    });
    sim.close_watches();
    happens().await;
    let errors = [
        (FaultOn::Watch, FaultAnswer::Expired),
        (FaultOn::NextPage, FaultAnswer::Code(500)),
        (FaultOn::NextPage, FaultAnswer::Code(500)),
        (FaultOn::NextPage, FaultAnswer::Expired),
    ];
    let of_kind = |(kind, _): &(&str, &str)| {
        let resource = api_of(kind).1.to_owned();
        errors.map(|(on, answer)| Fault {
            resource: resource.clone(),
            on,
            answer,
        })
    };
    sim.set_behaviour(Behaviour {
        faults: DELETED.iter().flat_map(of_kind).collect(),
        ..Behaviour::default()
    });
    eventually("all errors met", async || {
        match sim.behaviour().faults.as_slice() {
            [] => Ok(()),
            left => Err(format!("{left:?}")),
        }
    })
    .await;
}
