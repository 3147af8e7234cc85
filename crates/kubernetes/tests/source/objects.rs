//! Writes objects to an API server, as controllers would.

use futures::{StreamExt, stream};
use http::Request;
use kube::Client;
use lockstep_model::{FactKey, FactKind};
use serde_json::{Value, json};

/// How many objects are written at once.
const WRITERS: usize = 16;

/// A writer of objects.
pub(crate) struct Objects {
    client: Client,
}

impl Objects {
    pub(crate) fn new(client: Client) -> Self {
        Self { client }
    }

    /// A namespace with one object of each kind that lives in one.
    pub(crate) async fn create_shop(&self) {
        self.create_namespace().await;
        self.create_custom().await;
        self.create_built_in().await;
    }

    pub(crate) async fn create_namespace(&self) {
        let namespace =
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
        self.send("POST", "/api/v1/namespaces", &namespace).await;
    }

    /// One object of each kind that a cluster may do without.
    pub(crate) async fn create_custom(&self) {
        for kind in FactKind::ALL.into_iter().filter(|kind| kind.is_optional()) {
            self.create(kind, custom(kind)).await;
        }
    }

    async fn create_built_in(&self) {
        self.create(
            FactKind::ReplicaSet,
            workload("apps/v1", "ReplicaSet", "Always"),
        )
        .await;
        self.create(FactKind::Job, workload("batch/v1", "Job", "Never"))
            .await;
        self.create(FactKind::Pod, pod()).await;
        let status = json!({"status": {"phase": "Running", "podIP": "10.1.0.1",
            "podIPs": [{"ip": "10.1.0.1"}], "hostIP": "192.168.0.1"}});
        let path = "/api/v1/namespaces/shop/pods/web-1/status";
        self.send("PATCH", path, &status).await;
        self.create(FactKind::Service, service("web", json!({})))
            .await;
        self.create(FactKind::EndpointSlice, slice()).await;
    }

    /// Nodes `zoned-0`, `zoned-1` and so on.
    pub(crate) async fn create_nodes(&self, count: usize) {
        stream::iter(0..count)
            .for_each_concurrent(WRITERS, |number| {
                let labels = json!({"topology.kubernetes.io/zone": format!("z{}", number % 3)});
                let metadata = json!({"name": format!("zoned-{number}"), "labels": labels});
                let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": metadata});
                async move { self.create(FactKind::Node, node).await }
            })
            .await;
    }

    pub(crate) async fn create(&self, kind: FactKind, object: Value) {
        self.send("POST", &collection(kind), &object).await;
    }

    /// Changes an object by a merge patch.
    pub(crate) async fn patch(&self, key: &FactKey, patch: &Value) {
        self.send("PATCH", &path(key), patch).await;
    }

    /// Deletes an object at once.
    pub(crate) async fn delete(&self, key: &FactKey) {
        let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0});
        self.send("DELETE", &path(key), &options).await;
    }

    async fn send(&self, method: &str, path: &str, body: &Value) {
        let content_type = match method {
            "PATCH" => "application/merge-patch+json",
            _ => "application/json",
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("content-type", content_type)
            .body(body.to_string().into_bytes())
            .unwrap();
        let sent = self.client.request_text(request).await;
        sent.unwrap_or_else(|error| panic!("{method} {path}: {error}"));
    }
}

pub(crate) fn service(name: &str, annotations: Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": name, "namespace": "shop", "annotations": annotations},
        "spec": {"selector": {"app": name}, "ports": [{"name": "http", "port": 80}]},
    })
}

fn pod() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "web-1", "namespace": "shop", "labels": {"app": "web"}},
        "spec": {"containers": [{"name": "app", "image": "app"}]},
    })
}

fn custom(kind: FactKind) -> Value {
    let (name, spec) = match kind {
        FactKind::ServiceProfile => (
            "ServiceProfile",
            json!({"routes": [{"name": "get", "condition": {"method": "GET"}}]}),
        ),
        FactKind::Server => (
            "Server",
            json!({"podSelector": {"matchLabels": {"app": "web"}}, "port": 8080,
                   "proxyProtocol": "opaque"}),
        ),
        FactKind::ExternalWorkload => (
            "ExternalWorkload",
            json!({"workloadIPs": [{"ip": "10.1.0.9"}], "ports": [{"port": 80}],
                   "meshTLS": {"identity": "spiffe://shop/vm", "serverName": "vm.shop"}}),
        ),
        other => panic!("{other} is no custom resource"),
    };
    json!({"apiVersion": group(kind).trim_start_matches("/apis/"), "kind": name,
           "metadata": {"name": "web", "namespace": "shop"}, "spec": spec})
}

fn slice() -> Value {
    json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
        "metadata": {"name": "web-1", "namespace": "shop",
                     "labels": {"kubernetes.io/service-name": "web"}},
        "addressType": "IPv4",
        "ports": [{"name": "http", "port": 8080}],
        "endpoints": [{"addresses": ["10.1.0.1"],
                       "targetRef": {"kind": "Pod", "name": "web-1", "namespace": "shop"}}],
    })
}

fn workload(api_version: &str, kind: &str, restart: &str) -> Value {
    let template = json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "app", "image": "app"}], "restartPolicy": restart},
    });
    let mut spec = json!({"template": template});
    if kind == "ReplicaSet" {
        spec["selector"] = json!({"matchLabels": {"app": "web"}});
    }
    json!({"apiVersion": api_version, "kind": kind, "spec": spec,
           "metadata": {"name": "web", "namespace": "shop"}})
}

fn group(kind: FactKind) -> &'static str {
    match kind {
        FactKind::Node | FactKind::Pod | FactKind::Service => "/api/v1",
        FactKind::ReplicaSet => "/apis/apps/v1",
        FactKind::Job => "/apis/batch/v1",
        FactKind::EndpointSlice => "/apis/discovery.k8s.io/v1",
        FactKind::ServiceProfile => "/apis/linkerd.io/v1alpha2",
        FactKind::Server => "/apis/policy.linkerd.io/v1beta3",
        FactKind::ExternalWorkload => "/apis/workload.linkerd.io/v1beta1",
    }
}

fn collection(kind: FactKind) -> String {
    let namespace = match kind {
        FactKind::Node => "",
        _ => "/namespaces/shop",
    };
    format!("{}{namespace}/{}", group(kind), kind.resource())
}

fn path(key: &FactKey) -> String {
    format!("{}/{}", collection(key.kind), key.name)
}
