//! No slice is larger than an entry of the log, and only an odd one is cut.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod cluster;

use cluster::{
    Leader, Objects, app, at_pod, external, external_key, named, owned_by, pod, pod_key,
    server_key, service_key, slice, slice_key, web,
};
use lockstep_model::{
    Condition, DstOverride, ENDPOINT_BYTES_MAX, ENTRY_BYTES_MAX, EndpointFact, Fact, FactKey,
    FactKind, Holds, LabelSelector, Listeners, NamedPort, ObjectLabels, OwnerRef, PodFact,
    PortRange, PortSet, RequestMatch, Requirement, ResponseClass, Route, SLICE_ENDPOINTS_MAX,
    ServerFact, ServerPort, ServiceProfileRecord, StatusRange, Text,
};
use lockstep_state::{Command, codec};

/// How long names are, and how many ports are listed one by one.
#[derive(Copy, Clone)]
struct Lengths {
    name: usize,
    label: usize,
    ports: u16,
}

const ORDINARY: Lengths = Lengths {
    name: 30,
    label: 12,
    ports: 0,
};

const LONGEST: Lengths = Lengths {
    name: 253,
    label: 63,
    ports: 0,
};

fn text(length: usize, number: usize) -> Text {
    format!("{number:0length$}").into()
}

fn odd_ports(count: u16) -> PortSet {
    let ports = (0..count).map(|number| PortRange::single(1001 + 2 * number));
    ports.collect()
}

fn a_pod(lengths: Lengths, number: usize) -> PodFact {
    let Lengths { name, label, ports } = lengths;
    let mut pod = pod("6b5c1d1e-8a8a-4a6e-9c2a-2f8a6a1f0b11", 1);
    pod.owner = Some(OwnerRef {
        kind: "ReplicaSet".into(),
        name: text(name, 0),
    });
    pod.node = Some(text(name, number));
    pod.service_account = text(name, 0);
    pod.control_plane = Some(text(label, 0));
    pod.template_hash = Some(text(label, 0));
    pod.rules.skip_inbound = odd_ports(ports);
    pod.rules.opaque = Some(odd_ports(ports));
    pod.rules.listeners = Listeners {
        inbound: Some(4143),
        admin: Some(4191),
        control: Some(4190),
    };
    pod
}

fn an_endpoint(lengths: Lengths, number: usize) -> EndpointFact {
    let label = |number| text(lengths.label, number);
    EndpointFact {
        addresses: vec!["fd00:ffff:ffff:ffff:ffff:ffff:ffff:ffff".parse().unwrap()],
        hostname: Some(label(number)),
        zone: Some(label(0)),
        hint_zones: (0..8).map(label).collect(),
        ..at_pod(1, &text(lengths.name, number), None)
    }
}

/// The slices that are committed when one has as many endpoints as Kubernetes
/// accepts: how many endpoints each has, and its bytes as a command.
fn committed(lengths: Lengths) -> Vec<(usize, usize)> {
    let numbers = 0..SLICE_ENDPOINTS_MAX;
    let owner = named(FactKind::ReplicaSet, &text(lengths.name, 0));
    let endpoints = numbers.clone().map(|number| an_endpoint(lengths, number));
    let mut objects = Objects::from([
        (owner, owned_by("Deployment", &text(lengths.name, 0))),
        (service_key("web"), web()),
        (slice_key("web-1"), slice("web", endpoints.collect())),
    ]);
    for number in numbers {
        let key = pod_key(&text(lengths.name, number));
        objects.insert(key, Fact::Pod(a_pod(lengths, number)));
    }
    let mut leader = Leader::new();
    leader.list(&objects);
    let commands = leader.settle();
    let slices = commands.iter().filter_map(|command| match command {
        Command::PutSlice(_, slice) => Some((slice.endpoints.len(), codec::size(command))),
        _ => None,
    });
    slices.collect()
}

#[test]
fn the_largest_slice_of_the_longest_names_is_whole() {
    for lengths in [ORDINARY, LONGEST] {
        let [(endpoints, bytes)] = committed(lengths)[..] else {
            panic!("not one slice");
        };
        assert_eq!(endpoints, SLICE_ENDPOINTS_MAX);
        assert!(bytes < SLICE_ENDPOINTS_MAX * ENDPOINT_BYTES_MAX, "{bytes}");
    }
}

#[test]
fn a_slice_that_no_entry_could_hold_loses_endpoints_instead_of_stopping_all() {
    let many_ports = Lengths {
        ports: 2_000,
        ..ORDINARY
    };
    let [(endpoints, bytes)] = committed(many_ports)[..] else {
        panic!("not one slice");
    };
    assert!(
        0 < endpoints && endpoints < SLICE_ENDPOINTS_MAX,
        "{endpoints}"
    );
    assert!(bytes < ENTRY_BYTES_MAX, "{bytes}");
}

/// The most bytes of one object that etcd takes.
const OBJECT_BYTES_MAX: usize = 1536 * 1024;

/// How many of something an object can have that takes this many bytes as JSON.
fn most(written: &str) -> usize {
    OBJECT_BYTES_MAX / written.len()
}

fn many<T: Clone>(written: &str, one: T) -> Vec<T> {
    vec![one; most(written)]
}

/// The largest command that the first sync of one object makes.
fn largest_command(key: FactKey, fact: Fact) -> usize {
    let mut leader = Leader::new();
    leader.list(&Objects::from([(key, fact)]));
    let sizes = leader.settle().iter().map(codec::size).collect::<Vec<_>>();
    sizes.into_iter().max().unwrap()
}

