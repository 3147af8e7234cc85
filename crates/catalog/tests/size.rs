//! No slice is larger than an entry of the log, and only an odd one is cut.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod cluster;

use cluster::{
    Leader, Objects, at_pod, named, owned_by, pod, pod_key, service_key, slice, slice_key, web,
};
use lockstep_model::{
    ENDPOINT_BYTES_MAX, ENTRY_BYTES_MAX, EndpointFact, Fact, FactKind, Listeners, OwnerRef,
    PodFact, PortRange, PortSet, SLICE_ENDPOINTS_MAX, Text,
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
