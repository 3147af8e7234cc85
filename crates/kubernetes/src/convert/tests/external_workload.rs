//! External workloads.

use lockstep_model::ExternalWorkloadFact;

use super::*;

fn named(rest: Value) -> Value {
    let mut object = rest;
    object["metadata"]["name"] = "vm".into();
    object["metadata"]["namespace"] = "shop".into();
    object
}

fn workload(rest: Value) -> (ExternalWorkloadFact, Vec<String>) {
    let converted = convert(FactKind::ExternalWorkload, &named(rest));
    let skipped = skipped(&converted);
    match converted.fact {
        Fact::ExternalWorkload(fact) => (fact, skipped),
        other => panic!("not an external workload: {other:?}"),
    }
}

fn port(name: &str, port: u16) -> NamedPort {
    NamedPort {
        name: name.into(),
        port,
        host_port: None,
    }
}

fn nothing() -> ExternalWorkloadFact {
    ExternalWorkloadFact {
        owner: None,
        labels: [].into(),
        ips: vec![],
        ports: vec![],
        identity: "".into(),
        server_name: "".into(),
        opaque: None,
    }
}

#[test]
fn a_workload_tells_all_in_both_spellings() {
    for mesh in ["meshTLS", "meshTls"] {
        let (fact, skipped) = workload(json!({
            "metadata": {
                "labels": {"app": "db"},
                "annotations": {"config.linkerd.io/opaque-ports": "db,9000-9001"},
                "ownerReferences": [
                    {"apiVersion": "x/v1", "kind": "Group", "name": "vms", "uid": "1"}],
            },
            "spec": {
                mesh: {"identity": "spiffe://vm", "serverName": "vm.shop"},
                "workloadIPs": [{"ip": "10.1.0.9"}, {"ip": "fd00::9"}],
                "ports": [
                    {"name": "db", "port": 5432, "protocol": "TCP"},
                    {"port": 53, "protocol": "UDP"}],
            },
        }));
        assert_eq!(skipped, [""; 0]);
        assert_eq!(fact.opaque.unwrap().to_string(), "5432,9000-9001");
        let expected = ExternalWorkloadFact {
            owner: Some(OwnerRef {
                kind: "Group".into(),
                name: "vms".into(),
            }),
            labels: [("app".into(), "db".into())].into(),
            ips: vec!["10.1.0.9".parse().unwrap(), "fd00::9".parse().unwrap()],
            ports: vec![port("db", 5432), port("", 53)],
            identity: "spiffe://vm".into(),
            server_name: "vm.shop".into(),
            opaque: None,
        };
        assert_eq!(
            ExternalWorkloadFact {
                opaque: None,
                ..fact
            },
            expected
        );
    }
}

#[test]
fn a_workload_may_say_next_to_nothing() {
    for object in [
        json!({}),
        json!({"spec": null}),
        json!({"spec": {"meshTLS": null, "workloadIPs": null, "ports": null}}),
        json!({"spec": {"meshTLS": {"identity": null}, "workloadIPs": []}}),
    ] {
        assert_eq!(workload(object), (nothing(), vec![]));
    }
}

#[test]
fn bad_parts_of_a_workload_are_skipped_and_named() {
    let (fact, skipped) = workload(json!({"spec": {
        "workloadIPs": [{"ip": "vm.shop"}, {}, {"ip": "10.1.0.9"}],
        "ports": [{"name": "a", "port": 0}, {"port": 70000}, {}, {"name": "b", "port": 80}],
    }}));
    assert_eq!(fact.ips, ["10.1.0.9".parse::<std::net::IpAddr>().unwrap()]);
    assert_eq!(fact.ports, [port("b", 80)]);
    assert_eq!(
        skipped,
        [
            "spec.workloadIPs: `vm.shop` is skipped: it is not an IP address",
            "spec.workloadIPs: `` is skipped: it is not an IP address",
            "spec.ports: 0 is skipped: it is not a port (1 to 65535)",
            "spec.ports: 70000 is skipped: it is not a port (1 to 65535)",
            "spec.ports: 0 is skipped: it is not a port (1 to 65535)",
        ],
    );
}

#[test]
fn a_workload_of_the_wrong_shape_is_known_and_says_nothing() {
    for (object, reason) in [
        (json!({"spec": 5}), "spec: must be an object"),
        (
            json!({"spec": {"meshTLS": "vm"}}),
            "spec.meshTLS: must be an object",
        ),
        (
            json!({"spec": {"workloadIPs": {}}}),
            "spec.workloadIPs: must be a list",
        ),
        (
            json!({"spec": {"workloadIPs": ["10.1.0.9"]}}),
            "spec.workloadIPs[0]: must be an object",
        ),
        (
            json!({"spec": {"ports": [{"port": "80"}]}}),
            "spec.ports[0].port: must be a whole number",
        ),
        (
            json!({"metadata": {"labels": 5}}),
            "object: invalid type: integer `5`, expected a map",
        ),
    ] {
        let unusable = refusal(FactKind::ExternalWorkload, named(object));
        assert_eq!(
            unusable.to_string(),
            format!("externalworkloads shop/vm is invalid: {reason}")
        );
        let key = FactKey::named(FactKind::ExternalWorkload, "shop", "vm");
        assert_eq!((unusable.key(), unusable.label()), (Some(&key), "invalid"));
    }
}
