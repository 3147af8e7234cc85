//! What of a slice can show.

use super::*;
use crate::{facts::Facts, references::References};
use lockstep_model::{
    AddressFamily, Fact, FactKey, FactKind, InternalTraffic, Mirror, NamedBy, ObjectLabels,
    PodAddresses, PortRules, PortSet, ServiceId, ServiceKind, ServiceRecord, SlicePort, Workload,
};
use std::net::Ipv4Addr;

fn ip(last: u8) -> IpAddr {
    Ipv4Addr::new(10, 0, 0, last).into()
}

fn to_pod(name: &str, uid: Option<&str>) -> TargetRef {
    TargetRef::Pod {
        pod: PodId::named("shop", name),
        uid: uid.map(Into::into),
    }
}

/// A ready endpoint at `10.0.0.last`.
fn endpoint(last: u8, target: TargetRef) -> EndpointFact {
    EndpointFact {
        addresses: vec![ip(last)],
        readiness: Readiness::Ready,
        hostname: None,
        zone: Some("zone-a".into()),
        hint_zones: vec!["zone-a".into()],
        hint_nodes: vec!["node-a".into()],
        target,
    }
}

fn with_pod(facts: &mut Facts, name: &str, phase: PodPhase) {
    let pod = PodFact {
        uid: format!("uid-{name}").into(),
        owner: None,
        node: Some("node-a".into()),
        service_account: "default".into(),
        control_plane: None,
        template_hash: None,
        rules: PortRules::default(),
        addresses: PodAddresses::default(),
        phase,
        terminating: false,
        labels: ObjectLabels::new(),
        ports: Vec::new(),
    };
    let key = FactKey::named(FactKind::Pod, "shop", name);
    facts.set(&key, Some(Arc::new(Fact::Pod(pod))));
}

fn with_service(facts: &mut Facts, kind: ServiceKind) {
    let service = ServiceRecord {
        kind,
        ports: Vec::new(),
        cluster_ips: Vec::new(),
        internal_traffic: InternalTraffic::Cluster,
        opaque_ports: None,
        remote: None,
        is_federated: false,
    };
    let key = FactKey::named(FactKind::Service, "shop", "web");
    facts.set(&key, Some(Arc::new(Fact::Service(service))));
}

fn with_slice(facts: &mut Facts, endpoints: Vec<EndpointFact>) {
    let slice = SliceFact {
        service: ServiceId::named("shop", "web"),
        named_by: NamedBy::Owner,
        created_s: 7,
        family: AddressFamily::V4,
        ports: vec![SlicePort {
            name: "http".into(),
            port: 8080,
        }],
        endpoints,
        mirror: Mirror {
            gateway_identity: Some("gateway".into()),
            ..Mirror::default()
        },
    };
    let key = FactKey::named(FactKind::EndpointSlice, "shop", "web-1");
    facts.set(&key, Some(Arc::new(Fact::Slice(slice))));
}

/// A slice of a service with a running pod `a` and a finished pod `done`.
fn joined_from(endpoints: Vec<EndpointFact>) -> Option<SliceRecord> {
    let mut facts = Facts::default();
    with_service(&mut facts, ServiceKind::Endpoints);
    with_pod(&mut facts, "a", PodPhase::Running);
    with_pod(&mut facts, "done", PodPhase::Finished);
    with_slice(&mut facts, endpoints);
    joined(&facts, &Settings::default())
}

fn joined(facts: &Facts, settings: &Settings) -> Option<SliceRecord> {
    let known = Known {
        facts,
        references: &References::of(facts),
        settings,
    };
    record(&SliceId::named("shop", "web-1"), known)
}

fn shown(endpoints: Vec<EndpointFact>) -> Vec<(IpAddr, Readiness)> {
    let record = joined_from(endpoints);
    let endpoints = record.map(|record| record.endpoints).unwrap_or_default();
    endpoints.iter().map(|e| (e.ip, e.readiness)).collect()
}

fn ready(last: u8) -> (IpAddr, Readiness) {
    (ip(last), Readiness::Ready)
}

#[test]
fn a_slice_says_what_its_object_says_and_who_its_pods_are() {
    let record = joined_from(vec![
        endpoint(2, to_pod("a", Some("uid-a"))),
        endpoint(1, TargetRef::Address),
    ]);
    let workload = Workload {
        pod: PodId::named("shop", "a"),
        owner: lockstep_model::Owner {
            label: "pod".into(),
            name: "a".into(),
        },
        node: Some("node-a".into()),
        service_account: "default".into(),
        control_plane: None,
        template_hash: None,
        rules: PortRules::default(),
        opaque_by_server: PortSet::default(),
    };
    let at_pod = Endpoint {
        ip: ip(2),
        hostname: None,
        readiness: Readiness::Ready,
        zone: Some("zone-a".into()),
        hint_zones: vec!["zone-a".into()],
        hint_nodes: Vec::new(),
        target: EndpointTarget::Pod(Arc::new(workload)),
    };
    // Only an endpoint with a pod has a zone; hints are kept for all.
    let at_address = Endpoint {
        ip: ip(1),
        zone: None,
        target: EndpointTarget::Address,
        ..at_pod.clone()
    };
    let expected = SliceRecord {
        service: ServiceId::named("shop", "web"),
        named_by: NamedBy::Owner,
        family: AddressFamily::V4,
        ports: vec![SlicePort {
            name: "http".into(),
            port: 8080,
        }],
        endpoints: vec![at_pod, at_address],
        mirror: Mirror {
            gateway_identity: Some("gateway".into()),
            ..Mirror::default()
        },
    };
    assert_eq!(record, Some(expected));
}

