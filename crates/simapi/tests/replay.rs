//! Objects and edits as a replayer of recorded scenarios sends them: create or
//! replace, then the status; merge patches; deletions with a grace period.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use http::{Method, Request};
use kube::{Client, Error};
use lockstep_simapi::{Options, SimApi};
use serde_json::{Value, json};

const OBJECTS: &str = include_str!("replay/objects.json");
const EDITS: &str = include_str!("replay/edits.json");

/// `apiVersion` and plural name of the kinds that edits name.
const KINDS: [(&str, &str, &str); 10] = [
    ("Namespace", "v1", "namespaces"),
    ("Node", "v1", "nodes"),
    ("Pod", "v1", "pods"),
    ("Service", "v1", "services"),
    ("EndpointSlice", "discovery.k8s.io/v1", "endpointslices"),
    ("ReplicaSet", "apps/v1", "replicasets"),
    ("Job", "batch/v1", "jobs"),
    ("ServiceProfile", "linkerd.io/v1alpha2", "serviceprofiles"),
    ("Server", "policy.linkerd.io/v1beta3", "servers"),
    (
        "ExternalWorkload",
        "workload.linkerd.io/v1beta1",
        "externalworkloads",
    ),
];

/// The path of the objects of a kind, in a namespace if one is named.
fn collection(kind: &str, namespace: Option<&str>) -> String {
    let found = KINDS.iter().find(|(name, ..)| *name == kind);
    let (_, version, plural) = found.unwrap_or_else(|| panic!("{kind}"));
    let root = if *version == "v1" { "/api" } else { "/apis" };
    match namespace {
        Some(namespace) => format!("{root}/{version}/namespaces/{namespace}/{plural}"),
        None => format!("{root}/{version}/{plural}"),
    }
}

async fn send(client: &Client, method: Method, path: &str, body: &Value) -> Result<Value, Error> {
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
    client.request(request).await
}

/// Creates or replaces, then writes the status; answers the stored object.
async fn apply(client: &Client, object: &Value) -> Value {
    let kind = object["kind"].as_str().unwrap();
    let collection = collection(kind, object["metadata"]["namespace"].as_str());
    let path = format!(
        "{collection}/{}",
        object["metadata"]["name"].as_str().unwrap()
    );
    let mut body = object.clone();
    let status = body.as_object_mut().unwrap().remove("status");
    let stored = match send(client, Method::POST, &collection, &body).await {
        Err(Error::Api(refusal)) if refusal.code == 409 => {
            let held = send(client, Method::GET, &path, &Value::Null)
                .await
                .unwrap();
            body["metadata"]["resourceVersion"] = held["metadata"]["resourceVersion"].clone();
            send(client, Method::PUT, &path, &body).await
        }
        made => made,
    };
    let mut stored = stored.unwrap_or_else(|error| panic!("{path}: {error}"));
    if let Some(status) = status {
        stored["status"] = status;
        let path = format!("{path}/status");
        stored = send(client, Method::PUT, &path, &stored).await.unwrap();
    }
    stored
}

async fn edit(client: &Client, edit: &Value) {
    let path = || {
        let kind = edit["kind"].as_str().unwrap();
        let name = edit["name"].as_str().unwrap();
        format!("{}/{name}", collection(kind, edit["namespace"].as_str()))
    };
    match edit["op"].as_str().unwrap() {
        "apply" => {
            apply(client, &edit["object"]).await;
        }
        "patch" => {
            let path = match edit["subresource"].as_str() {
                Some(subresource) => format!("{}/{subresource}", path()),
                None => path(),
            };
            send(client, Method::PATCH, &path, &edit["merge"])
                .await
                .unwrap();
        }
        "delete" => {
            let options = json!({"gracePeriodSeconds": edit["gracePeriodSeconds"]});
            send(client, Method::DELETE, &path(), &options)
                .await
                .unwrap();
        }
        other => panic!("{other}"),
    }
}

/// Whether `whole` says at least what `part` says; nulls may be absent.
fn covers(whole: &Value, part: &Value) -> bool {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => part.iter().all(|(field, part)| {
            whole
                .get(field)
                .map_or(part.is_null(), |whole| covers(whole, part))
        }),
        (Value::Array(whole), Value::Array(part)) if whole.len() == part.len() => whole
            .iter()
            .zip(part)
            .all(|(whole, part)| covers(whole, part)),
        // The server writes an empty list as null.
        (Value::Null, Value::Array(part)) => part.is_empty(),
        (whole, part) => whole == part,
    }
}

#[tokio::test]
async fn every_object_and_every_edit_is_taken_as_it_is() {
    let api = SimApi::new(Options::default());
    let client = Client::new(api.clone(), "default");
    let objects: Vec<Value> = serde_json::from_str(OBJECTS).unwrap();
    for object in &objects {
        let stored = apply(&client, object).await;
        assert!(covers(&stored, object), "{object:#}\nis not in\n{stored:#}");
        let again = apply(&client, object).await;
        assert!(covers(&again, object), "{object:#}\nis not in\n{again:#}");
    }
    let edits: Vec<Value> = serde_json::from_str(EDITS).unwrap();
    for each in &edits {
        edit(&client, each).await;
    }
    let shop = |kind: &str, name: &str| api.find(kind, "shop", name);
    assert_eq!(
        shop("Service", "web").unwrap()["spec"]["type"],
        "ExternalName"
    );
    assert!(
        shop("Service", "web").unwrap()["spec"]
            .get("clusterIP")
            .is_none()
    );
    let marked = shop("Pod", "web-1").unwrap();
    assert!(marked["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(marked["metadata"]["deletionGracePeriodSeconds"], 300);
    assert_eq!(shop("Pod", "web-2"), None);
    assert_eq!(shop("EndpointSlice", "web-6"), None);
    let workload = shop("ExternalWorkload", "vm").unwrap();
    assert_eq!(workload["status"]["conditions"][0]["status"], "False");
    assert_eq!(workload["metadata"]["generation"], 2);
    let profile = shop("ServiceProfile", "web.shop.svc.cluster.local").unwrap();
    assert_eq!(
        profile["spec"],
        json!({"opaquePorts": ["80"], "routes": []})
    );
}
