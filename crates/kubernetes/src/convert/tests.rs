//! Objects as the API server and people write them, odd ones included.

use lockstep_model::{
    Fact, FactKey, FactKind, InternalTraffic, Listeners, NamedPort, OwnerFact, OwnerRef, PodFact,
    PodPhase, RemoteDiscovery, ServiceKind, ServiceRecord,
};
use serde_json::{Value, json};

use super::{Converted, Unusable, from_json, from_value};

mod endpoint_slice;
mod external_workload;
mod mutations;
mod nulls;
mod pod;
mod server;
mod service_profile;

/// Converts both ways, which must agree.
fn convert(kind: FactKind, object: &Value) -> Converted {
    let converted = from_value(kind, object.clone()).unwrap();
    assert_eq!(from_json(kind, &object.to_string()), Ok(converted.clone()));
    converted
}

fn refusal(kind: FactKind, object: Value) -> Unusable {
    from_value(kind, object).unwrap_err()
}

fn skipped(converted: &Converted) -> Vec<String> {
    converted.skipped.iter().map(ToString::to_string).collect()
}

fn service(spec: Value, annotations: Value) -> (ServiceRecord, Vec<String>) {
    let converted = convert(
        FactKind::Service,
        &json!({"metadata": {"name": "web", "namespace": "shop", "annotations": annotations},
                "spec": spec}),
    );
    let skipped = skipped(&converted);
    match converted.fact {
        Fact::Service(record) => (record, skipped),
        other => panic!("not a service: {other:?}"),
    }
}

#[test]
fn a_node_tells_its_zone() {
    let key = FactKey::named(FactKind::Node, "", "n1");
    for (labels, zone) in [
        (json!({"topology.kubernetes.io/zone": "z1"}), Some("z1")),
        (json!({"topology.kubernetes.io/zone": ""}), None),
        (json!({}), None),
        (json!(null), None),
    ] {
        let node = json!({"metadata": {"name": "n1", "labels": labels}, "spec": {"podCIDR": 5}});
        let converted = convert(FactKind::Node, &node);
        assert_eq!(converted.key, key);
        assert_eq!(converted.fact, Fact::Node(zone.map(Into::into)));
    }
}

#[test]
fn only_a_single_owner_owns() {
    let deployment =
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "1"});
    let single = Some(OwnerRef {
        kind: "Deployment".into(),
        name: "web".into(),
    });
    for (owners, owner) in [
        (json!([deployment]), single),
        (json!([deployment, deployment]), None),
        (json!([]), None),
        (json!(null), None),
    ] {
        let object =
            json!({"metadata": {"name": "web-1", "namespace": "shop", "ownerReferences": owners}});
        for kind in [FactKind::ReplicaSet, FactKind::Job] {
            let converted = convert(kind, &object);
            assert_eq!(converted.key, FactKey::named(kind, "shop", "web-1"));
            let owner = owner.clone();
            assert_eq!(converted.fact, Fact::Owner(OwnerFact { owner }));
        }
    }
}

#[test]
fn a_service_tells_ports_in_order_addresses_and_policy() {
    let (record, skipped) = service(
        json!({
            "type": "NodePort",
            "clusterIP": "10.0.0.1",
            "clusterIPs": ["10.0.0.1", "fd00::1"],
            "internalTrafficPolicy": "Local",
            "ports": [{"name": "web", "port": 80, "targetPort": "http"}, {"port": 25}],
        }),
        json!({"config.linkerd.io/opaque-ports": " web , 4000-4001,25,"}),
    );
    assert_eq!(record.kind, ServiceKind::Endpoints);
    assert_eq!(record.internal_traffic, InternalTraffic::Local);
    let ports: Vec<_> = record
        .ports
        .iter()
        .map(|port| (&*port.name, port.port))
        .collect();
    assert_eq!(ports, [("web", 80), ("", 25)]);
    let ips: Vec<String> = record.cluster_ips.iter().map(ToString::to_string).collect();
    assert_eq!(ips, ["10.0.0.1", "fd00::1"]);
    assert_eq!(record.opaque_ports.unwrap().to_string(), "25,80,4000-4001");
    assert_eq!(skipped, [""; 0]);
}

