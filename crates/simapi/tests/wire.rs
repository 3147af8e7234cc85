//! What kube's client sees, in process and over a socket.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::fmt::Debug;
use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use futures::{StreamExt, TryStreamExt};
use http::Request;
use k8s_openapi::api::core::v1::{Namespace, Node, Service};
use kube::api::{
    Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, WatchEvent, WatchParams,
};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::PartialObjectMeta;
use kube::{Client, Error};
use lockstep_simapi::{Behaviour, GoneForm, Options, Rejection, Server, SimApi, UseError, Verb};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::time::timeout;

const DEADLINE: Duration = Duration::from_secs(20);

fn sim() -> SimApi {
    SimApi::new(Options::default())
}

fn in_process(api: &SimApi) -> Client {
    Client::new(api.clone(), "default")
}

async fn on_socket(api: &SimApi) -> (Server, Client) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = api.serve(listener).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kubeconfig");
    server.write_kubeconfig(&path).unwrap();
    let config = Kubeconfig::read_from(&path).unwrap();
    let options = KubeConfigOptions::default();
    let config = kube::Config::from_custom_kubeconfig(config, &options)
        .await
        .unwrap();
    (server, Client::try_from(config).unwrap())
}

fn service(name: &str) -> Service {
    serde_json::from_value(json!({
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"ports": [{"port": 80}]},
    }))
    .unwrap()
}

fn applied_service(api: &SimApi, name: &str) -> u64 {
    let service = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"ports": [{"port": 80}]},
    });
    api.apply(service).unwrap()
}

async fn next<T: Debug>(stream: &mut (impl StreamExt<Item = Result<T, Error>> + Unpin)) -> T {
    timeout(DEADLINE, stream.next())
        .await
        .expect("an event in time")
        .expect("open")
        .unwrap()
}

/// Bookmarks may come at any time and must not pass an event.
async fn next_change<T: Clone + Debug>(
    stream: &mut (impl StreamExt<Item = Result<WatchEvent<T>, Error>> + Unpin),
) -> WatchEvent<T> {
    loop {
        match next(stream).await {
            WatchEvent::Bookmark(_) => {}
            event => return event,
        }
    }
}

fn refused<T: Debug>(result: Result<T, Error>) -> (u16, String, String) {
    match result {
        Err(Error::Api(status)) => (status.code, status.reason, status.message),
        other => panic!("not refused: {other:?}"),
    }
}

fn name(event: &WatchEvent<Service>) -> String {
    match event {
        WatchEvent::Added(object) => format!("added {}", object.metadata.name.as_deref().unwrap()),
        WatchEvent::Modified(object) => {
            format!("modified {}", object.metadata.name.as_deref().unwrap())
        }
        WatchEvent::Deleted(object) => {
            format!("deleted {}", object.metadata.name.as_deref().unwrap())
        }
        WatchEvent::Bookmark(mark) => format!("bookmark {}", mark.metadata.resource_version),
        WatchEvent::Error(status) => format!("error {} {}", status.code, status.message),
    }
}

/// Writes and watches through one client: the same on every transport.
async fn services_are_created_listed_and_watched(api: &SimApi, client: Client) {
    api.set_behaviour(Behaviour {
        bookmark_interval: Duration::from_millis(20),
        ..Behaviour::default()
    });
    let services: Api<Service> = Api::default_namespaced(client.clone());
    let created = services
        .create(&PostParams::default(), &service("web"))
        .await
        .unwrap();
    assert_eq!(
        created.spec.as_ref().unwrap().type_.as_deref(),
        Some("ClusterIP")
    );
    let listed = services.list(&ListParams::default()).await.unwrap();
    let version = listed.metadata.resource_version.unwrap();
    assert_eq!(created.metadata.resource_version.as_ref(), Some(&version));

    let everywhere: Api<Service> = Api::all(client);
    let watch = everywhere
        .watch(&WatchParams::default(), &version)
        .await
        .unwrap();
    let mut watch = pin!(watch);
    services
        .create(&PostParams::default(), &service("api"))
        .await
        .unwrap();
    assert_eq!(name(&next_change(&mut watch).await), "added api");
    let labels = json!({"metadata": {"labels": {"tier": "front"}}});
    let patched = services
        .patch("web", &PatchParams::default(), &Patch::Merge(&labels))
        .await
        .unwrap();
    assert_eq!(name(&next_change(&mut watch).await), "modified web");
    let mark = format!("bookmark {}", patched.metadata.resource_version.unwrap());
    assert_eq!(name(&next(&mut watch).await), mark);
    let ended = services
        .delete("web", &DeleteParams::default())
        .await
        .unwrap();
    assert!(ended.is_left(), "a service is answered as its last state");
    assert_eq!(name(&next_change(&mut watch).await), "deleted web");
}

