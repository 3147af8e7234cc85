//! Objects as controllers write them, reduced to what answers depend on.

use serde_json::{Value, json};

use super::{Member, NAMESPACE, PORT, TARGET_PORT, Write};

/// The service `name`.
pub(super) fn service(name: &str) -> Write {
    let ports = json!([{ "name": "http", "port": PORT, "targetPort": TARGET_PORT }]);
    Write::Put(json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": { "name": name, "namespace": NAMESPACE },
        "spec": { "selector": { "app": name }, "ports": ports },
    }))
}

/// A meshed pod that runs.
pub(super) fn pod(member: Member) -> Write {
    let listens = |name: &str, port: u16| {
        let name = format!("LINKERD2_PROXY_{name}_LISTEN_ADDR");
        json!({ "name": name, "value": format!("0.0.0.0:{port}") })
    };
    let proxy = json!({
        "name": "linkerd-proxy",
        "image": "proxy",
        "env": [listens("INBOUND", 4143), listens("ADMIN", 4191), listens("CONTROL", 4190)],
    });
    let ip = member.serial.ip();
    Write::Put(json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": pod_name(member),
            "namespace": NAMESPACE,
            "uid": uid(member),
            "labels": { "linkerd.io/control-plane-ns": "linkerd" },
        },
        "spec": {
            "serviceAccountName": "default",
            "containers": [{ "name": "app", "image": "app" }, proxy],
        },
        "status": { "phase": "Running", "podIP": ip, "podIPs": [{ "ip": ip }] },
    }))
}

/// A slice of a service, whose endpoints are pods or addresses alone.
pub(super) fn slice(name: &str, service: &str, (members, pods): (&[Member], bool)) -> Write {
    let endpoint = |member: &Member| {
        let mut endpoint = json!({
            "addresses": [member.serial.ip()],
            "conditions": { "ready": true, "serving": true, "terminating": false },
        });
        if pods && let Some(fields) = endpoint.as_object_mut() {
            fields.insert("targetRef".to_owned(), target(*member));
        }
        endpoint
    };
    Write::Put(json!({
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "labels": { "kubernetes.io/service-name": service },
        },
        "addressType": "IPv4",
        "ports": [{ "name": "http", "port": TARGET_PORT, "protocol": "TCP" }],
        "endpoints": members.iter().map(endpoint).collect::<Vec<Value>>(),
    }))
}

fn target(member: Member) -> Value {
    json!({
        "kind": "Pod",
        "namespace": NAMESPACE,
        "name": pod_name(member),
        "uid": uid(member),
    })
}

/// Deletes an object.
pub(super) fn delete(kind: &'static str, name: &str) -> Write {
    Write::Delete {
        kind,
        name: name.to_owned(),
    }
}

/// Deletes the pod of an endpoint.
pub(super) fn delete_pod(member: Member) -> Write {
    delete("Pod", &pod_name(member))
}

fn pod_name(member: Member) -> String {
    format!("p-{}", member.uid)
}

fn uid(member: Member) -> String {
    format!("00000000-0000-4000-8000-{:012x}", member.uid)
}
