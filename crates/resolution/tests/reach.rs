//! Which endpoints are within reach: readiness, hints for nodes, contested addresses, and
//! services that are not served.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod mesh;

use lockstep_model::{
    Endpoint, InternalTraffic, PodPhase, PodRecord, PortRules, Readiness, RemoteDiscovery,
    ServiceKind, ServiceRecord, Settings, Target, Workload,
};
use lockstep_resolution::{
    Answer, Client, EndpointSet, Place, Refusal, Selection, Topic, endpoints, servable, target,
    topics_of_get,
};
use lockstep_state::{Command, State};
use mesh::*;
use std::{collections::BTreeSet, net::SocketAddr};

const WEB: &str = "web.shop.svc.cluster.local:80";

fn web_80() -> Target {
    Target {
        service: web(),
        port: 80,
        hostname: None,
    }
}

fn on(node: &str) -> Client {
    Client {
        node: Some(node.into()),
        namespace: None,
    }
}

fn select(state: &State, target: &Target, client: &Client) -> (EndpointSet, Vec<String>) {
    let Selection { answer, contested } =
        endpoints(state, target, &Place::of(state, target, client));
    match answer {
        Answer::Present(set) => (
            EndpointSet::clone(&set),
            contested.iter().map(ToString::to_string).collect(),
        ),
        Answer::Unknown | Answer::Absent => panic!("{answer:?}"),
    }
}

fn addresses(state: &State, target: &Target, client: &Client) -> Vec<SocketAddr> {
    select(state, target, client)
        .0
        .endpoints
        .into_keys()
        .collect()
}

fn lasts(state: &State, client: &Client) -> Vec<u8> {
    let last = |address: SocketAddr| match address {
        SocketAddr::V4(v4) => v4.ip().octets()[3],
        SocketAddr::V6(v6) => v6.ip().octets()[15],
    };
    let found = addresses(state, &web_80(), client);
    found.into_iter().map(last).collect()
}

const NOBODY: [u8; 0] = [];

/// A meshed pod on a node, as one slice says it.
fn placed(last: u8, node: &str, readiness: Readiness) -> Endpoint {
    let pod = Workload {
        node: Some(node.into()),
        ..workload(&format!("web-{last}"))
    };
    Endpoint {
        readiness,
        ..endpoint_of(pod, &format!("10.1.0.{last}"))
    }
}

fn mesh(settings: Settings, policy: InternalTraffic, endpoints: Vec<Endpoint>) -> State {
    let service = ServiceRecord {
        internal_traffic: policy,
        ..service()
    };
    let zones = ["a", "b", "c"]
        .map(|it| Command::PutNode(format!("node-{it}").into(), format!("zone-{it}").into()));
    let mut commands = vec![
        put_service("web", service),
        put_slice("web-1", slice(endpoints)),
    ];
    commands.extend(zones);
    state_with(settings, commands)
}

fn serving() -> Settings {
    Settings {
        serve_terminating: true,
        ..chart()
    }
}

#[test]
fn what_terminates_is_the_last_resort_where_it_shall_be() {
    use Readiness::{Leaving, Ready, Unready};
    for (readiness, expected, in_chart) in [
        ([Ready, Leaving, Unready], &[1][..], &[1][..]),
        ([Leaving, Leaving, Unready], &[1, 2], &[]),
        ([Unready, Unready, Leaving], &[3], &[]),
        ([Unready, Unready, Unready], &[], &[]),
    ] {
        let endpoints = || {
            let [one, two, three] = readiness;
            vec![
                placed(1, "node-a", one),
                placed(2, "node-a", two),
                placed(3, "node-b", three),
            ]
        };
        for (settings, expected) in [(serving(), expected), (chart(), in_chart)] {
            let state = mesh(settings, InternalTraffic::Cluster, endpoints());
            assert_eq!(lasts(&state, &on("node-a")), expected, "{readiness:?}");
        }
    }
}