#[test]
fn an_endpoint_of_an_unknown_or_another_pod_is_left_out() {
    let endpoints = vec![
        endpoint(1, to_pod("b", None)),
        endpoint(2, to_pod("a", Some("uid-of-the-pod-before"))),
        endpoint(3, to_pod("a", None)),
    ];
    assert_eq!(shown(endpoints), [ready(3)]);
}

#[test]
fn an_endpoint_that_is_not_ready_is_kept_for_the_name_of_its_pod_only() {
    let pending = |last, hostname: Option<&str>, target| EndpointFact {
        readiness: Readiness::Unready,
        hostname: hostname.map(Into::into),
        ..endpoint(last, target)
    };
    let endpoints = vec![
        pending(1, None, to_pod("a", None)),
        pending(2, Some("a"), to_pod("a", None)),
        pending(3, Some("a"), TargetRef::Address),
        pending(4, Some("done"), to_pod("done", None)),
    ];
    assert_eq!(shown(endpoints), [(ip(2), Readiness::Unready)]);
}

/// An endpoint of each kind that leaves, of a running pod, a finished one and an address,
/// each with a hostname and without.
fn leaving() -> Vec<EndpointFact> {
    let targets = [to_pod("a", None), to_pod("done", None), TargetRef::Address];
    let endpoint = |(last, (target, hostname)): (u8, (TargetRef, Option<Text>))| EndpointFact {
        readiness: Readiness::Leaving,
        hostname,
        ..endpoint(last, target)
    };
    let named = |target: TargetRef| [(target.clone(), None), (target, Some("a".into()))];
    (1..)
        .zip(targets.into_iter().flat_map(named))
        .map(endpoint)
        .collect()
}

#[test]
fn an_endpoint_that_leaves_is_one_that_is_not_ready_unless_it_is_the_last_resort() {
    let shown_if = |serve_terminating| -> Vec<(IpAddr, Readiness)> {
        let mut facts = Facts::default();
        with_service(&mut facts, ServiceKind::Endpoints);
        with_pod(&mut facts, "a", PodPhase::Running);
        with_pod(&mut facts, "done", PodPhase::Finished);
        with_slice(&mut facts, leaving());
        let settings = Settings {
            serve_terminating,
            ..Settings::default()
        };
        let record = joined(&facts, &settings).unwrap();
        record
            .endpoints
            .iter()
            .map(|e| (e.ip, e.readiness))
            .collect()
    };
    assert_eq!(shown_if(false), [(ip(2), Readiness::Unready)]);
    let leaving = |last| (ip(last), Readiness::Leaving);
    // The finished pod never: its address may be another's by now.
    assert_eq!(shown_if(true), [1, 2, 5, 6].map(leaving));
}

#[test]
fn hints_for_nodes_count_if_the_settings_say_so() {
    let mut facts = Facts::default();
    with_service(&mut facts, ServiceKind::Endpoints);
    with_slice(&mut facts, vec![endpoint(1, TargetRef::Address)]);
    for (node_hints, expected) in [(false, vec![]), (true, vec!["node-a".into()])] {
        let settings = Settings {
            node_hints,
            ..Settings::default()
        };
        let [endpoint] = &joined(&facts, &settings).unwrap().endpoints[..] else {
            panic!("not one endpoint");
        };
        assert_eq!(endpoint.hint_nodes, expected);
    }
}

#[test]
fn a_finished_pod_counts_while_its_slice_calls_it_ready() {
    let endpoints = vec![endpoint(1, to_pod("done", None))];
    assert_eq!(shown(endpoints), [ready(1)]);
}

#[test]
fn of_several_addresses_a_pod_has_the_last_and_anything_else_has_all() {
    let several = |lasts: [u8; 2], target| EndpointFact {
        addresses: lasts.map(ip).to_vec(),
        ..endpoint(0, target)
    };
    let endpoints = vec![
        several([1, 2], to_pod("a", None)),
        several([11, 12], TargetRef::Address),
    ];
    assert_eq!(shown(endpoints), [ready(2), ready(11), ready(12)]);
    let none = EndpointFact {
        addresses: Vec::new(),
        ..endpoint(0, to_pod("a", None))
    };
    assert_eq!(joined_from(vec![none]), None);
}

#[test]
fn equal_endpoints_are_one_and_the_order_is_kept() {
    let named = EndpointFact {
        hostname: Some("a".into()),
        ..endpoint(2, TargetRef::Address)
    };
    let endpoints = vec![
        endpoint(2, TargetRef::Address),
        endpoint(1, TargetRef::Address),
        endpoint(2, TargetRef::Address),
        named,
    ];
    assert_eq!(shown(endpoints), [ready(2), ready(1), ready(2)]);
}

#[test]
fn a_slice_without_endpoints_or_without_its_service_has_no_record() {
    assert_eq!(joined_from(Vec::new()), None);
    let settings = Settings::default();
    let mut facts = Facts::default();
    with_slice(&mut facts, vec![endpoint(1, TargetRef::Address)]);
    assert_eq!(joined(&facts, &settings), None);
    for kind in [ServiceKind::ExternalName, ServiceKind::Endpoints] {
        with_service(&mut facts, kind);
        assert!(joined(&facts, &settings).is_some(), "{kind:?}");
    }
}
