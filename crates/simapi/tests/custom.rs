//! Custom kinds: their versions, and what it is to install and remove them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::time::Duration;

use futures::{AsyncBufReadExt, TryStreamExt};
use http::Request;
use kube::{Client, Error};
use lockstep_simapi::{Crds, Options, SimApi, Verb};
use serde_json::{Value, json};
use tokio::time::timeout;

const DEADLINE: Duration = Duration::from_secs(20);

const GROUP: &str = "/apis/policy.linkerd.io";

fn new(crds: Crds) -> (SimApi, Client) {
    let api = SimApi::new(Options {
        crds,
        ..Options::default()
    });
    let client = Client::new(api.clone(), "default");
    (api, client)
}

fn server(version: &str, name: &str) -> Value {
    json!({
        "apiVersion": format!("policy.linkerd.io/{version}"), "kind": "Server",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"port": 80, "podSelector": {}},
    })
}

async fn get(client: &Client, path: &str) -> Result<Value, String> {
    let request = Request::get(path).body(Vec::new()).unwrap();
    client.request(request).await.map_err(refusal)
}

async fn send(client: &Client, method: &str, path: &str, body: Value) -> Result<Value, String> {
    let media = match method {
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    let request = Request::builder().method(method).uri(path);
    let request = request.header("content-type", media);
    let request = request.body(serde_json::to_vec(&body).unwrap()).unwrap();
    client.request(request).await.map_err(refusal)
}

fn refusal(error: Error) -> String {
    match error {
        Error::Api(status) => format!("{} {}", status.code, status.message),
        other => panic!("{other}"),
    }
}

/// Type, version and name of every event, until the server ends the watch.
async fn told_until_the_end(client: &Client, path: &str) -> impl Future<Output = Vec<String>> {
    let request = Request::get(path).body(Vec::new()).unwrap();
    let lines = client.request_stream(request).await.unwrap().lines();
    async {
        let lines: Vec<String> = timeout(DEADLINE, lines.try_collect())
            .await
            .unwrap()
            .unwrap();
        let events = lines.iter().map(|line| serde_json::from_str(line).unwrap());
        events.map(|event: Value| in_short(&event)).collect()
    }
}

fn in_short(event: &Value) -> String {
    let object = &event["object"];
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let version = text(&object["apiVersion"]).replace("policy.linkerd.io/", "");
    let name = text(&object["metadata"]["name"]);
    format!("{} {version} {name}", text(&event["type"]))
}

#[tokio::test]
async fn every_version_shows_the_same_objects_as_its_own() {
    let (api, client) = new(Crds::All);
    let at = |version: &str| format!("{GROUP}/{version}/namespaces/default/servers");
    let made = send(&client, "POST", &at("v1beta1"), server("v1beta1", "a")).await;
    assert_eq!(made.unwrap()["apiVersion"], "policy.linkerd.io/v1beta1");
    for version in ["v1beta3", "v1beta2", "v1beta1", "v1alpha1"] {
        let own = json!(format!("policy.linkerd.io/{version}"));
        let list = get(&client, &format!("{GROUP}/{version}/servers"))
            .await
            .unwrap();
        assert_eq!(list["kind"], "ServerList");
        assert_eq!(
            [&list["apiVersion"], &list["items"][0]["apiVersion"]],
            [&own, &own]
        );
        let found = get(&client, &format!("{}/a", at(version))).await.unwrap();
        assert_eq!(
            [&found["apiVersion"], &found["kind"]],
            [&own, &json!("Server")]
        );
    }
    let stored = api.find("Server", "default", "a").unwrap();
    assert_eq!(stored["apiVersion"], "policy.linkerd.io/v1beta3");

    let patch = json!({"apiVersion": "policy.linkerd.io/v1beta2", "spec": {"port": 81}});
    let path = format!("{}/a", at("v1beta2"));
    let patched = send(&client, "PATCH", &path, patch).await.unwrap();
    assert_eq!(patched["metadata"]["generation"], 2);
    assert_eq!(patched["apiVersion"], "policy.linkerd.io/v1beta2");
    let replaced = send(&client, "PUT", &path, patched.clone()).await.unwrap();
    assert_eq!(replaced, patched);
    let wrong = send(&client, "POST", &at("v1beta2"), server("v1beta1", "b")).await;
    assert_eq!(
        wrong.unwrap_err(),
        "400 the API version in the data (policy.linkerd.io/v1beta1) does not match the \
         expected API version (policy.linkerd.io/v1beta2)"
    );
}

#[tokio::test]
async fn a_watch_tells_objects_in_its_own_version() {
    let (api, client) = new(Crds::All);
    api.apply(server("v1beta3", "a")).unwrap();
    let path = format!("{GROUP}/v1alpha1/servers?watch=1");
    let told = told_until_the_end(&client, &path).await;
    api.delete("Server", "default", "a").unwrap();
    api.close_watches();
    assert_eq!(told.await, ["ADDED v1alpha1 a", "DELETED v1alpha1 a"]);
}

#[tokio::test]
async fn a_removed_kind_is_deleted_told_and_unknown() {
    let (api, client) = new(Crds::All);
    api.apply(server("v1beta3", "a")).unwrap();
    api.apply(server("v1beta1", "b")).unwrap();
    let path = format!("{GROUP}/v1beta1/servers?watch=1");
    let told = told_until_the_end(&client, &path).await;
    let pods = client.request_stream(
        Request::get("/api/v1/pods?watch=1")
            .body(Vec::new())
            .unwrap(),
    );
    let _pods = pods.await.unwrap();
    api.remove_crd("Server").unwrap();
    let expected = [
        "ADDED v1beta1 a",
        "ADDED v1beta1 b",
        "DELETED v1beta1 a",
        "DELETED v1beta1 b",
    ];
    assert_eq!(told.await, expected);
    assert_eq!(api.counts().open_watches("pods"), 1);
    let paths = [
        GROUP.to_owned(),
        format!("{GROUP}/v1beta3"),
        format!("{GROUP}/v1beta3/servers"),
        format!("{GROUP}/v1beta3/servers?watch=1"),
        format!("{GROUP}/v1beta3/namespaces/default/servers/a"),
    ];
    for path in paths {
        let refused = get(&client, &path).await.unwrap_err();
        assert_eq!(refused, "404 404 page not found", "{path}");
    }
    let collection = format!("{GROUP}/v1beta3/namespaces/default/servers");
    let refused = send(&client, "POST", &collection, server("v1beta3", "a")).await;
    assert_eq!(refused.unwrap_err(), "404 404 page not found");
    let refused = api.apply(server("v1beta3", "a")).unwrap_err().to_string();
    let expected = "unknown kind \"policy.linkerd.io/v1beta3 Server\"; the server knows those \
                    listed under /api/v1 and /apis";
    assert_eq!(refused, expected);
    assert_eq!(api.counts().requests(Verb::List, "servers"), 1);

    api.install_crd("servers").unwrap();
    let list = get(&client, &format!("{GROUP}/v1beta3/servers"))
        .await
        .unwrap();
    assert_eq!(list["items"], json!([]));
}

#[tokio::test]
async fn only_the_installed_versions_are_served() {
    let (api, client) = new(Crds::None);
    let groups = get(&client, "/apis").await.unwrap().to_string();
    assert!(!groups.contains("linkerd.io"), "{groups}");
    api.install_crd_versions("Server", &["v1alpha1", "v1beta1"])
        .unwrap();
    let group = get(&client, GROUP).await.unwrap();
    let versions = group["versions"].as_array().unwrap().iter();
    let versions: Vec<_> = versions
        .map(|found| found["version"].as_str().unwrap())
        .collect();
    assert_eq!(versions, ["v1beta1", "v1alpha1"]);
    assert_eq!(group["preferredVersion"]["version"], "v1beta1");
    let resources = get(&client, &format!("{GROUP}/v1beta1")).await.unwrap();
    assert_eq!(resources["resources"][0]["name"], "servers");
    api.apply(server("v1beta1", "a")).unwrap();
    assert!(
        get(&client, &format!("{GROUP}/v1alpha1/servers"))
            .await
            .is_ok()
    );
    let newer = get(&client, &format!("{GROUP}/v1beta3/servers")).await;
    assert_eq!(newer.unwrap_err(), "404 404 page not found");

    api.install_crd("Server").unwrap();
    let list = get(&client, &format!("{GROUP}/v1beta3/servers"))
        .await
        .unwrap();
    assert_eq!(list["items"][0]["metadata"]["name"], "a");
}

#[tokio::test]
async fn what_is_no_custom_kind_or_version_is_refused() {
    let (api, _) = new(Crds::None);
    let not_custom =
        "\"Pod\" is no custom kind; those are ServiceProfile, Server, ExternalWorkload";
    let unknown = "unknown kind \"Widget\"; the server knows those listed under /api/v1 and /apis";
    for (kind, expected) in [("Pod", not_custom), ("Widget", unknown)] {
        assert_eq!(api.install_crd(kind).unwrap_err().to_string(), expected);
        assert_eq!(api.remove_crd(kind).unwrap_err().to_string(), expected);
    }
    let error = api
        .install_crd_versions("Server", &["v1beta1", "v1"])
        .unwrap_err();
    let expected =
        "Server has no version \"v1\"; its versions are v1beta3, v1beta2, v1beta1, v1alpha1";
    assert_eq!(error.to_string(), expected);
    assert_eq!(api.hold_watches("Widget").unwrap_err().to_string(), unknown);
    assert_eq!(
        api.release_watches("Widget").unwrap_err().to_string(),
        unknown
    );
}