#[test]
fn a_service_may_say_next_to_nothing() {
    for spec in [
        json!(null),
        json!({}),
        json!({"ports": null, "clusterIPs": null}),
    ] {
        let (record, skipped) = service(spec, json!(null));
        assert_eq!(
            record,
            ServiceRecord {
                kind: ServiceKind::Endpoints,
                ports: vec![],
                cluster_ips: vec![],
                internal_traffic: InternalTraffic::Cluster,
                opaque_ports: None,
                remote: None,
                is_federated: false,
            },
        );
        assert_eq!(skipped, [""; 0]);
    }
}

#[test]
fn cluster_ips_fall_back_to_the_single_one_and_none_is_dropped() {
    for (spec, ips) in [
        (json!({"clusterIP": "10.0.0.1"}), vec!["10.0.0.1"]),
        (
            json!({"clusterIP": "10.0.0.1", "clusterIPs": []}),
            vec!["10.0.0.1"],
        ),
        (json!({"clusterIP": "None", "clusterIPs": ["None"]}), vec![]),
        (json!({"clusterIP": ""}), vec![]),
        (json!({"clusterIPs": ["", "fd00::1"]}), vec!["fd00::1"]),
    ] {
        let (record, _) = service(spec, json!({}));
        let found: Vec<String> = record.cluster_ips.iter().map(ToString::to_string).collect();
        assert_eq!(found, ips);
    }
}

#[test]
fn a_service_of_other_clusters_is_told_apart() {
    let of = |labels: Value, annotations: Value| {
        let metadata = json!({"name": "web", "namespace": "shop", "labels": labels,
            "annotations": annotations});
        match convert(FactKind::Service, &json!({"metadata": metadata})).fact {
            Fact::Service(record) => (record.remote, record.is_federated),
            other => panic!("not a service: {other:?}"),
        }
    };
    let remote = |cluster: &str, service: Option<&str>| {
        let (cluster, service) = (cluster.into(), service.map(Into::into));
        Some(RemoteDiscovery { cluster, service })
    };
    let (discovery, service) = (
        "multicluster.linkerd.io/remote-discovery",
        "multicluster.linkerd.io/remote-service",
    );
    for (labels, expected) in [
        (json!(null), None),
        (json!({service: "web"}), None),
        (json!({discovery: "east"}), remote("east", None)),
        (json!({discovery: "", service: ""}), remote("", Some(""))),
        (
            json!({discovery: "east", service: "db"}),
            remote("east", Some("db")),
        ),
    ] {
        assert_eq!(of(labels, json!(null)), (expected, false));
    }
    for name in [discovery, "multicluster.linkerd.io/local-discovery"] {
        for text in ["", "web@east"] {
            assert_eq!(of(json!(null), json!({name: text})), (None, true));
        }
    }
}

#[test]
fn an_external_name_is_told_apart() {
    let (record, _) = service(
        json!({"type": "ExternalName", "externalName": "a.b"}),
        json!({}),
    );
    assert_eq!(record.kind, ServiceKind::ExternalName);
}

#[test]
fn nothing_in_its_status_hides_a_service() {
    let service = |status: Value| {
        let object = json!({
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"ports": [{"port": 80}]},
            "status": status,
        });
        from_json(FactKind::Service, &object.to_string()).unwrap()
    };
    let plain = service(json!({}));
    for status in [
        json!({"conditions": [{"type": "Noted", "status": "True"}]}),
        json!({"conditions": [{"type": "Noted", "lastTransitionTime": null}]}),
        json!({"conditions": [null], "loadBalancer": 7}),
        json!("?"),
    ] {
        assert_eq!(service(status.clone()), plain, "{status}");
    }
}

