//! What of a slice can show.

use super::*;
use lockstep_model::{
    AddressFamily, Fact, FactKey, FactKind, InternalTraffic, Mirror, PodAddresses, PortRules,
    ServiceId, ServiceKind, ServiceRecord, SlicePort,
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
        ready: true,
        hostname: None,
        zone: Some("zone-a".into()),
        hint_zones: vec!["zone-a".into()],
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
    };
    let key = FactKey::named(FactKind::Service, "shop", "web");
    facts.set(&key, Some(Arc::new(Fact::Service(service))));
}

fn with_slice(facts: &mut Facts, endpoints: Vec<EndpointFact>) {
    let slice = SliceFact {
        service: ServiceId::named("shop", "web"),
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
    record(&SliceId::named("shop", "web-1"), &facts)
}

fn shown(endpoints: Vec<EndpointFact>) -> Vec<(IpAddr, bool)> {
    let record = joined_from(endpoints);
    let endpoints = record.map(|record| record.endpoints).unwrap_or_default();
    endpoints.iter().map(|e| (e.ip, e.ready)).collect()
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
    };
    let at_pod = Endpoint {
        ip: ip(2),
        hostname: None,
        ready: true,
        zone: Some("zone-a".into()),
        hint_zones: vec!["zone-a".into()],
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
    assert_eq!(shown(endpoints), [(ip(3), true)]);
}

#[test]
fn an_endpoint_that_is_not_ready_is_kept_for_the_name_of_its_pod_only() {
    let pending = |last, hostname: Option<&str>, target| EndpointFact {
        ready: false,
        hostname: hostname.map(Into::into),
        ..endpoint(last, target)
    };
    let endpoints = vec![
        pending(1, None, to_pod("a", None)),
        pending(2, Some("a"), to_pod("a", None)),
        pending(3, Some("a"), TargetRef::Address),
        pending(4, Some("done"), to_pod("done", None)),
    ];
    assert_eq!(shown(endpoints), [(ip(2), false)]);
}

#[test]
fn a_finished_pod_counts_while_its_slice_calls_it_ready() {
    let endpoints = vec![endpoint(1, to_pod("done", None))];
    assert_eq!(shown(endpoints), [(ip(1), true)]);
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
    assert_eq!(
        shown(endpoints),
        [(ip(2), true), (ip(11), true), (ip(12), true)]
    );
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
    assert_eq!(
        shown(endpoints),
        [(ip(2), true), (ip(1), true), (ip(2), true)]
    );
}

#[test]
fn a_slice_without_endpoints_or_without_its_service_has_no_record() {
    assert_eq!(joined_from(Vec::new()), None);
    let id = SliceId::named("shop", "web-1");
    let mut facts = Facts::default();
    with_slice(&mut facts, vec![endpoint(1, TargetRef::Address)]);
    assert_eq!(record(&id, &facts), None);
    for kind in [ServiceKind::ExternalName, ServiceKind::Endpoints] {
        with_service(&mut facts, kind);
        assert!(record(&id, &facts).is_some(), "{kind:?}");
    }
}
