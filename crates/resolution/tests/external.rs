//! External workloads: as endpoints of a service, and by address.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod mesh;

use lockstep_model::{
    Endpoint, ExternalWorkload, InternalTraffic, OwnerRef, PodRecord, PortRules, ServiceRecord,
    Settings, Target, Workload,
};
use lockstep_resolution::{
    Answer, Client, Described, EndpointProfile, EndpointSet, HintedProtocol, Place, Profile,
    ProfileStream, Refusal, SharedAddress, endpoints, profile, question,
};
use lockstep_state::{Command, State};
use mesh::*;

const VM: &str = "10.1.0.1:8080";

fn on_node_a() -> Client {
    Client {
        node: Some("node-a".into()),
        namespace: None,
    }
}

fn found(state: &State, port: u16) -> EndpointSet {
    let target = Target {
        service: web(),
        port,
        hostname: None,
    };
    let place = Place::of(state, &target, &on_node_a());
    match endpoints(state, &target, &place).answer {
        Answer::Present(set) => EndpointSet::clone(&set),
        other @ (Answer::Unknown | Answer::Absent) => panic!("{other:?}"),
    }
}

/// What `Get` says of the only endpoint of `web`.
fn said(settings: Settings, workload: ExternalWorkload, port: u16) -> Described {
    let slice = slice(vec![external_endpoint(workload, "10.1.0.1")]);
    let commands = vec![put_service("web", service()), put_slice("web-1", slice)];
    let set = found(&state_with(settings, commands), port);
    let mut all = set.endpoints.into_values();
    Described::clone(&all.next().unwrap())
}

fn profiled(settings: Settings, workload: ExternalWorkload, port: u16) -> EndpointProfile {
    let put = put_external(workload, &["10.1.0.1"], &[port]);
    let path = format!("10.1.0.1:{port}");
    match ask(&state_with(settings, vec![put]), &path) {
        Ok(Profile::Endpoint(endpoint)) => endpoint,
        other => panic!("{other:?}"),
    }
}

fn ask(state: &State, path: &str) -> Result<Profile, Refusal> {
    profile(state, &question(state, path, &Client::default())?, None)
}

fn of_vm(name: &str, address: &str) -> Profile {
    Profile::Endpoint(EndpointProfile {
        address: at(address),
        pod: None,
        described: outside(name, &[("namespace", "shop"), ("zone", "")]),
        opaque: false,
    })
}

fn bare(address: &str) -> Profile {
    Profile::Endpoint(EndpointProfile {
        address: at(address),
        pod: None,
        described: Described::bare(),
        opaque: false,
    })
}

const UNKNOWN_ZONE: [(&str, &str); 2] = [("zone", ""), ("zone_locality", "unknown")];

#[test]
fn an_external_workload_is_said_with_all_fields() {
    let described = said(chart(), external("vm-1"), 80);
    assert_eq!(described, outside("vm-1", &UNKNOWN_ZONE));
    let profiled = Profile::Endpoint(profiled(chart(), external("vm-1"), 8080));
    assert_eq!(profiled, of_vm("vm-1", VM));
}

#[test]
fn the_zone_is_that_of_its_slice() {
    let local = Endpoint {
        zone: Some("zone-a".into()),
        ..external_endpoint(external("vm-1"), "10.1.0.1")
    };
    let commands = vec![
        Command::PutNode("node-a".into(), "zone-a".into()),
        put_service("web", service()),
        put_slice("web-1", slice(vec![local])),
    ];
    let settings = Settings {
        zone_weights: true,
        ..chart()
    };
    let set = found(&state_with(settings, commands), 80);
    let expected = Described {
        weight: 100_000,
        ..outside("vm-1", &[("zone", "zone-a"), ("zone_locality", "local")])
    };
    assert_eq!(*set.endpoints[&at(VM)], expected);
}