#[tokio::test]
async fn services_live_in_process() {
    let api = sim();
    let client = in_process(&api);
    services_are_created_listed_and_watched(&api, client).await;
}

#[tokio::test]
async fn services_live_over_a_socket() {
    let api = sim();
    let (_server, client) = on_socket(&api).await;
    services_are_created_listed_and_watched(&api, client).await;
}

#[tokio::test]
async fn nodes_are_listed_and_watched_by_metadata_alone() {
    let api = sim();
    let node = |zone: &str| {
        json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": "n1", "labels": {"topology.kubernetes.io/zone": zone}},
            "status": {"addresses": [{"type": "InternalIP", "address": "10.1.0.1"}]},
        })
    };
    let version = api.apply(node("a")).unwrap();
    let (_server, client) = on_socket(&api).await;
    let nodes: Api<Node> = Api::all(client);
    let listed = nodes.list_metadata(&ListParams::default()).await.unwrap();
    assert_eq!(listed.items.len(), 1);
    assert_eq!(listed.metadata.resource_version, Some(version.to_string()));
    let watch = nodes
        .watch_metadata(&WatchParams::default(), &version.to_string())
        .await
        .unwrap();
    let mut watch = pin!(watch);
    api.apply(node("b")).unwrap();
    let event: WatchEvent<PartialObjectMeta<Node>> = next(&mut watch).await;
    let WatchEvent::Modified(changed) = event else {
        panic!("{event:?}")
    };
    let labels = changed.metadata.labels.unwrap();
    assert_eq!(labels.get("topology.kubernetes.io/zone").unwrap(), "b");
    assert_eq!(changed.types.unwrap().kind, "PartialObjectMetadata");
}

#[tokio::test]
async fn a_list_comes_in_pages_of_one_revision() {
    let api = sim();
    for name in ["a", "b", "c", "d", "e"] {
        applied_service(&api, name);
    }
    let services: Api<Service> = Api::all(in_process(&api));
    let mut parameters = ListParams::default().limit(2);
    let mut pages = Vec::new();
    loop {
        let page = services.list(&parameters).await.unwrap();
        let names: Vec<String> = page
            .items
            .into_iter()
            .map(|service| service.metadata.name.unwrap())
            .collect();
        pages.push((names.join(","), page.metadata.remaining_item_count));
        match page.metadata.continue_.filter(|token| !token.is_empty()) {
            Some(token) => parameters = ListParams::default().limit(2).continue_token(&token),
            None => break,
        }
        applied_service(&api, "aa");
        let _ = api.delete("services", "default", "d");
    }
    let expected =
        [("a,b", Some(3)), ("c,d", Some(1)), ("e", None)].map(|(n, r)| (n.to_owned(), r));
    assert_eq!(pages, expected);
}

#[tokio::test]
async fn a_watch_from_a_forgotten_version_is_told_410() {
    let api = sim();
    let old = applied_service(&api, "web");
    let newest = applied_service(&api, "api");
    api.compact();
    let services: Api<Service> = Api::all(in_process(&api));
    let parameters = WatchParams::default();
    let open = || services.watch(&parameters, "1");
    let watch = open().await.unwrap();
    let mut watch = pin!(watch);
    let told = name(&next(&mut watch).await);
    assert_eq!(
        told,
        format!("error 410 too old resource version: 1 ({newest})")
    );
    assert!(
        watch.try_next().await.unwrap().is_none(),
        "the error ends the watch"
    );

    api.set_behaviour(Behaviour {
        gone: GoneForm::HttpStatus,
        ..Behaviour::default()
    });
    let (code, reason, _) = refused(open().await.map(|_| ()));
    assert_eq!((code, reason.as_str()), (410, "Expired"));
    let list = services
        .list(&ListParams::default().at(&old.to_string()).limit(1))
        .await;
    assert_eq!(
        refused(list),
        (
            410,
            "Expired".to_owned(),
            "The resourceVersion for the provided list is too old.".to_owned()
        )
    );
}