#[test]
fn a_local_policy_falls_back_on_its_own_node_only() {
    use Readiness::{Leaving, Ready};
    let endpoints = vec![
        placed(1, "node-a", Leaving),
        placed(2, "node-b", Ready),
        placed(3, "node-b", Leaving),
    ];
    let state = mesh(serving(), InternalTraffic::Local, endpoints);
    assert_eq!(lasts(&state, &on("node-a")), [1]);
    assert_eq!(lasts(&state, &on("node-b")), [2]);
    assert_eq!(lasts(&state, &on("node-c")), NOBODY);
    assert_eq!(lasts(&state, &Client::default()), NOBODY);
}

#[test]
fn the_last_resort_is_judged_after_hostname_port_and_hints() {
    use Readiness::{Leaving, Ready};
    let named = |endpoint: Endpoint, hostname: &str, zone: &str| Endpoint {
        hostname: Some(hostname.into()),
        hint_zones: vec![zone.into()],
        ..endpoint
    };
    let endpoints = vec![
        named(placed(1, "node-a", Leaving), "web-0", "zone-a"),
        named(placed(2, "node-b", Leaving), "web-0", "zone-b"),
        named(placed(3, "node-b", Ready), "web-1", "zone-b"),
    ];
    let state = mesh(serving(), InternalTraffic::Cluster, endpoints);
    let web_0 = Target {
        hostname: Some("web-0".into()),
        ..web_80()
    };
    assert_eq!(
        addresses(&state, &web_0, &on("node-a")),
        [at("10.1.0.1:8080")]
    );
    assert_eq!(
        addresses(&state, &web_0, &Client::default()),
        [at("10.1.0.1:8080"), at("10.1.0.2:8080")]
    );
    // One that cannot be told is as good as none.
    let mute = endpoint_of(
        Workload {
            rules: PortRules::default(),
            ..workload("mute")
        },
        "10.1.0.9",
    );
    let endpoints = vec![mute, placed(1, "node-a", Leaving)];
    let state = mesh(serving(), InternalTraffic::Cluster, endpoints);
    assert_eq!(lasts(&state, &Client::default()), [1]);
}

#[test]
fn hints_for_nodes_count_before_those_for_zones_where_they_shall() {
    let hinted = |last: u8, nodes: &[&str], zones: &[&str]| Endpoint {
        hint_nodes: nodes.iter().map(|it| (*it).into()).collect(),
        hint_zones: zones.iter().map(|it| (*it).into()).collect(),
        ..placed(last, "node-a", Readiness::Ready)
    };
    let by_node = Settings {
        node_hints: true,
        ..chart()
    };
    let both = || {
        vec![
            hinted(1, &["node-a"], &["zone-a"]),
            hinted(2, &["node-x"], &["zone-a"]),
            hinted(3, &["node-b", "node-y"], &["zone-b"]),
        ]
    };
    let partial = || {
        vec![
            hinted(1, &["node-a"], &["zone-a"]),
            hinted(2, &[], &["zone-a"]),
            hinted(3, &["node-b"], &["zone-b"]),
        ]
    };
    let only_nodes = || vec![hinted(1, &["node-a"], &[]), hinted(2, &["node-b"], &[])];
    for (case, settings, endpoints, node, expected) in [
        ("meant", by_node.clone(), both(), "node-a", &[1][..]),
        // Of a node no zone is known.
        ("meant", by_node.clone(), both(), "node-x", &[2]),
        ("by zone", by_node.clone(), both(), "node-c", &[1, 2, 3]),
        ("off", chart(), both(), "node-a", &[1, 2]),
        ("partial", by_node.clone(), partial(), "node-a", &[1, 2]),
        ("only nodes", by_node.clone(), only_nodes(), "node-b", &[2]),
        (
            "only nodes",
            by_node.clone(),
            only_nodes(),
            "node-c",
            &[1, 2],
        ),
        ("only nodes, off", chart(), only_nodes(), "node-b", &[1, 2]),
    ] {
        let state = mesh(settings, InternalTraffic::Cluster, endpoints);
        assert_eq!(lasts(&state, &on(node)), expected, "{case} {node}");
    }
    // A policy is stronger than any hint.
    let state = mesh(by_node.clone(), InternalTraffic::Local, both());
    assert_eq!(lasts(&state, &on("node-a")), [1, 2, 3]);
    let unknown = mesh(by_node, InternalTraffic::Cluster, both());
    assert_eq!(lasts(&unknown, &Client::default()), [1, 2, 3]);
    let place = Place::of(&unknown, &web_80(), &on("node-a"));
    assert_eq!(place.node.as_deref(), Some("node-a"));
}

