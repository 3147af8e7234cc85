//! Endpoint slices.

use lockstep_model::{
    AddressFamily, EndpointFact, ExternalWorkloadId, Mirror, NamedBy, PodId, Readiness, ServiceId,
    SliceFact, SlicePort, TargetRef,
};

use super::*;

fn object(family: &str, labels: Value, rest: Value) -> Value {
    let mut object = rest;
    object["addressType"] = family.into();
    object["metadata"]["name"] = "web-1".into();
    object["metadata"]["namespace"] = "shop".into();
    object["metadata"]["labels"] = labels;
    object
}

fn slice(family: &str, rest: Value) -> (SliceFact, Vec<String>) {
    let labels = json!({"kubernetes.io/service-name": "web"});
    let converted = convert(FactKind::EndpointSlice, &object(family, labels, rest));
    let skipped = skipped(&converted);
    match converted.fact {
        Fact::Slice(fact) => (fact, skipped),
        other => panic!("not a slice: {other:?}"),
    }
}

fn endpoint(endpoint: Value) -> (Option<EndpointFact>, Vec<String>) {
    let (fact, skipped) = slice("IPv4", json!({"endpoints": [endpoint]}));
    (fact.endpoints.into_iter().next(), skipped)
}

fn plain(addresses: &[&str]) -> EndpointFact {
    EndpointFact {
        addresses: addresses.iter().map(|ip| ip.parse().unwrap()).collect(),
        readiness: Readiness::Ready,
        hostname: None,
        zone: None,
        hint_zones: vec![],
        hint_nodes: vec![],
        target: TargetRef::Address,
    }
}

#[test]
fn a_slice_tells_service_ports_and_endpoints() {
    let (fact, skipped) = slice(
        "IPv4",
        json!({
            "metadata": {"creationTimestamp": "2026-12-01T00:00:00Z", "annotations": {
                "mirror.linkerd.io/remote-gateway-identity": "gateway.id",
                "mirror.linkerd.io/remote-svc-fq-name": ""}},
            "ports": [{"name": "web", "port": 8080}, {"port": 81}, {"name": "all"}],
            "endpoints": [{
                "addresses": ["10.1.0.1", "10.1.0.2"],
                "conditions": {"ready": false, "serving": true},
                "hostname": "web-0",
                "nodeName": "n1",
                "zone": "z1",
                "hints": {"forZones": [{"name": "z2"}, {"name": "z1"}],
                          "forNodes": [{"name": "n2"}, {"name": "n1"}]},
                "targetRef": {"kind": "Pod", "name": "web-0", "namespace": "other", "uid": "u"},
            }],
        }),
    );
    assert_eq!(skipped, [""; 0]);
    let expected = SliceFact {
        service: ServiceId::named("shop", "web"),
        named_by: NamedBy::Label,
        created_s: 1_796_083_200,
        family: AddressFamily::V4,
        ports: vec![
            SlicePort {
                name: "web".into(),
                port: 8080,
            },
            SlicePort {
                name: "".into(),
                port: 81,
            },
        ],
        endpoints: vec![EndpointFact {
            readiness: Readiness::Unready,
            hostname: Some("web-0".into()),
            zone: Some("z1".into()),
            hint_zones: vec!["z1".into(), "z2".into()],
            hint_nodes: vec!["n1".into(), "n2".into()],
            target: TargetRef::Pod {
                pod: PodId::named("other", "web-0"),
                uid: Some("u".into()),
            },
            ..plain(&["10.1.0.1", "10.1.0.2"])
        }],
        mirror: Mirror {
            gateway_identity: Some("gateway.id".into()),
            remote_service: Some("".into()),
            cluster: None,
        },
    };
    assert_eq!(fact, expected);
}

#[test]
fn a_slice_may_say_next_to_nothing() {
    for rest in [json!({}), json!({"ports": null, "endpoints": null})] {
        let (fact, skipped) = slice("IPv6", rest);
        assert_eq!(fact.family, AddressFamily::V6);
        assert_eq!((fact.ports, fact.endpoints), (vec![], vec![]));
        assert_eq!(fact.created_s, 0);
        assert_eq!(skipped, [""; 0]);
    }
}

#[test]
fn an_endpoint_may_say_next_to_nothing() {
    for conditions in [json!(null), json!({}), json!({"ready": null})] {
        let object = json!({"addresses": ["10.1.0.1"], "conditions": conditions, "hostname": "",
            "zone": "", "hints": {"forZones": null}, "targetRef": null});
        assert_eq!(endpoint(object), (Some(plain(&["10.1.0.1"])), vec![]));
    }
    assert_eq!(
        endpoint(json!({"addresses": null})),
        (Some(plain(&[])), vec![])
    );
}

#[test]
fn an_empty_reference_is_none() {
    let object = json!({"addresses": [], "targetRef": {}});
    assert_eq!(endpoint(object), (Some(plain(&[])), vec![]));
}

#[test]
fn a_pod_without_a_namespace_is_skipped_and_named() {
    let text = "endpoints: the one that refers to `Pod/web-0` is skipped: it names no namespace";
    for namespace in [json!(null), json!("")] {
        let target = json!({"kind": "Pod", "name": "web-0", "namespace": namespace});
        let object = json!({"addresses": ["10.1.0.1"], "targetRef": target});
        assert_eq!(endpoint(object), (None, vec![text.to_owned()]));
    }
}