#[tokio::test]
async fn a_streaming_list_ends_its_first_part_with_a_mark() {
    let api = sim();
    applied_service(&api, "web");
    let newest = applied_service(&api, "api");
    let services: Api<Service> = Api::all(in_process(&api));
    let parameters = WatchParams::default().initial_events();
    let watch = services.watch(&parameters, "0").await.unwrap();
    let mut watch = pin!(watch);
    assert_eq!(name(&next(&mut watch).await), "added api");
    assert_eq!(name(&next(&mut watch).await), "added web");
    let WatchEvent::Bookmark(mark) = next(&mut watch).await else {
        panic!("no bookmark")
    };
    assert_eq!(mark.metadata.resource_version, newest.to_string());
    let annotations = mark.metadata.annotations;
    assert_eq!(
        annotations
            .get("k8s.io/initial-events-end")
            .map(String::as_str),
        Some("true")
    );
}

#[tokio::test]
async fn watches_end_cleanly_at_their_time_and_on_order() {
    let api = sim();
    let version = applied_service(&api, "web").to_string();
    let services: Api<Service> = Api::all(in_process(&api));
    let brief = services
        .watch(&WatchParams::default().timeout(1), &version)
        .await
        .unwrap();
    let brief = timeout(DEADLINE, brief.try_collect::<Vec<_>>())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        brief.iter().map(name).collect::<Vec<_>>(),
        Vec::<String>::new()
    );

    let long = services
        .watch(&WatchParams::default(), &version)
        .await
        .unwrap();
    assert_eq!(api.counts().open_watches("services"), 1);
    applied_service(&api, "api");
    api.close_watches();
    let long = timeout(DEADLINE, long.try_collect::<Vec<_>>())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(long.iter().map(name).collect::<Vec<_>>(), ["added api"]);
    assert_eq!(api.counts().open_watches("services"), 0);
}

#[tokio::test]
async fn requests_are_counted_as_the_real_metrics_count_them() {
    let api = sim();
    let client = in_process(&api);
    let services: Api<Service> = Api::all(client.clone());
    services.list(&ListParams::default()).await.unwrap();
    let watch = services.watch(&WatchParams::default(), "5").await.unwrap();
    assert_eq!(api.counts().requests(Verb::List, "services"), 1);
    assert_eq!(api.counts().requests(Verb::Watch, "services"), 1);
    assert_eq!(api.counts().requests(Verb::List, "pods"), 0);
    let page = client.request_text(Request::get("/metrics").body(vec![]).unwrap());
    let page = page.await.unwrap();
    for line in [
        "apiserver_request_total{code=\"200\",component=\"apiserver\",dry_run=\"\",group=\"\",\
         resource=\"services\",scope=\"cluster\",subresource=\"\",verb=\"LIST\",version=\"v1\"} 1",
        "apiserver_longrunning_requests{component=\"apiserver\",group=\"\",\
         resource=\"services\",scope=\"cluster\",subresource=\"\",verb=\"WATCH\",\
         version=\"v1\"} 1",
    ] {
        assert!(page.lines().any(|found| found == line), "{page}");
    }
    drop(watch);
    assert_eq!(api.counts().open_watches("services"), 0);
}

#[tokio::test]
async fn a_behaviour_may_refuse_requests() {
    let api = sim();
    let rejection = Rejection {
        code: 503,
        retry_after: Some(1),
        verb: Some(Verb::List),
        resource: Some("services".to_owned()),
    };
    api.set_behaviour(Behaviour {
        reject: Some(rejection),
        ..Behaviour::default()
    });
    let client = in_process(&api);
    let services: Api<Service> = Api::all(client.clone());
    let expected = "the server is currently unable to handle the request";
    assert_eq!(
        refused(services.list(&ListParams::default()).await),
        (503, "ServiceUnavailable".to_owned(), expected.to_owned())
    );
    let namespaces: Api<Namespace> = Api::all(client);
    assert_eq!(
        namespaces
            .list(&ListParams::default())
            .await
            .unwrap()
            .items
            .len(),
        4
    );
}