#[test]
fn the_two_methods_spell_its_owner_in_two_ways() {
    let owned = |kind: &str| ExternalWorkload {
        owner: Some(OwnerRef {
            kind: kind.into(),
            name: "vms".into(),
        }),
        ..external("vm-1")
    };
    for (kind, in_get, in_profile) in [
        ("Deployment", "deployment", "Deployment"),
        ("statefulset", "statefulset", "statefulset"),
        ("MachineSet", "machineset", "MachineSet"),
    ] {
        let labels = said(chart(), owned(kind), 80).labels;
        assert_eq!(labels.get(in_get).map(|it| &**it), Some("vms"), "{kind}");
        let labels = profiled(chart(), owned(kind), 8080).described.labels;
        assert_eq!(
            labels.get(in_profile).map(|it| &**it),
            Some("vms"),
            "{kind}"
        );
    }
    // No kind of owner hides what it is.
    for labels in [
        said(chart(), owned("external_workload"), 80).labels,
        profiled(chart(), owned("external_workload"), 8080)
            .described
            .labels,
    ] {
        assert_eq!(&*labels["external_workload"], "vm-1");
    }
}

#[test]
fn it_speaks_h2_unless_it_is_opaque_whatever_pods_do() {
    let opaque_on = |ports: &str| ExternalWorkload {
        opaque: Some(ports.parse().unwrap()),
        ..external("vm-1")
    };
    let by_server = ExternalWorkload {
        opaque_by_server: "8080".parse().unwrap(),
        ..opaque_on("")
    };
    let ported = ExternalWorkload {
        inbound_port: 1111,
        ..external("vm-1")
    };
    let no_upgrade = |settings| Settings {
        h2_upgrade: false,
        ..settings
    };
    let (h2, opaque) = (Some(HintedProtocol::H2), Some(HintedProtocol::Opaque));
    for (case, settings, workload, port, protocol, inbound) in [
        ("chart", chart(), external("vm-1"), 80, h2, Some(4143)),
        ("plain", plain(), external("vm-1"), 80, h2, None),
        (
            "no upgrade",
            no_upgrade(plain()),
            external("vm-1"),
            80,
            h2,
            None,
        ),
        ("own proxy port", chart(), ported, 80, h2, Some(1111)),
        (
            "annotated",
            plain(),
            opaque_on("8080"),
            80,
            opaque,
            Some(4143),
        ),
        ("by a server", plain(), by_server, 80, opaque, Some(4143)),
        (
            "by default",
            plain(),
            external("vm-1"),
            3306,
            opaque,
            Some(4143),
        ),
        ("not by default", plain(), opaque_on(""), 3306, h2, None),
        // It has no ports of its proxy that lead nowhere.
        ("admin", chart(), external("vm-1"), 4191, h2, Some(4143)),
    ] {
        let expected = hint(protocol, inbound);
        let described = said(settings.clone(), workload.clone(), port);
        assert_eq!(described.hint, expected, "{case}");
        let port = if port == 80 { 8080 } else { port };
        let profiled = profiled(settings, workload, port);
        assert_eq!(profiled.described.hint, expected, "{case}");
        assert_eq!(profiled.opaque, protocol == opaque, "{case}");
    }
}

#[test]
fn a_local_policy_drops_it_and_no_family_does() {
    let v6 = slice(vec![external_endpoint(external("vm-1"), "fd00::1")]);
    let v4 = slice(vec![external_endpoint(external("vm-1"), "10.1.0.1")]);
    let commands = |internal_traffic| {
        let service = ServiceRecord {
            internal_traffic,
            ..service()
        };
        vec![
            put_service("web", service),
            put_slice("web-4", v4.clone()),
            put_slice("web-6", v6.clone()),
        ]
    };
    for settings in [chart(), plain()] {
        let all = state_with(settings.clone(), commands(InternalTraffic::Cluster));
        let addresses: Vec<_> = found(&all, 80).endpoints.into_keys().collect();
        assert_eq!(addresses, [at(VM), at("[fd00::1]:8080")]);
        let local = state_with(settings, commands(InternalTraffic::Local));
        assert!(found(&local, 80).is_empty());
    }
}

