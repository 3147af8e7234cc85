//! Writes objects as the recorder did: create, or replace what exists; then
//! the status; merge patches; deletions with a grace period.

use http::{Method, Request};
use kube::{Client, Error};
use lockstep_contract::corpus::CorpusEdit;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::{Instant, sleep};

use crate::harness::PATIENCE;

/// The version of each kind that a patch or a deletion names.
const VERSIONS: [(&str, &str); 14] = [
    ("Namespace", "v1"),
    ("Node", "v1"),
    ("Pod", "v1"),
    ("Service", "v1"),
    ("EndpointSlice", "discovery.k8s.io/v1"),
    ("ReplicaSet", "apps/v1"),
    ("Deployment", "apps/v1"),
    ("StatefulSet", "apps/v1"),
    ("DaemonSet", "apps/v1"),
    ("Job", "batch/v1"),
    ("CronJob", "batch/v1"),
    ("ServiceProfile", "linkerd.io/v1alpha2"),
    ("Server", "policy.linkerd.io/v1beta3"),
    ("ExternalWorkload", "workload.linkerd.io/v1beta1"),
];

/// A server that starts to serve a custom resource says so with one of these.
const NOT_YET: [u16; 2] = [429, 503];

/// Owners are looked up by name, so their uid may be anything.
const OWNER_UID: &str = "00000000-0000-4000-8000-000000000000";

pub struct Writer {
    client: Client,
}

impl Writer {
    pub fn new(client: Client) -> Self {
        Self { client }
    }

    pub async fn create_all(&self, objects: &[Value]) {
        for object in objects {
            self.apply(object).await;
        }
    }

    pub async fn edit(&self, edit: &CorpusEdit) {
        match edit {
            CorpusEdit::Apply { object } => self.apply(object).await,
            CorpusEdit::Patch {
                kind,
                namespace,
                name,
                merge,
                subresource,
            } => {
                let path = format!("{}/{name}", of_kind(kind, namespace));
                let path = match subresource {
                    Some(subresource) => format!("{path}/{subresource}"),
                    None => path,
                };
                self.must(Method::PATCH, &path, merge).await;
            }
            CorpusEdit::Delete {
                kind,
                namespace,
                name,
                grace_period_seconds,
            } => {
                let path = format!("{}/{name}", of_kind(kind, namespace));
                let options = json!({"gracePeriodSeconds": grace_period_seconds});
                self.must(Method::DELETE, &path, &options).await;
            }
        }
    }

    async fn apply(&self, object: &Value) {
        let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
        let (version, kind) = (text("/apiVersion").unwrap(), text("/kind").unwrap());
        let all = collection(version, kind, text("/metadata/namespace").unwrap_or(""));
        let path = format!("{all}/{}", text("/metadata/name").unwrap());
        let mut body = object.clone();
        let status = body.as_object_mut().unwrap().remove("status");
        if let Some(Value::Array(owners)) = body.pointer_mut("/metadata/ownerReferences") {
            owners
                .iter_mut()
                .for_each(|it| it["uid"] = OWNER_UID.into());
        }
        let mut stored = match self.patiently(Method::POST, &all, &body).await {
            Err(Error::Api(refusal)) if refusal.code == 409 => {
                let held = self.must(Method::GET, &path, &Value::Null).await;
                body["metadata"]["resourceVersion"] = held["metadata"]["resourceVersion"].clone();
                self.must(Method::PUT, &path, &body).await
            }
            made => made.unwrap_or_else(|error| panic!("{path}: {error}")),
        };
        if let Some(status) = status {
            stored["status"] = status;
            self.must(Method::PUT, &format!("{path}/status"), &stored)
                .await;
        }
    }

    async fn must(&self, method: Method, path: &str, body: &Value) -> Value {
        let answer = self.patiently(method.clone(), path, body).await;
        answer.unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    async fn patiently(&self, method: Method, path: &str, body: &Value) -> Result<Value, Error> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.send(method.clone(), path, body).await {
                Err(Error::Api(refusal))
                    if NOT_YET.contains(&refusal.code) && Instant::now() < deadline =>
                {
                    sleep(Duration::from_millis(50)).await;
                }
                answer => return answer,
            }
        }
    }

    async fn send(&self, method: Method, path: &str, body: &Value) -> Result<Value, Error> {
        let media = match method {
            Method::PATCH => "application/merge-patch+json",
            _ => "application/json",
        };
        let body = match method {
            Method::GET => Vec::new(),
            _ => serde_json::to_vec(body).unwrap(),
        };
        let request = Request::builder().method(method).uri(path);
        let request = request.header("content-type", media).body(body).unwrap();
        self.client.request(request).await
    }
}

fn of_kind(kind: &str, namespace: &str) -> String {
    let found = VERSIONS.iter().find(|(name, _)| *name == kind);
    let (_, version) = found.unwrap_or_else(|| panic!("{kind} is of no known version"));
    collection(version, kind, namespace)
}

/// The path of all objects of a kind; every kind here has a regular plural.
fn collection(version: &str, kind: &str, namespace: &str) -> String {
    let root = if version.contains('/') { "apis" } else { "api" };
    let plural = format!("{}s", kind.to_lowercase());
    if namespace.is_empty() {
        format!("/{root}/{version}/{plural}")
    } else {
        format!("/{root}/{version}/namespaces/{namespace}/{plural}")
    }
}
