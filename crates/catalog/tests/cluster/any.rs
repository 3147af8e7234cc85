//! Objects by chance, over a few names, so that they meet.

use lockstep_model::{
    AddressFamily, EndpointFact, Fact, FactKind, LabelSelector, OwnerRef, PodPhase, Readiness,
    ServerPort, ServiceKind, Settings,
};
use proptest::prelude::*;
use std::sync::Arc;

use super::{
    app, at_address, at_external, at_pod, external, labels, owned_by, pod, server,
    server_of_external, service, service_profile, slice_of_age,
};

pub fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["a", "b"])
}

/// Slices most of all, then what they refer to.
pub fn kind() -> impl Strategy<Value = FactKind> {
    prop_oneof![
        4 => prop::sample::select(FactKind::ALL.to_vec()),
        4 => Just(FactKind::EndpointSlice),
        2 => Just(FactKind::Pod),
        1 => Just(FactKind::Service),
        1 => Just(FactKind::Server),
    ]
}

pub fn any_settings() -> impl Strategy<Value = Arc<Settings>> {
    any::<[bool; 2]>().prop_map(|[node_hints, serve_terminating]| {
        Arc::new(Settings {
            node_hints,
            serve_terminating,
            ..Settings::default()
        })
    })
}

pub fn any_readiness() -> impl Strategy<Value = Readiness> {
    prop_oneof![
        3 => Just(Readiness::Ready),
        1 => Just(Readiness::Leaving),
        1 => Just(Readiness::Unready),
    ]
}

pub fn any_endpoint() -> impl Strategy<Value = EndpointFact> {
    let uid = prop::option::of(name());
    let target = (name(), uid, 0..6u8);
    (1..5u8, target, any_readiness(), any::<[bool; 2]>()).prop_map(
        |(last, (name, uid, kind), readiness, [dns, hint])| {
            let endpoint = match kind {
                0 => at_address(last),
                1 => at_external(last, name),
                _ => at_pod(last, name, uid),
            };
            EndpointFact {
                readiness,
                hostname: dns.then(|| name.into()),
                hint_nodes: hint.then(|| "node-a".into()).into_iter().collect(),
                ..endpoint
            }
        },
    )
}

pub fn any_server() -> impl Strategy<Value = Fact> {
    let selectors = vec![LabelSelector::default(), app("a"), app("b")];
    let ports = vec![
        ServerPort::Number(7000),
        ServerPort::Name("http".into()),
        ServerPort::Name("other".into()),
    ];
    let parts = (
        prop::sample::select(selectors),
        prop::sample::select(ports),
        0..5u8,
    );
    parts.prop_map(|(selector, port, of)| match of {
        0 => Fact::Server(None),
        1 | 2 => server_of_external(selector, port),
        _ => server(selector, port),
    })
}

pub fn any_pod() -> impl Strategy<Value = Fact> {
    let phases = vec![PodPhase::Pending, PodPhase::Running, PodPhase::Finished];
    let owner = prop::option::of((
        prop::sample::select(vec!["ReplicaSet", "Job", "DaemonSet"]),
        name(),
    ));
    let phase = prop::sample::select(phases);
    (name(), 0..5u8, owner, phase, name()).prop_map(|(uid, last, owner, phase, app)| {
        let mut pod = pod(uid, last);
        pod.labels = labels(app);
        pod.owner = owner.map(|(kind, name)| OwnerRef {
            kind: kind.into(),
            name: name.into(),
        });
        pod.phase = phase;
        if last == 0 {
            pod.addresses.ips.clear();
        }
        Fact::Pod(pod)
    })
}

pub fn any_fact(kind: FactKind) -> BoxedStrategy<Fact> {
    match kind {
        FactKind::Node => prop::option::of(name())
            .prop_map(|zone| Fact::Node(zone.map(Into::into)))
            .boxed(),
        FactKind::ReplicaSet | FactKind::Job => {
            let kinds = prop::sample::select(vec!["Deployment", "Job", "Rollout"]);
            (kinds, name())
                .prop_map(|(kind, name)| owned_by(kind, name))
                .boxed()
        }
        FactKind::Pod => any_pod().boxed(),
        FactKind::Service => {
            let kinds = prop_oneof![
                4 => Just(ServiceKind::Endpoints),
                1 => Just(ServiceKind::ExternalName),
            ];
            kinds.prop_map(service).boxed()
        }
        FactKind::EndpointSlice => {
            let endpoints = prop::collection::vec(any_endpoint(), 0..4);
            let families = prop_oneof![3 => Just(AddressFamily::V4), 1 => Just(AddressFamily::V6)];
            (0..3i64, name(), families, endpoints)
                .prop_map(|(created_s, service, family, endpoints)| {
                    let mut slice = slice_of_age(created_s, service, endpoints);
                    if let Fact::Slice(slice) = &mut slice {
                        slice.family = family;
                    }
                    slice
                })
                .boxed()
        }
        FactKind::ServiceProfile => (1..3u32).prop_map(service_profile).boxed(),
        FactKind::Server => any_server().boxed(),
        FactKind::ExternalWorkload => (1..4u8, name(), any::<bool>())
            .prop_map(|(last, app, is_findable)| {
                let mut workload = external(last);
                workload.labels = labels(app);
                if !is_findable {
                    workload.ips.clear();
                }
                Fact::ExternalWorkload(workload)
            })
            .boxed(),
    }
}