fn assert_fits(what: &str, key: FactKey, fact: Fact) {
    let bytes = largest_command(key, fact);
    // The entry has a head too.
    assert!(bytes + 1024 < ENTRY_BYTES_MAX, "{what}: {bytes}");
}

fn route(condition: Condition<RequestMatch>) -> Route {
    Route {
        name: "".into(),
        condition,
        response_classes: Vec::new(),
        is_retryable: false,
        timeout_ns: None,
    }
}

fn long() -> Text {
    "x".repeat(OBJECT_BYTES_MAX).into()
}

/// The shortest ways to write much of each thing that a ServiceProfile can hold.
fn service_profiles() -> Vec<ServiceProfileRecord> {
    let all = |each| route(Condition::All(each));
    let method = || Condition::Is(RequestMatch::Method("A".into()));
    let class = ResponseClass {
        condition: Condition::Is(StatusRange { min: 599, max: 599 }),
        is_failure: false,
    };
    let timed = Route {
        timeout_ns: Some(i64::MAX),
        ..all(Vec::new())
    };
    let to = DstOverride {
        authority: "".into(),
        weight: u32::MAX,
    };
    let classified = Route {
        response_classes: many(r#"{"condition":{"status":{"min":599,"max":599}}},"#, class),
        ..all(Vec::new())
    };
    let with = |routes| ServiceProfileRecord {
        routes,
        ..ServiceProfileRecord::default()
    };
    vec![
        with(many(r#"{"condition":{"all":[]},"timeout":"9h"},"#, timed)),
        with(vec![all(many(
            r#"{"all":[]},"#,
            Condition::All(Vec::new()),
        ))]),
        with(vec![all(many(r#"{"method":"A"},"#, method()))]),
        with(vec![route(Condition::Is(RequestMatch::PathRegex(long())))]),
        with(vec![classified]),
        ServiceProfileRecord {
            dst_overrides: many(r#"{"authority":"","weight":"4G"},"#, to),
            ..ServiceProfileRecord::default()
        },
    ]
}

#[test]
fn a_service_profile_that_etcd_takes_fits_into_an_entry() {
    for profile in service_profiles() {
        let what = format!("{} routes", profile.routes.len());
        let key = named(FactKind::ServiceProfile, "web.shop");
        assert_fits(&what, key, Fact::ServiceProfile(profile.into()));
    }
}

#[test]
fn a_server_that_etcd_takes_fits_into_an_entry() {
    let label = Requirement {
        key: "a".into(),
        holds: Holds::In(vec!["".into()]),
    };
    let values = Requirement {
        key: "a".into(),
        holds: Holds::NotIn(many(r#""","#, "".into())),
    };
    let long = Requirement {
        key: long(),
        holds: Holds::Exists,
    };
    for requirements in [many(r#""a":"","#, label), vec![values], vec![long]] {
        let what = format!("{} requirements", requirements.len());
        let server = ServerFact {
            pods: Some(LabelSelector(requirements)),
            external_workloads: None,
            port: ServerPort::Number(8080),
        };
        assert_fits(&what, server_key("raw"), Fact::Server(Some(server)));
    }
}

/// Many short labels, as the API server stores them: of a pod not as JSON, which is longer.
fn many_labels() -> ObjectLabels {
    let stored = "\u{3a}\u{a}\n\u{6}123456\u{12}\u{0}";
    (0..most(stored))
        .map(|number| (text(6, number), "".into()))
        .collect()
}

fn many_ports() -> Vec<NamedPort> {
    let stored = "\u{32}\u{d}\n\u{1}a\u{10}123\u{18}123";
    let one = cluster::port("a", u16::MAX, Some(u16::MAX));
    many(stored, one)
}

#[test]
fn a_pod_or_an_external_workload_that_etcd_takes_fits_into_an_entry() {
    let mut labelled = pod("a1", 1);
    labelled.labels = many_labels();
    let mut with_ports = pod("a1", 1);
    with_ports.ports = many_ports();
    for fact in [labelled, with_ports] {
        let what = format!("{} labels", fact.labels.len());
        assert_fits(&what, pod_key("a"), Fact::Pod(fact));
    }
    let mut labelled = external(1);
    labelled.labels = many_labels();
    let mut with_ports = external(1);
    with_ports.ports = many_ports();
    let mut identified = external(1);
    identified.identity = long();
    for fact in [labelled, with_ports, identified] {
        let what = format!("{} labels", fact.labels.len());
        assert_fits(&what, external_key("vm"), Fact::ExternalWorkload(fact));
    }
}

/// A name for many ports, and many Servers: the ports that they make opaque are as many
/// as there are, and an endpoint stays an endpoint.
#[test]
fn all_ports_made_opaque_one_by_one_fit_into_an_entry() {
    let mut objects = Objects::from([
        (service_key("web"), web()),
        (slice_key("web-1"), slice("web", vec![at_pod(1, "a", None)])),
    ]);
    let mut odd = pod("a1", 1);
    odd.ports = (0..=u16::MAX)
        .step_by(2)
        .map(|number| cluster::port("a", number, None))
        .collect();
    objects.insert(pod_key("a"), Fact::Pod(odd));
    let by_name = cluster::server(app("web"), ServerPort::Name("a".into()));
    objects.insert(server_key("all"), by_name);
    let leader = Leader::of(&objects);
    let [(_, readiness, _)] = &leader.shown("web")[..] else {
        panic!("not one endpoint");
    };
    assert_eq!(*readiness, lockstep_model::Readiness::Ready);
    let content = leader.state.content();
    let (id, record) = content.pods().next().unwrap();
    let bytes = codec::size(&Command::PutPod(id.clone(), record.clone()));
    assert!(bytes < ENTRY_BYTES_MAX / 8, "{bytes}");
}