#[test]
fn an_external_workload_is_one_of_the_slices_own_namespace() {
    for namespace in [json!(null), json!("shop"), json!("other")] {
        let target = json!({"kind": "ExternalWorkload", "name": "vm", "namespace": namespace});
        let object = json!({"addresses": ["10.1.0.1"], "targetRef": target});
        let expected = EndpointFact {
            target: TargetRef::External(ExternalWorkloadId::named("shop", "vm")),
            ..plain(&["10.1.0.1"])
        };
        assert_eq!(endpoint(object), (Some(expected), vec![]));
    }
}

#[test]
fn only_what_serves_and_terminates_is_leaving() {
    let values = [json!(null), json!(false), json!(true)];
    for ready in &values {
        for serving in &values {
            for terminating in &values {
                let readiness = match (ready, serving, terminating) {
                    (Value::Bool(false), Value::Bool(true), Value::Bool(true)) => {
                        Readiness::Leaving
                    }
                    (Value::Bool(false), ..) => Readiness::Unready,
                    _ => Readiness::Ready,
                };
                let object = json!({"addresses": [], "conditions":
                    {"ready": ready, "serving": serving, "terminating": terminating}});
                let expected = EndpointFact {
                    readiness,
                    ..plain(&[])
                };
                assert_eq!(endpoint(object), (Some(expected), vec![]));
            }
        }
    }
}

#[test]
fn references_to_other_kinds_are_skipped_and_named() {
    for (target, named) in [
        (
            json!({"kind": "ExternalWorkload", "namespace": "shop"}),
            "ExternalWorkload/",
        ),
        (json!({"kind": "Node", "name": "n1"}), "Node/n1"),
        (json!({"kind": "Pod"}), "Pod/"),
    ] {
        let text = format!(
            "endpoints: the one that refers to `{named}` is skipped: \
             it names no Pod and no ExternalWorkload"
        );
        let object = json!({"addresses": ["10.1.0.1"], "targetRef": target});
        assert_eq!(endpoint(object), (None, vec![text]));
    }
}

#[test]
fn bad_parts_of_a_slice_are_skipped_and_named() {
    let (fact, skipped) = slice(
        "IPv6",
        json!({"ports": [{"port": 0}, {"port": 80}],
               "endpoints": [{"addresses": ["10.1.0.1", "fd00::1", "web.shop"]}]}),
    );
    assert_eq!(fact.ports.len(), 1);
    assert_eq!(fact.endpoints, [plain(&["fd00::1"])]);
    assert_eq!(
        skipped,
        [
            "ports: 0 is skipped: it is not a port (1 to 65535)",
            "endpoints.addresses: `10.1.0.1` is skipped: it is not an IPv6 address",
            "endpoints.addresses: `web.shop` is skipped: it is not an IPv6 address",
        ],
    );
    let (fact, skipped) = slice("IPv4", json!({"endpoints": [{"addresses": ["fd00::1"]}]}));
    assert_eq!(fact.endpoints, [plain(&[])]);
    assert_eq!(
        skipped,
        ["endpoints.addresses: `fd00::1` is skipped: it is not an IPv4 address"],
    );
}

#[test]
fn the_service_is_found_by_label_else_by_owner() {
    let owner = |kind: &str| json!({"apiVersion": "v1", "kind": kind, "name": "db", "uid": "1"});
    let owned = json!({"metadata": {"ownerReferences": [owner("Node"), owner("Service")]}});
    for (labels, service, named_by) in [
        (
            json!({"kubernetes.io/service-name": "web"}),
            "web",
            NamedBy::Label,
        ),
        (
            json!({"kubernetes.io/service-name": ""}),
            "db",
            NamedBy::Owner,
        ),
        (json!(null), "db", NamedBy::Owner),
    ] {
        let converted = convert(
            FactKind::EndpointSlice,
            &object("IPv4", labels, owned.clone()),
        );
        let Fact::Slice(fact) = converted.fact else {
            panic!("not a slice");
        };
        assert_eq!(fact.service, ServiceId::named("shop", service));
        assert_eq!(fact.named_by, named_by);
    }
}

#[test]
fn slices_without_a_service_or_without_ips_are_known_but_unusable() {
    let key = FactKey::named(FactKind::EndpointSlice, "shop", "web-1");
    let stray = refusal(
        FactKind::EndpointSlice,
        object("IPv4", json!({}), json!({})),
    );
    assert_eq!(
        stray.to_string(),
        "endpointslices shop/web-1 belongs to no service: it has neither the label \
         `kubernetes.io/service-name` nor an owner reference of kind Service",
    );
    assert_eq!((stray.key(), stray.label()), (Some(&key), "no_service"));
    for family in ["FQDN", "ipv4", ""] {
        let labels = json!({"kubernetes.io/service-name": "web"});
        let other = refusal(FactKind::EndpointSlice, object(family, labels, json!({})));
        assert_eq!(
            other.to_string(),
            format!(
                "endpointslices shop/web-1 has addresses of type `{family}`; \
                 allowed are `IPv4` and `IPv6`"
            ),
        );
        assert_eq!((other.key(), other.label()), (Some(&key), "address_type"));
    }
}

#[test]
fn addresses_beyond_what_an_entry_holds_are_left_out() {
    let endpoint = json!({"addresses": vec!["1::"; 15_000]});
    let rest = json!({"endpoints": [endpoint, endpoint, endpoint]});
    let (fact, skipped) = slice("IPv6", rest);
    let counts: Vec<usize> = fact.endpoints.iter().map(|it| it.addresses.len()).collect();
    assert_eq!(counts, [15_000, 5_000, 0]);
    let expected = "endpoints.addresses: 25000 are skipped: a slice has at most 20000 addresses";
    assert_eq!(skipped, [expected]);
}
