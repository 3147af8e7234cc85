//! What no answer shows makes no revision: it is remembered, and no more.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod cluster;

use cluster::{
    Leader, Objects, app, at_external, at_pod, external, external_key, labels, pod, pod_key, port,
    server, server_key, service_key, slice_key, web,
};
use lockstep_model::{
    AddressFamily, EndpointFact, Fact, FactKey, Holds, LabelSelector, Mirror, NamedBy, NodeName,
    Readiness, Requirement, ServerPort, ServiceId, Settings, SliceFact, SlicePort,
};
use lockstep_state::Command;
use std::sync::Arc;

/// Pods `a` and `b`, external workload `vm`, a slice of all, and a Server of port 8080.
fn shop() -> Objects {
    let raw = server(app("web"), ServerPort::Number(8080));
    Objects::from([
        (service_key("web"), web()),
        (pod_key("a"), Fact::Pod(pod("a1", 1))),
        (pod_key("b"), Fact::Pod(pod("b1", 2))),
        (external_key("vm"), Fact::ExternalWorkload(external(100))),
        (slice_key("web-1"), Fact::Slice(web_1())),
        (server_key("raw"), raw),
    ])
}

/// Pod `b` is not ready, and has a hostname; the external workload is not ready.
fn web_1() -> SliceFact {
    let unready = |endpoint| EndpointFact {
        readiness: Readiness::Unready,
        ..endpoint
    };
    let b = EndpointFact {
        hostname: Some("b".into()),
        ..at_pod(2, "b", None)
    };
    SliceFact {
        service: ServiceId::named("shop", "web"),
        named_by: NamedBy::Label,
        created_s: 7,
        family: AddressFamily::V4,
        ports: vec![SlicePort {
            name: "http".into(),
            port: 8080,
        }],
        endpoints: vec![
            at_pod(1, "a", None),
            unready(b),
            unready(at_external(100, "vm")),
        ],
        mirror: Mirror::default(),
    }
}

fn slice_with(change: impl FnOnce(&mut SliceFact)) -> (FactKey, Option<Fact>) {
    let mut slice = web_1();
    change(&mut slice);
    (slice_key("web-1"), Some(Fact::Slice(slice)))
}

/// Changes that show in no answer while the settings are the default ones.
fn invisible() -> Vec<(&'static str, (FactKey, Option<Fact>))> {
    let mut relabelled = pod("a1", 1);
    relabelled.labels.insert("tier".into(), "front".into());
    let mut renamed = pod("a1", 1);
    renamed.ports = vec![port("web", 8080, Some(80)), port("more", 9000, None)];
    let mut outside = external(100);
    outside.labels = labels("other");
    outside.ports = vec![port("web", 8080, None)];
    let other_words = LabelSelector(vec![Requirement {
        key: "app".into(),
        holds: Holds::Exists,
    }]);
    let raw = |selector| Some(server(selector, ServerPort::Number(8080)));
    let leaves = |slice: &mut SliceFact| {
        for endpoint in &mut slice.endpoints {
            if endpoint.readiness == Readiness::Unready {
                endpoint.readiness = Readiness::Leaving;
            }
        }
    };
    let hints = |slice: &mut SliceFact| {
        for endpoint in &mut slice.endpoints {
            endpoint.hint_nodes = vec![NodeName::from("node-b")];
        }
    };
    let unready_zone = |slice: &mut SliceFact| {
        slice.endpoints[2].zone = Some("zone-b".into());
    };
    vec![
        (
            "labels of a pod",
            (pod_key("a"), Some(Fact::Pod(relabelled))),
        ),
        (
            "names of ports of a pod",
            (pod_key("a"), Some(Fact::Pod(renamed))),
        ),
        (
            "labels and names of ports of an external workload",
            (external_key("vm"), Some(Fact::ExternalWorkload(outside))),
        ),
        ("age of a slice", slice_with(|slice| slice.created_s = 8)),
        ("not ready, and leaves", slice_with(leaves)),
        ("hints for nodes", slice_with(hints)),
        ("zone of one that is not ready", slice_with(unready_zone)),
        (
            "other words for the same choice",
            (server_key("raw"), raw(other_words)),
        ),
        (
            "a second server that says the same",
            (server_key("again"), raw(app("web"))),
        ),
        (
            "a server that chooses nothing",
            (server_key("nobody"), raw(app("nobody"))),
        ),
        (
            "a server of a port that nobody has",
            (
                server_key("none"),
                Some(server(app("web"), ServerPort::Name("none".into()))),
            ),
        ),
        (
            "a server that makes nothing opaque",
            (server_key("http"), Some(Fact::Server(None))),
        ),
    ]
}

#[test]
fn what_no_answer_shows_is_remembered_and_makes_no_revision() {
    for (what, (key, fact)) in invisible() {
        let mut leader = Leader::of(&shop());
        let before = leader.state.position().revision;
        let commands = leader.learn(key.clone(), fact.clone());
        let remember = Command::Remember(key, Arc::new(fact.unwrap()));
        assert_eq!(commands[0], remember, "{what}");
        assert!(
            matches!(commands[1..], [Command::Advance(..)]),
            "{what}: {commands:?}"
        );
        assert_eq!(leader.state.position().revision, before, "{what}");
    }
}

#[test]
fn settings_make_some_of_it_count() {
    let settings = Arc::new(Settings {
        node_hints: true,
        serve_terminating: true,
        ..Settings::default()
    });
    let counts: Vec<&str> = invisible()
        .into_iter()
        .filter_map(|(what, (key, fact))| {
            let mut leader = Leader::of_with(&shop(), settings.clone());
            let before = leader.state.position().revision;
            leader.learn(key, fact);
            (leader.state.position().revision != before).then_some(what)
        })
        .collect();
    assert_eq!(counts, ["not ready, and leaves", "hints for nodes"]);
}

/// A new leader joins anew what its settings decide, and takes it back.
#[test]
fn other_settings_join_everything_anew() {
    let mut changes = invisible().into_iter();
    let (_, (key, leaves)) = changes
        .find(|(what, _)| *what == "not ready, and leaves")
        .unwrap();
    let mut objects = shop();
    objects.extend(leaves.map(|fact| (key, fact)));
    let leader = Leader::of(&objects);
    let shown = leader.shown("web");
    let other = Arc::new(Settings {
        serve_terminating: true,
        ..Settings::default()
    });
    let mut second = Leader::resume_with(leader.state, other.clone());
    second.settle();
    let fresh = Leader::of_with(&objects, other);
    assert_ne!(second.shown("web"), shown);
    assert_eq!(second.shown("web"), fresh.shown("web"));
    let mut third = Leader::resume(second.state);
    third.settle();
    assert_eq!(third.shown("web"), shown);
}