/// Sends a raw request and answers code, reason and message of the Status.
async fn raw(client: &Client, request: Request<Vec<u8>>) -> (u16, String, String) {
    refused(client.request_text(request).await)
}

fn post(content_type: &str, body: impl Into<Vec<u8>>) -> Request<Vec<u8>> {
    Request::post("/api/v1/namespaces/default/services")
        .header("content-type", content_type)
        .body(body.into())
        .unwrap()
}

fn patched(path: &str, content_type: &str, body: &str) -> Request<Vec<u8>> {
    Request::patch(path)
        .header("content-type", content_type)
        .body(body.into())
        .unwrap()
}

type Case = (Request<Vec<u8>>, u16, &'static str, &'static str);

const WEB: &str = "/api/v1/namespaces/default/services/web";

fn get(path: &str) -> Request<Vec<u8>> {
    Request::get(path).body(Vec::new()).unwrap()
}

/// In process: the client of a socket would retry some of these for minutes.
async fn each_is_refused(cases: impl IntoIterator<Item = Case>) {
    let api = sim();
    applied_service(&api, "web");
    let client = in_process(&api);
    for (request, code, reason, message) in cases {
        let expected = (code, reason.to_owned(), message.to_owned());
        assert_eq!(raw(&client, request).await, expected);
    }
}

#[tokio::test]
async fn unknown_paths_and_methods_are_refused() {
    let unknown = "the server could not find the requested resource";
    let method = "the server does not allow this method on the requested resource";
    let pod = "/api/v1/namespaces/default/pods/a";
    let post = Request::post("/api/v1/services").body(vec![]).unwrap();
    let put = Request::put("/api/v1/services").body(vec![]).unwrap();
    each_is_refused([
        (
            get("/nowhere"),
            404,
            "Failed to parse error data",
            "404 page not found",
        ),
        (get("/api/v1/widgets"), 404, "NotFound", unknown),
        (get(pod), 404, "NotFound", "pods \"a\" not found"),
        (get("/apis/apps/v1/widgets"), 404, "NotFound", unknown),
        (post, 405, "MethodNotAllowed", method),
        (put, 405, "MethodNotAllowed", method),
    ])
    .await;
}

