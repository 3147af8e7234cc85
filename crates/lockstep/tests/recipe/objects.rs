//! Objects as their controllers would write them, reduced to what answers depend on.

use serde_json::{Value, json};
use std::net::Ipv4Addr;

/// The API version and the resource of each kind that the recipes write.
const KINDS: [(&str, &str, &str); 10] = [
    ("Namespace", "v1", "namespaces"),
    ("Node", "v1", "nodes"),
    ("ReplicaSet", "apps/v1", "replicasets"),
    ("Job", "batch/v1", "jobs"),
    ("Pod", "v1", "pods"),
    ("Service", "v1", "services"),
    ("EndpointSlice", "discovery.k8s.io/v1", "endpointslices"),
    ("ServiceProfile", "linkerd.io/v1alpha2", "serviceprofiles"),
    ("Server", "policy.linkerd.io/v1beta3", "servers"),
    (
        "ExternalWorkload",
        "workload.linkerd.io/v1beta1",
        "externalworkloads",
    ),
];

/// The API version and the resource of a kind.
pub fn api_of(kind: &str) -> (&'static str, &'static str) {
    let known = KINDS.iter().find(|(name, ..)| *name == kind);
    let (_, version, resource) = known.unwrap();
    (version, resource)
}

fn object(kind: &str, name: &str, spec: Value) -> Value {
    let (version, _) = api_of(kind);
    json!({ "apiVersion": version, "kind": kind, "metadata": { "name": name }, "spec": spec })
}

pub fn node(name: &str, zone: &str) -> Value {
    let mut node = object("Node", name, json!({}));
    node["metadata"]["labels"] = json!({ "topology.kubernetes.io/zone": zone });
    node
}

pub fn service(name: &str) -> Value {
    let ports = json!([{ "name": "web", "port": 80, "targetPort": 8080 }]);
    object("Service", name, json!({ "ports": ports }))
}

/// A running meshed pod whose label `app` is its name.
pub fn pod(name: &str, ip: Ipv4Addr, account: &str) -> Value {
    let listens = |name: &str, port: u16| json!({ "name": format!("LINKERD2_PROXY_{name}_LISTEN_ADDR"), "value": format!("0.0.0.0:{port}") });
    let proxy = json!({
        "name": "linkerd-proxy",
        "image": "proxy",
        "env": [listens("INBOUND", 4143), listens("ADMIN", 4191), listens("CONTROL", 4190)],
    });
    let app = json!({ "name": "app", "image": "app", "ports": [{ "containerPort": 8080 }] });
    let spec = json!({ "serviceAccountName": account, "containers": [app, proxy] });
    let mut pod = object("Pod", name, spec);
    pod["metadata"]["labels"] = json!({ "app": name, "linkerd.io/control-plane-ns": "linkerd" });
    pod["status"] = json!({ "phase": "Running", "podIP": ip, "podIPs": [{ "ip": ip }] });
    pod
}

/// Gives a pod or a workload an owner.
pub fn owned_by(mut object: Value, kind: &str, name: &str) -> Value {
    let version = if kind.ends_with("Job") {
        "batch/v1"
    } else {
        "apps/v1"
    };
    // The API server wants a uid, any will do.
    let owner = json!({ "apiVersion": version, "kind": kind, "name": name, "uid": "1", "controller": true });
    object["metadata"]["ownerReferences"] = json!([owner]);
    object
}

fn template(restart: &str) -> Value {
    let containers = json!([{ "name": "app", "image": "app" }]);
    json!({
        "metadata": { "labels": { "app": "owned" } },
        "spec": { "containers": containers, "restartPolicy": restart },
    })
}

pub fn replica_set(name: &str) -> Value {
    let selector = json!({ "matchLabels": { "app": "owned" } });
    let spec = json!({ "replicas": 1, "selector": selector, "template": template("Always") });
    object("ReplicaSet", name, spec)
}

pub fn job(name: &str) -> Value {
    object("Job", name, json!({ "template": template("Never") }))
}

/// A policy that makes port 8080 of the pods with this label opaque.
pub fn server(name: &str, app: &str) -> Value {
    let pods = json!({ "matchLabels": { "app": app } });
    let spec = json!({ "podSelector": pods, "port": 8080, "proxyProtocol": "opaque" });
    object("Server", name, spec)
}

/// A profile with one route.
pub fn service_profile(name: &str) -> Value {
    let route = json!({ "name": "all", "condition": { "pathRegex": "/.*" } });
    object("ServiceProfile", name, json!({ "routes": [route] }))
}

pub fn external_workload(name: &str, ip: Ipv4Addr) -> Value {
    let mesh = json!({ "identity": "spiffe://root.example/vm", "serverName": "vm.example" });
    let ports = json!([{ "name": "web", "port": 8080 }]);
    let spec = json!({ "meshTLS": mesh, "ports": ports, "workloadIPs": [{ "ip": ip }] });
    object("ExternalWorkload", name, spec)
}

/// A ready endpoint with nothing behind it.
pub fn endpoint(ip: Ipv4Addr) -> Value {
    let conditions = json!({ "ready": true, "serving": true, "terminating": false });
    json!({ "addresses": [ip], "conditions": conditions })
}

/// An endpoint with a pod or an external workload behind it.
pub fn endpoint_of(kind: &str, (name, uid): (&str, &str), ip: Ipv4Addr) -> Value {
    let mut endpoint = endpoint(ip);
    endpoint["targetRef"] = json!({ "kind": kind, "name": name, "uid": uid });
    endpoint
}

/// An endpoint that is meant for clients of one zone.
pub fn hinted(mut endpoint: Value, zone: &str) -> Value {
    endpoint["zone"] = zone.into();
    endpoint["hints"] = json!({ "forZones": [{ "name": zone }] });
    endpoint
}

/// A slice of a service, with port 8080.
pub fn slice(name: &str, service: &str, endpoints: &[Value]) -> Value {
    let (version, _) = api_of("EndpointSlice");
    json!({
        "apiVersion": version,
        "kind": "EndpointSlice",
        "metadata": { "name": name, "labels": { "kubernetes.io/service-name": service } },
        "addressType": "IPv4",
        "ports": [{ "name": "web", "port": 8080, "protocol": "TCP" }],
        "endpoints": endpoints,
    })
}
