//! Pods.

use super::*;

fn pod(object: Value) -> (PodFact, Vec<String>) {
    let mut object = object;
    object["metadata"]["name"] = "web-1".into();
    object["metadata"]["namespace"] = "shop".into();
    let converted = convert(FactKind::Pod, &object);
    let skipped = skipped(&converted);
    match converted.fact {
        Fact::Pod(fact) => (fact, skipped),
        other => panic!("not a pod: {other:?}"),
    }
}

fn proxy(env: Value) -> Value {
    json!({"name": "linkerd-proxy", "env": env})
}

fn listen_variables() -> Value {
    json!([
        {"name": "LINKERD2_PROXY_INBOUND_LISTEN_ADDR", "value": "0.0.0.0:4143"},
        {"name": "LINKERD2_PROXY_ADMIN_LISTEN_ADDR", "value": "[::]:4191"},
        {"name": "LINKERD2_PROXY_CONTROL_LISTEN_ADDR", "value": "127.0.0.1:4190"},
    ])
}

const NOTHING: [&str; 0] = [];

#[test]
fn a_meshed_pod_tells_all() {
    let (fact, skipped) = pod(json!({
        "metadata": {
            "uid": "u1",
            "labels": {"linkerd.io/control-plane-ns": "linkerd", "pod-template-hash": "abc"},
            "annotations": {
                "config.linkerd.io/opaque-ports": "db, init,9000-9001",
                "config.linkerd.io/skip-inbound-ports": "25, 4000-4002",
            },
            "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-abc", "uid": "2"}],
            "deletionTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {
            "nodeName": "n1",
            "serviceAccountName": "web",
            "hostNetwork": true,
            "initContainers": [
                proxy(listen_variables()),
                {"name": "i", "ports": [{"name": "init", "containerPort": 70, "hostPort": 9070}]}],
            "containers": [
                {"name": "c", "ports": [
                    {"name": "db", "containerPort": 5432, "hostPort": 9070},
                    {"containerPort": 80, "hostPort": 8080},
                    {"containerPort": 81, "hostPort": 0}]}],
        },
        "status": {
            "phase": "Running",
            "podIP": "10.1.0.1", "podIPs": [{"ip": "10.1.0.1"}, {"ip": "fd00::1"}],
            "hostIP": "192.168.0.1", "hostIPs": [{"ip": "192.168.0.1"}],
        },
    }));
    assert_eq!(skipped, NOTHING);
    assert_eq!(&*fact.uid, "u1");
    assert_eq!(
        fact.owner,
        Some(OwnerRef {
            kind: "ReplicaSet".into(),
            name: "web-abc".into(),
        })
    );
    assert_eq!(fact.node.as_deref(), Some("n1"));
    assert_eq!(&*fact.service_account, "web");
    assert_eq!(fact.control_plane.as_deref(), Some("linkerd"));
    assert_eq!(fact.template_hash.as_deref(), Some("abc"));
    assert_eq!(fact.rules.skip_inbound.to_string(), "25,4000-4002");
    assert_eq!(fact.rules.opaque.unwrap().to_string(), "70,5432,9000-9001");
    assert_eq!(
        fact.rules.listeners,
        Listeners {
            inbound: Some(4143),
            admin: Some(4191),
            control: Some(4190),
        },
    );
    assert_eq!(
        fact.addresses.ips,
        [
            "10.1.0.1".parse::<std::net::IpAddr>().unwrap(),
            "fd00::1".parse().unwrap()
        ]
    );
    assert_eq!(
        fact.addresses.host_ips,
        ["192.168.0.1".parse::<std::net::IpAddr>().unwrap()]
    );
    // In the network of the node, 81 is taken there too.
    assert_eq!(fact.addresses.host_ports, [81, 8080, 9070]);
    assert!(fact.addresses.host_network && fact.terminating);
    assert_eq!(fact.phase, PodPhase::Running);
}

#[test]
fn labels_and_ports_with_names_are_what_servers_choose_by() {
    let port = |name: &str, port, host_port| NamedPort {
        name: name.into(),
        port,
        host_port,
    };
    let (fact, skipped) = pod(json!({
        "metadata": {"labels": {"app": "web", "tier": ""}},
        "spec": {
            "initContainers": [{"name": "i", "ports": [
                {"name": "init", "containerPort": 70, "hostPort": 9070}]}],
            "containers": [{"name": "c", "ports": [
                {"name": "db", "containerPort": 5432, "hostPort": 0},
                {"name": "none", "containerPort": 0},
                {"name": "", "containerPort": 80},
                {"containerPort": 81}]}],
        },
    }));
    assert_eq!(skipped, NOTHING);
    let labels = [("app", "web"), ("tier", "")];
    let labels = labels.map(|(key, value)| (key.into(), value.into()));
    assert_eq!(fact.labels, labels.into());
    let ports = [port("init", 70, Some(9070)), port("db", 5432, None)];
    assert_eq!(fact.ports, ports);
}