#[test]
fn bad_parts_of_a_service_are_skipped_and_named() {
    let (record, skipped) = service(
        json!({
            "clusterIPs": ["10.0.0.1", "ten"],
            "ports": [{"port": 0}, {"port": 70000}, {"port": 80}],
        }),
        json!({"config.linkerd.io/opaque-ports": "80,,web,9-8,++1"}),
    );
    assert_eq!(record.ports.len(), 1);
    assert_eq!(record.opaque_ports.unwrap().to_string(), "80");
    let item = |item: &str| {
        format!(
            "annotation `config.linkerd.io/opaque-ports`: item `{item}` is skipped: \
             it is neither a port's name, nor a port, nor a range of ports"
        )
    };
    assert_eq!(
        skipped,
        [
            "spec.ports: 0 is skipped: it is not a port (1 to 65535)".to_owned(),
            "spec.ports: 70000 is skipped: it is not a port (1 to 65535)".to_owned(),
            "spec.clusterIPs: `ten` is skipped: it is not an IP address".to_owned(),
            item(""),
            item("web"),
            item("9-8"),
            item("++1"),
        ],
    );
}

#[test]
fn an_empty_annotation_means_no_opaque_ports() {
    for text in ["", " ", ",", " ,"] {
        let (record, skipped) = service(json!({}), json!({"config.linkerd.io/opaque-ports": text}));
        assert!(record.opaque_ports.unwrap().is_empty());
        assert_eq!(skipped, [""; 0]);
    }
}

#[test]
fn an_object_without_a_name_is_refused() {
    for kind in FactKind::ALL {
        for metadata in [json!(null), json!({}), json!({"name": ""})] {
            let object = json!({"metadata": metadata, "addressType": "IPv4"});
            let unusable = refusal(kind, object);
            assert_eq!(
                unusable.to_string(),
                format!("an object of {kind} has no metadata.name")
            );
            assert_eq!((unusable.key(), unusable.label()), (None, "nameless"));
        }
    }
    let unusable = refusal(FactKind::Pod, json!({"metadata": {"name": "web-1"}}));
    assert_eq!(unusable.to_string(), "pods web-1 has no metadata.namespace");
    assert_eq!((unusable.key(), unusable.label()), (None, "no_namespace"));
}

#[test]
fn an_object_of_the_wrong_shape_is_refused_with_the_decoders_words() {
    let named =
        |spec: Value| json!({"metadata": {"name": "web", "namespace": "shop"}, "spec": spec});
    for (kind, object, expected) in [
        (
            FactKind::Service,
            named(json!({"ports": 5})),
            "services shop/web cannot be decoded: invalid type: integer `5`, expected a sequence",
        ),
        (
            FactKind::Service,
            named(json!({"ports": [{"port": "http"}]})),
            "services shop/web cannot be decoded: invalid type: string \"http\", expected i32",
        ),
        (
            FactKind::Pod,
            json!("web"),
            "pods ? cannot be decoded: invalid type: string \"web\", expected Pod",
        ),
        (
            FactKind::Node,
            json!({"metadata": {"name": 5}}),
            "nodes ? cannot be decoded: invalid type: integer `5`, expected a string",
        ),
        (
            FactKind::EndpointSlice,
            json!({"kind": "Pod", "metadata": {"name": "web", "namespace": "shop"}}),
            "endpointslices shop/web cannot be decoded: invalid value: string \"Pod\", \
             expected EndpointSlice",
        ),
    ] {
        let unusable = refusal(kind, object);
        assert_eq!(unusable.to_string(), expected);
        assert_eq!((unusable.key(), unusable.label()), (None, "undecodable"));
    }
    let unusable = from_json(FactKind::Pod, "{\"metadata\": ").unwrap_err();
    assert_eq!(
        unusable.to_string(),
        "pods ? cannot be decoded: EOF while parsing a value at line 1 column 13",
    );
}