/// The pod that has `10.1.0.1:8080`, and what is contested.
fn owner(state: &State) -> (String, Vec<String>) {
    let (set, contested) = select(state, &web_80(), &Client::default());
    let labels = &set.endpoints[&at("10.1.0.1:8080")].labels;
    let name = labels
        .get("pod")
        .or_else(|| labels.get("external_workload"));
    (name.unwrap().to_string(), contested)
}

#[test]
fn who_lives_at_an_address_has_it() {
    let live = |name: &str| pod(name, "10.1.0.1");
    let leaving = |name: &str| PodRecord {
        terminating: true,
        ..live(name)
    };
    let pending = |name: &str| PodRecord {
        phase: PodPhase::Pending,
        ..live(name)
    };
    let moved = |name: &str| pod(name, "10.1.0.7");
    for (case, pods, expected) in [
        ("nobody is known", vec![], "two"),
        ("both live", vec![live("one"), live("two")], "two"),
        ("one leaves", vec![leaving("one"), live("two")], "two"),
        ("two leaves", vec![live("one"), leaving("two")], "one"),
        ("both leave", vec![leaving("one"), leaving("two")], "two"),
        ("two is not up", vec![live("one"), pending("two")], "one"),
        ("two is elsewhere", vec![live("one"), moved("two")], "one"),
        ("two is gone", vec![live("one")], "one"),
    ] {
        let both = slice(vec![
            endpoint("one", "10.1.0.1"),
            endpoint("two", "10.1.0.1"),
        ]);
        let apart = [("a", "one"), ("b", "two")]
            .map(|(name, pod)| put_slice(name, slice(vec![endpoint(pod, "10.1.0.1")])));
        for slices in [vec![put_slice("web-1", both)], apart.into()] {
            let mut commands = vec![put_service("web", service())];
            commands.extend(slices);
            commands.extend(pods.iter().cloned().map(put_pod));
            let state = state_with(chart(), commands);
            let contested = vec!["10.1.0.1".to_owned()];
            assert_eq!(owner(&state), (expected.to_owned(), contested), "{case}");
        }
    }
}

#[test]
fn an_external_workload_that_has_moved_yields_its_address() {
    let both = slice(vec![
        external_endpoint(external("vm-1"), "10.1.0.1"),
        external_endpoint(external("vm-2"), "10.1.0.1"),
    ]);
    let commands = vec![
        put_service("web", service()),
        put_slice("web-1", both),
        put_external(external("vm-1"), &["10.1.0.1"], &[8080]),
        put_external(external("vm-2"), &["10.1.0.1"], &[8080]),
    ];
    let mut state = state_with(chart(), commands);
    let contested = vec!["10.1.0.1".to_owned()];
    assert_eq!(owner(&state), ("vm-2".to_owned(), contested.clone()));
    let moved = put_external(external("vm-2"), &["10.1.0.7"], &[8080]);
    apply(&mut state, vec![moved]);
    assert_eq!(owner(&state), ("vm-1".to_owned(), contested));
}

#[test]
fn one_object_in_two_places_contests_nothing() {
    let twice = slice(vec![
        endpoint("web-1", "10.1.0.1"),
        endpoint("web-1", "10.1.0.1"),
        address_only("10.1.0.2"),
        address_only("10.1.0.2"),
        external_endpoint(external("vm-1"), "10.1.0.3"),
        external_endpoint(external("vm-1"), "10.1.0.3"),
    ]);
    let commands = vec![
        put_service("web", service()),
        put_slice("web-1", twice.clone()),
        put_slice("web-2", twice),
    ];
    let state = state_with(chart(), commands);
    let (set, contested) = select(&state, &web_80(), &Client::default());
    assert_eq!((set.endpoints.len(), contested), (3, Vec::new()));
}