#[tokio::test]
async fn bodies_that_cannot_be_read_are_refused() {
    each_is_refused([
        (
            post("application/json", "{"),
            400,
            "BadRequest",
            "the object provided is unrecognized (must be of type Service): couldn't get \
             version/kind; json parse error: EOF while parsing an object at line 1 column 1",
        ),
        (
            post("application/json", r#"{"metadata": {"name": "a"}}"#),
            422,
            "Invalid",
            "Service \"a\" is invalid: spec.ports: Required value",
        ),
        (
            post("text/plain", "{}"),
            415,
            "UnsupportedMediaType",
            "the body of the request was in an unknown format - accepted media types include: \
             application/json",
        ),
        (
            post("application/json", vec![b' '; 3 * 1024 * 1024 + 1]),
            413,
            "RequestEntityTooLarge",
            "Request entity too large: limit is 3145728",
        ),
        (
            Request::delete(WEB).body(b"{".to_vec()).unwrap(),
            400,
            "BadRequest",
            "unable to decode DeleteOptions: EOF while parsing an object at line 1 column 1",
        ),
    ])
    .await;
}

#[tokio::test]
async fn patches_that_are_not_understood_are_refused() {
    let custom = "/apis/policy.linkerd.io/v1beta3/namespaces/default/servers/web";
    each_is_refused([
        (
            patched(WEB, "application/json-patch+json", "[]"),
            415,
            "UnsupportedMediaType",
            "415: Unsupported Media Type",
        ),
        (
            patched(custom, "application/strategic-merge-patch+json", "{}"),
            415,
            "UnsupportedMediaType",
            "415: Unsupported Media Type",
        ),
        (
            patched(WEB, "application/apply-patch+yaml", "{}"),
            422,
            "Invalid",
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required \
             for apply patch",
        ),
        (
            patched(WEB, "application/merge-patch+json", "[]"),
            400,
            "BadRequest",
            "error decoding patch: json: cannot unmarshal array into Go value of type \
             map[string]interface {}",
        ),
    ])
    .await;
}

#[tokio::test]
async fn parameters_that_are_not_served_are_refused() {
    let dry = format!("{WEB}?dryRun=All");
    let protobuf = Request::get(WEB).header("accept", "application/vnd.kubernetes.protobuf");
    each_is_refused([
        (
            Request::delete(dry).body(vec![]).unwrap(),
            400,
            "BadRequest",
            "dryRun is not supported by the simulated server",
        ),
        (
            protobuf.body(vec![]).unwrap(),
            406,
            "NotAcceptable",
            "406: Not Acceptable\n\nAvailable representations: application/json",
        ),
        (
            get("/api/v1/services?watch=true&resourceVersion=x"),
            500,
            "",
            "resourceVersion: Invalid value: \"x\": \
             strconv.ParseUint: parsing \"x\": invalid syntax",
        ),
        (
            get("/api/v1/services?resourceVersion=99&limit=500"),
            504,
            "Timeout",
            "Timeout: Too large resource version: 99, current: 6",
        ),
    ])
    .await;
}

#[tokio::test]
async fn the_server_describes_itself() {
    let client = in_process(&sim());
    assert_eq!(client.apiserver_version().await.unwrap().minor, "36");
    let groups = client.list_api_groups().await.unwrap().groups;
    assert!(groups.iter().any(|group| group.name == "discovery.k8s.io"));
    let resources = client
        .list_core_api_resources("v1")
        .await
        .unwrap()
        .resources;
    let pods = resources
        .iter()
        .find(|resource| resource.name == "pods")
        .unwrap();
    assert_eq!((pods.kind.as_str(), pods.namespaced), ("Pod", true));
    let ready = client.request_text(Request::get("/readyz").body(vec![]).unwrap());
    assert_eq!(ready.await.unwrap(), "ok");
}

#[tokio::test]
async fn http_2_in_clear_text_is_served_too() {
    let api = sim();
    let (server, _) = on_socket(&api).await;
    let executor = hyper_util::rt::TokioExecutor::new();
    let client = hyper_util::client::legacy::Client::builder(executor)
        .http2_only(true)
        .build_http::<http_body_util::Empty<bytes::Bytes>>();
    let uri = format!("{}/api/v1/namespaces", server.url())
        .parse()
        .unwrap();
    let response = timeout(DEADLINE, client.get(uri)).await.unwrap().unwrap();
    assert_eq!(
        (response.version(), response.status().as_u16()),
        (http::Version::HTTP_2, 200)
    );
}

#[test]
fn the_handle_says_what_it_cannot_do() {
    let api = sim();
    let error = |object: Value| api.apply(object).unwrap_err().to_string();
    assert_eq!(
        error(json!({"apiVersion": "v1", "kind": "Widget"})),
        "unknown kind \"v1 Widget\"; the server knows those listed under /api/v1 and /apis"
    );
    assert_eq!(
        error(json!({"apiVersion": "v1", "kind": "Pod"})),
        "Pod without metadata.name"
    );
    let missing = api.delete("Pod", "default", "a").unwrap_err();
    assert!(matches!(missing, UseError::Missing { .. }));
    assert_eq!(missing.to_string(), "Pod default/a not found");
    let list = json!({"kind": "List", "items": [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}},
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n2"}},
    ]});
    let before = api.resource_version();
    assert_eq!(api.load(list), Ok(before + 2));
    assert!(api.find("Node", "", "n2").is_some());
}

#[tokio::test]
async fn a_kubeconfig_that_cannot_be_written_is_refused_by_path() {
    let api = sim();
    let (server, _) = on_socket(&api).await;
    let error = server
        .write_kubeconfig(Path::new("/nonexistent/config"))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot write the kubeconfig /nonexistent/config"
    );
}
