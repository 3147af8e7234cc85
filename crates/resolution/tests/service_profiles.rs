//! Which ServiceProfile counts, for whom, and when it is looked at again.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod mesh;

use lockstep_model::{
    Condition, RequestMatch, Route, ServiceProfileId, ServiceProfileRecord, ServiceRecord, Settings,
};
use lockstep_resolution::{
    ChosenProfile, Client, Profile, ProfileStream, Question, ServiceProfile, Topic, question,
    topics_of_profile,
};
use lockstep_state::{Command, State};
use mesh::*;
use std::sync::Arc;

const NAME: &str = "web.shop.svc.cluster.local";

fn of(namespace: Option<&str>) -> Client {
    Client {
        node: None,
        namespace: namespace.map(Into::into),
    }
}

fn id(namespace: &str) -> ServiceProfileId {
    ServiceProfileId::named(namespace, NAME)
}

fn record(route: &str) -> Arc<ServiceProfileRecord> {
    let route = Route {
        name: route.into(),
        condition: Condition::Is(RequestMatch::Method("GET".into())),
        response_classes: Vec::new(),
        is_retryable: false,
        timeout_ns: None,
    };
    Arc::new(ServiceProfileRecord {
        routes: vec![route],
        ..ServiceProfileRecord::default()
    })
}

fn put(namespace: &str, route: &str) -> Command {
    Command::PutServiceProfile(id(namespace), record(route))
}

fn remove(namespace: &str) -> Command {
    Command::RemoveServiceProfile(id(namespace))
}

fn told(opaque: bool, chosen: Option<(&str, &str)>) -> Profile {
    Profile::Service(ServiceProfile {
        name: NAME.into(),
        service: web(),
        port: 80,
        opaque,
        chosen: chosen.map(|(namespace, route)| ChosenProfile {
            id: id(namespace),
            record: record(route),
        }),
    })
}

fn ask(state: &State, path: &str, client: &Client) -> Question {
    question(state, path, client).unwrap()
}

#[test]
fn the_clients_own_wins_then_the_services_then_none() {
    let all = [put("cart", "client"), put("shop", "server")];
    let server = || vec![put("shop", "server")];
    for (profiles, namespace, chosen) in [
        (vec![], Some("cart"), None),
        (server(), Some("cart"), Some(("shop", "server"))),
        (server(), None, Some(("shop", "server"))),
        (all.to_vec(), Some("cart"), Some(("cart", "client"))),
        (all.to_vec(), Some("shop"), Some(("shop", "server"))),
        (all.to_vec(), Some("other"), Some(("shop", "server"))),
        (all.to_vec(), None, Some(("shop", "server"))),
        (vec![put("cart", "client")], None, None),
    ] {
        let mut commands = vec![put_service("web", service())];
        commands.extend(profiles);
        let state = state_with(chart(), commands);
        for path in [NAME, "10.96.0.1"] {
            let asked = ask(&state, path, &of(namespace));
            let (_, first) = ProfileStream::open(&state, asked).unwrap();
            assert_eq!(first, Some(told(false, chosen)), "{path} {namespace:?}");
        }
    }
}

#[test]
fn a_stream_follows_both_and_says_nothing_twice() {
    let mut state = state_with(chart(), vec![put_service("web", service())]);
    let asked = ask(&state, NAME, &of(Some("cart")));
    let (mut stream, first) = ProfileStream::open(&state, asked).unwrap();
    assert_eq!(first, Some(told(false, None)));
    for (command, expected) in [
        (put("shop", "one"), Some(told(false, Some(("shop", "one"))))),
        (put("cart", "two"), Some(told(false, Some(("cart", "two"))))),
        (put("shop", "three"), None),
        (put("other", "four"), None),
        (
            put("cart", "five"),
            Some(told(false, Some(("cart", "five")))),
        ),
        (remove("shop"), None),
        (remove("cart"), Some(told(false, None))),
        (put("shop", "six"), Some(told(false, Some(("shop", "six"))))),
    ] {
        apply(&mut state, vec![command.clone()]);
        assert_eq!(stream.advance(&state), expected, "{command:?}");
    }
}

#[test]
fn what_is_said_of_its_traffic_outlives_a_service() {
    let opaque = ServiceRecord {
        opaque_ports: Some("80".parse().unwrap()),
        ..service()
    };
    let commands = vec![put_service("web", opaque), put("shop", "one")];
    let mut state = state_with(chart(), commands);
    let asked = ask(&state, NAME, &of(None));
    let (mut stream, first) = ProfileStream::open(&state, asked).unwrap();
    assert_eq!(first, Some(told(true, Some(("shop", "one")))));
    for (command, expected) in [
        (
            Command::RemoveService(web()),
            Some(told(false, Some(("shop", "one")))),
        ),
        (put("shop", "two"), Some(told(false, Some(("shop", "two"))))),
        (remove("shop"), Some(told(false, None))),
    ] {
        apply(&mut state, vec![command]);
        assert_eq!(stream.advance(&state), expected);
    }
}

#[test]
fn both_candidates_are_topics_before_they_exist() {
    let state = state_with(chart(), vec![put_service("web", service())]);
    let topics =
        |path: &str, namespace| topics_of_profile(&state, &ask(&state, path, &of(namespace)));
    let own = |namespace| Topic::ServiceProfile(id(namespace));
    let by_name = Topic::Service(web());
    let by_ip = Topic::Address(ip("10.96.0.1"));
    for (path, namespace, expected) in [
        (
            NAME,
            Some("cart"),
            vec![by_name.clone(), own("cart"), own("shop")],
        ),
        (NAME, Some("shop"), vec![by_name.clone(), own("shop")]),
        (NAME, None, vec![by_name, own("shop")]),
        (
            "10.96.0.1",
            Some("cart"),
            vec![by_ip.clone(), own("cart"), own("shop")],
        ),
        ("10.96.0.1", None, vec![by_ip, own("shop")]),
        (
            "10.1.0.1",
            Some("cart"),
            vec![Topic::Address(ip("10.1.0.1"))],
        ),
    ] {
        assert_eq!(topics(path, namespace), expected, "{path} {namespace:?}");
    }
}

#[test]
fn its_name_ends_with_the_clusters_domain() {
    let settings = Settings {
        cluster_domain: "example.org".into(),
        ..chart()
    };
    let name = "web.shop.svc.example.org";
    let id = ServiceProfileId::named("shop", name);
    let commands = vec![
        put_service("web", service()),
        put("shop", "another domain"),
        Command::PutServiceProfile(id.clone(), record("one")),
    ];
    let state = state_with(settings, commands);
    let (_, first) = ProfileStream::open(&state, ask(&state, name, &of(None))).unwrap();
    let Some(Profile::Service(first)) = first else {
        panic!("{first:?}");
    };
    let chosen = ChosenProfile {
        id,
        record: record("one"),
    };
    assert_eq!((&*first.name, first.chosen), (name, Some(chosen)));
}

#[test]
fn a_mark_of_other_clusters_changes_no_profile() {
    let federated = ServiceRecord {
        is_federated: true,
        remote: Some(lockstep_model::RemoteDiscovery {
            cluster: "east".into(),
            service: None,
        }),
        ..service()
    };
    let state = state_with(chart(), vec![put_service("web", federated)]);
    let (_, first) = ProfileStream::open(&state, ask(&state, NAME, &of(None))).unwrap();
    assert_eq!(first, Some(told(false, None)));
}