#[test]
fn the_labels_of_a_slice_that_lost_its_only_address_are_not_shared() {
    let slices = [("a", "one", "east"), ("b", "two", "west")].map(|(name, pod, cluster)| {
        let mut slice = slice(vec![endpoint(pod, "10.1.0.1")]);
        slice.mirror.cluster = Some(cluster.into());
        put_slice(name, slice)
    });
    let mut commands = vec![
        put_service("web", service()),
        put_pod(pod("two", "10.1.0.1")),
    ];
    commands.extend(slices);
    let (set, _) = select(
        &state_with(chart(), commands),
        &web_80(),
        &Client::default(),
    );
    assert_eq!(&*set.labels["target_cluster"], "west");
}

#[test]
fn contested_addresses_are_topics() {
    let contested: BTreeSet<_> = [ip("10.1.0.1"), ip("10.1.0.2")].into();
    let service = Topic::Service(web());
    let node = Topic::Node("node-a".into());
    let [one, two] = ["10.1.0.1", "10.1.0.2"].map(|it| Topic::Address(ip(it)));
    assert_eq!(
        topics_of_get(&web_80(), &on("node-a"), &contested),
        [service.clone(), node, one, two]
    );
    let none = BTreeSet::new();
    assert_eq!(
        topics_of_get(&web_80(), &Client::default(), &none),
        [service]
    );
}

#[test]
fn a_server_makes_a_pods_port_opaque_whatever_its_annotation() {
    let opaque = Workload {
        opaque_by_server: "8080".parse().unwrap(),
        rules: PortRules {
            opaque: Some("".parse().unwrap()),
            listeners: listeners(),
            ..PortRules::default()
        },
        ..workload("web-1")
    };
    let endpoints = vec![endpoint_of(opaque, "10.1.0.1")];
    let state = mesh(plain(), InternalTraffic::Cluster, endpoints);
    let (set, _) = select(&state, &web_80(), &Client::default());
    let expected = hint(
        Some(lockstep_resolution::HintedProtocol::Opaque),
        Some(4143),
    );
    assert_eq!(set.endpoints[&at("10.1.0.1:8080")].hint, expected);
}

#[test]
fn a_service_of_other_clusters_is_refused_by_its_first_mark() {
    let remote = |service: Option<&str>| {
        Some(RemoteDiscovery {
            cluster: "east".into(),
            service: service.map(Into::into),
        })
    };
    let unnamed = || Refusal::RemoteServiceUnnamed { path: WEB.into() };
    let unknown = || Refusal::ClusterNotFound {
        cluster: "east".into(),
    };
    let federated = || Refusal::Federated { service: web() };
    let alias = ServiceKind::ExternalName;
    for (kind, remote, is_federated, expected) in [
        (ServiceKind::Endpoints, None, false, Ok(())),
        (ServiceKind::Endpoints, remote(None), false, Err(unnamed())),
        (
            ServiceKind::Endpoints,
            remote(Some("")),
            false,
            Err(unknown()),
        ),
        (alias, remote(Some("web")), false, Err(unknown())),
        (alias, None, true, Err(federated())),
        (ServiceKind::Endpoints, remote(None), true, Err(federated())),
    ] {
        let record = ServiceRecord {
            kind,
            remote,
            is_federated,
            ..service()
        };
        let state = state_with(chart(), vec![put_service("web", record)]);
        let asked = target(&state, WEB).unwrap();
        assert_eq!(servable(&state, &asked, WEB), expected);
    }
}

#[test]
fn an_empty_name_in_front_of_a_service_asks_for_the_service() {
    let state = state_with(chart(), vec![put_service("web", service())]);
    assert_eq!(target(&state, &format!(".{WEB}")), Ok(web_80()));
}