#[test]
fn a_pod_may_say_next_to_nothing() {
    for object in [
        json!({}),
        json!({"metadata": {"labels": null, "annotations": null, "ownerReferences": null},
               "spec": null, "status": null}),
        json!({"metadata": {"labels": {"linkerd.io/control-plane-ns": "", "pod-template-hash": ""}},
               "spec": {"serviceAccountName": "", "nodeName": "", "containers": null},
               "status": {"podIP": "", "podIPs": null, "hostIP": null}}),
    ] {
        let labels = object["metadata"]["labels"].as_object().cloned();
        let labels = labels.into_iter().flatten();
        let labels = labels.map(|(key, _)| (key.as_str().into(), "".into()));
        let labels = labels.collect();
        let (fact, skipped) = pod(object);
        let empty = PodFact {
            uid: "".into(),
            owner: None,
            node: None,
            service_account: "default".into(),
            control_plane: None,
            template_hash: None,
            rules: Default::default(),
            addresses: Default::default(),
            phase: PodPhase::Pending,
            terminating: false,
            labels,
            ports: vec![],
        };
        assert_eq!((fact, skipped), (empty, vec![]));
    }
}

#[test]
fn a_phase_is_one_of_three() {
    for (phase, expected) in [
        (json!("Succeeded"), PodPhase::Finished),
        (json!("Failed"), PodPhase::Finished),
        (json!("Running"), PodPhase::Running),
        (json!("Pending"), PodPhase::Pending),
        (json!("Unknown"), PodPhase::Pending),
        (json!(""), PodPhase::Pending),
        (json!(null), PodPhase::Pending),
    ] {
        assert_eq!(pod(json!({"status": {"phase": phase}})).0.phase, expected);
    }
}

#[test]
fn addresses_fall_back_to_the_single_ones() {
    let (fact, _) = pod(json!({"status": {"podIP": "10.1.0.1", "hostIP": "fd00::2"}}));
    assert_eq!(
        fact.addresses.ips,
        ["10.1.0.1".parse::<std::net::IpAddr>().unwrap()]
    );
    assert_eq!(
        fact.addresses.host_ips,
        ["fd00::2".parse::<std::net::IpAddr>().unwrap()]
    );
}

#[test]
fn a_listener_is_a_literal_address_or_none() {
    let name = "LINKERD2_PROXY_ADMIN_LISTEN_ADDR";
    let refused =
        format!("container linkerd-proxy: {name} is skipped: it is not a literal `ip:port`");
    for (env, admin, skipped) in [
        (
            json!([{"name": name, "value": "0.0.0.0:4191"}]),
            Some(4191),
            vec![],
        ),
        (json!([{"name": "OTHER", "value": "x"}]), None, vec![]),
        (json!(null), None, vec![]),
        (
            json!([{"name": name, "valueFrom": {"fieldRef": {"fieldPath": "x"}}}]),
            None,
            vec![&refused],
        ),
        (
            json!([{"name": name, "value": "localhost:4191"}]),
            None,
            vec![&refused],
        ),
        (
            json!([{"name": name, "value": "0.0.0.0"}]),
            None,
            vec![&refused],
        ),
        (
            json!([{"name": name, "value": "0.0.0.0:70000"}]),
            None,
            vec![&refused],
        ),
        (json!([{"name": name}]), None, vec![&refused]),
    ] {
        let (fact, found) = pod(json!({"spec": {"containers": [proxy(env)]}}));
        assert_eq!(fact.rules.listeners.admin, admin);
        assert_eq!(found.iter().collect::<Vec<_>>(), skipped);
    }
    let other = json!({"name": "app", "env": [{"name": name, "value": "0.0.0.0:4191"}]});
    let (fact, _) = pod(json!({"spec": {"containers": [other]}}));
    assert_eq!(fact.rules.listeners, Listeners::default());
}

#[test]
fn bad_parts_of_a_pod_are_skipped_and_named() {
    let (fact, skipped) = pod(json!({
        "metadata": {"annotations": {
            "config.linkerd.io/skip-inbound-ports": "web,80",
            "config.linkerd.io/opaque-ports": "web,wob,66000,81",
        }},
        "spec": {"containers": [{"name": "c", "ports": [
            {"name": "web", "containerPort": 80, "hostPort": 70000}]}]},
        "status": {"podIPs": [{"ip": "10.1.0.300"}, {"ip": ""}], "hostIP": "host"},
    }));
    let web = NamedPort {
        name: "web".into(),
        port: 80,
        host_port: None,
    };
    assert_eq!(fact.ports, [web]);
    assert_eq!(fact.rules.skip_inbound.to_string(), "80");
    assert_eq!(fact.rules.opaque.unwrap().to_string(), "80-81");
    assert_eq!(fact.addresses, Default::default());
    assert_eq!(
        skipped,
        [
            "annotation `config.linkerd.io/skip-inbound-ports`: item `web` is skipped: \
             it is neither a port nor a range of ports",
            "annotation `config.linkerd.io/opaque-ports`: item `wob` is skipped: \
             it is neither a port's name, nor a port, nor a range of ports",
            "annotation `config.linkerd.io/opaque-ports`: item `66000` is skipped: \
             it is neither a port's name, nor a port, nor a range of ports",
            "status.podIPs: `10.1.0.300` is skipped: it is not an IP address",
            "status.hostIPs: `host` is skipped: it is not an IP address",
            "hostPort: 70000 is skipped: it is not a port (1 to 65535)",
        ],
    );
}