#[test]
fn it_is_found_by_the_ports_it_declares_after_all_others() {
    let host_port = {
        let mut record = pod("hp", "10.1.0.9");
        record.addresses.host_ips = vec![ip("10.1.0.4")];
        record.addresses.host_ports = vec![8080];
        put_pod(record)
    };
    let commands = vec![
        put_external(external("vm-1"), &["10.1.0.1", "fd00::1"], &[8080]),
        put_external(external("vm-2"), &["10.1.0.2"], &[8080, 9090]),
        put_external(external("vm-3"), &["10.1.0.2"], &[8080]),
        put_external(external("vm-4"), &["10.1.0.3", "10.1.0.4"], &[8080]),
        put_pod(pod("web-1", "10.1.0.3")),
        host_port,
    ];
    let state = state_with(chart(), commands);
    for (path, expected) in [
        (VM, of_vm("vm-1", VM)),
        ("[fd00::1]:8080", of_vm("vm-1", "[fd00::1]:8080")),
        ("10.1.0.1:9999", bare("10.1.0.1:9999")),
        ("10.1.0.2:9090", of_vm("vm-2", "10.1.0.2:9090")),
    ] {
        assert_eq!(ask(&state, path), Ok(expected), "{path}");
    }
    for (path, pod) in [("10.1.0.3:8080", "web-1"), ("10.1.0.4:8080", "hp")] {
        let Ok(Profile::Endpoint(found)) = ask(&state, path) else {
            panic!("no endpoint at {path}");
        };
        assert_eq!(
            found.pod.map(|it| it.name.to_string()),
            Some(pod.to_owned())
        );
    }
    let address = SharedAddress::External(at("10.1.0.2:8080"));
    let shared = Refusal::AmbiguousAddress { count: 2, address };
    assert_eq!(ask(&state, "10.1.0.2:8080"), Err(shared));
}

#[test]
fn a_stream_follows_it_through_its_life() {
    let put = |workload, ports: &[u16]| put_external(workload, &["10.1.0.1"], ports);
    let mut state = state_with(chart(), vec![put(external("vm-1"), &[8080])]);
    let asked = question(&state, VM, &Client::default()).unwrap();
    let (mut stream, first) = ProfileStream::open(&state, asked).unwrap();
    assert_eq!(first, Some(of_vm("vm-1", VM)));
    let mut after = |command| {
        apply(&mut state, vec![command]);
        stream.advance(&state)
    };
    let opaque = || ExternalWorkload {
        opaque_by_server: "8080".parse().unwrap(),
        ..external("vm-1")
    };
    let Some(Profile::Endpoint(told)) = after(put(opaque(), &[8080])) else {
        panic!("nothing told");
    };
    assert!(told.opaque);
    assert_eq!(
        after(put(external("vm-1"), &[8080])),
        Some(of_vm("vm-1", VM))
    );
    // Its port goes while it is opaque, and comes back.
    assert!(after(put(opaque(), &[8080])).is_some());
    assert_eq!(after(put(opaque(), &[7000])), Some(bare(VM)));
    assert!(after(put(opaque(), &[8080])).is_some());
    // It moves away.
    let moved = put_external(opaque(), &["10.1.0.7"], &[8080]);
    assert_eq!(after(moved), Some(bare(VM)));
    assert_eq!(
        after(put(external("vm-2"), &[8080])),
        Some(of_vm("vm-2", VM))
    );
    // One that claims its address leaves the last word in force.
    assert_eq!(after(put(external("vm-1"), &[8080])), None);
    assert_eq!(after(remove_external("vm-2")), Some(of_vm("vm-1", VM)));
    assert_eq!(after(remove_external("vm-1")), Some(bare(VM)));
}

#[test]
fn a_leaving_pod_of_which_nothing_can_be_said_makes_room() {
    let gone_quiet = |terminating| PodRecord {
        terminating,
        ..pod_of(
            Workload {
                rules: PortRules::default(),
                ..workload("web-1")
            },
            &["10.1.0.1"],
        )
    };
    let vm = put_external(external("vm-1"), &["10.1.0.1"], &[8080]);
    let commands = vec![put_pod(pod("web-1", "10.1.0.1")), vm];
    let mut state = state_with(chart(), commands);
    let asked = question(&state, VM, &Client::default()).unwrap();
    let (mut stream, _) = ProfileStream::open(&state, asked).unwrap();
    apply(&mut state, vec![put_pod(gone_quiet(true))]);
    assert_eq!(stream.advance(&state), Some(of_vm("vm-1", VM)));
    // The same to whoever looks again, or for the first time.
    assert_eq!(stream.advance(&state), None);
    assert_eq!(ask(&state, VM), Ok(of_vm("vm-1", VM)));
    apply(&mut state, vec![put_pod(gone_quiet(false))]);
    assert_eq!(stream.advance(&state), Some(bare(VM)));
}
