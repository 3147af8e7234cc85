//! Objects that the API server accepts and nobody means. Each is used as far as it is
//! valid, the rest is named, and the service beside it is told as ever.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use lockstep_contract::{
    fold::Folded,
    mesh::Mesh,
    serve::{Served, asking, next},
};
use lockstep_model::Settings;
use serde_json::{Value, json};

/// A service with one endpoint that nothing is wrong with.
fn sound() -> Vec<Value> {
    vec![service("sound"), {
        let mut slice = slice("sound", "IPv4");
        slice["endpoints"] = json!([{"addresses": ["10.9.0.1"]}]);
        slice
    }]
}

fn service(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": "shop"},
           "spec": {"ports": [{"name": "http", "port": 80}]}})
}

/// A slice of the service with this name, without endpoints.
fn slice(name: &str, family: &str) -> Value {
    json!({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
           "metadata": {"name": format!("{name}-1"), "namespace": "shop",
                        "labels": {"kubernetes.io/service-name": name}},
           "addressType": family, "ports": [{"name": "http", "port": 8080}], "endpoints": []})
}

fn pod(name: &str, ip: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop"},
           "spec": {"containers": [{"name": "app"}]},
           "status": {"phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}]}})
}

fn behind(pod: &str, ip: &str) -> Value {
    let target = json!({"kind": "Pod", "namespace": "shop", "name": pod});
    json!({"addresses": [ip], "targetRef": target})
}

/// A service `odd` with one slice.
fn with_slice(family: &str, change: Value) -> Vec<Value> {
    let mut slice = slice("odd", family);
    for (field, value) in change.as_object().unwrap() {
        slice[field] = value.clone();
    }
    vec![service("odd"), slice]
}

/// The addresses that a new stream is told.
async fn told(served: &Served, service: &str) -> Vec<String> {
    let path = format!("{service}.shop.svc.cluster.local:80");
    let stream = served.client().await.get(asking(&path, "")).await;
    let mut folded = Folded::default();
    folded.take(&next(&mut stream.unwrap().into_inner()).await);
    assert_eq!(folded.violations(), []);
    let set = folded.set().unwrap();
    set.keys().map(ToString::to_string).collect()
}

/// What is told of `odd`, and what is said about the objects.
async fn outcome(odd: Vec<Value>) -> (Vec<String>, Vec<String>) {
    let objects = odd.into_iter().chain(sound()).collect();
    let mut mesh = Mesh::new(Settings::default(), objects).unwrap();
    let served = Served::with(mesh.commit()).await;
    assert_eq!(told(&served, "sound").await, ["10.9.0.1:8080"]);
    (told(&served, "odd").await, mesh.complaints().to_vec())
}

async fn assert_outcome(odd: Vec<Value>, set: &[&str], complaints: &[&str]) {
    let expected = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
    let expected = (expected(set), expected(complaints));
    assert_eq!(outcome(odd.clone()).await, expected, "{odd:?}");
}

#[tokio::test]
async fn absent_and_null_fields_are_what_the_schema_says() {
    for (change, set) in [
        (json!({"endpoints": null}), &[][..]),
        (
            json!({"ports": null, "endpoints": [{"addresses": ["10.1.0.1"]}]}),
            &[],
        ),
        (
            json!({"endpoints": [{"addresses": ["10.1.0.1"], "conditions": null, "hints": null,
                               "targetRef": null, "zone": null, "hostname": null}]}),
            &["10.1.0.1:8080"],
        ),
        (
            json!({"endpoints": [{"addresses": ["10.1.0.1"], "conditions": {}, "targetRef": {}}]}),
            &["10.1.0.1:8080"],
        ),
        (
            json!({"endpoints": [{"addresses": ["10.1.0.1"], "conditions": {"ready": null}}]}),
            &["10.1.0.1:8080"],
        ),
        (
            json!({"endpoints": [{"addresses": []}, {"addresses": ["10.1.0.1"]}]}),
            &["10.1.0.1:8080"],
        ),
    ] {
        assert_outcome(with_slice("IPv4", change), set, &[]).await;
    }
    let bare = json!({"apiVersion": "v1", "kind": "Pod",
                      "metadata": {"name": "a", "namespace": "shop", "labels": null}});
    let mut odd = with_slice("IPv4", json!({"endpoints": [behind("a", "10.1.0.1")]}));
    odd.push(bare);
    assert_outcome(odd, &["10.1.0.1:8080"], &[]).await;
}

#[tokio::test]
async fn ports_without_number_and_out_of_range_match_nothing() {
    let one = json!([{"addresses": ["10.1.0.1"]}]);
    let ports = |ports: Value| json!({"ports": ports, "endpoints": one});
    assert_outcome(
        with_slice("IPv4", ports(json!([{"name": "http"}]))),
        &[],
        &[],
    )
    .await;
    let null = ports(json!([{"name": "http", "port": null}]));
    assert_outcome(with_slice("IPv4", null), &[], &[]).await;
    let large = ports(json!([{"name": "http", "port": 70_000}]));
    let complaint =
        "endpointslices shop/odd-1: ports: 70000 is skipped: it is not a port (1 to 65535)";
    assert_outcome(with_slice("IPv4", large), &[], &[complaint]).await;
}

#[tokio::test]
async fn addresses_that_do_not_belong_are_left_out() {
    let both = json!({"endpoints": [{"addresses": ["fd00::1"]}, {"addresses": ["10.1.0.1"]}]});
    assert_outcome(
        with_slice("IPv4", both),
        &["10.1.0.1:8080"],
        &[
            "endpointslices shop/odd-1: endpoints.addresses: `fd00::1` is skipped: \
           it is not an IPv4 address",
        ],
    )
    .await;
    let names = json!({"endpoints": [{"addresses": ["db.example.org"]}]});
    assert_outcome(
        with_slice("FQDN", names),
        &[],
        &["endpointslices shop/odd-1 has addresses of type `FQDN`; \
           allowed are `IPv4` and `IPv6`"],
    )
    .await;
}

#[tokio::test]
async fn a_slice_belongs_to_its_label_else_to_its_owner_else_to_nobody() {
    let owned = |labels: Value, owners: Value| {
        let mut odd = with_slice("IPv4", json!({"endpoints": [{"addresses": ["10.1.0.1"]}]}));
        odd[1]["metadata"]["labels"] = labels;
        odd[1]["metadata"]["ownerReferences"] = owners;
        odd
    };
    let owner = json!([{"apiVersion": "v1", "kind": "Service", "name": "odd", "uid": "1"}]);
    assert_outcome(owned(json!({}), owner.clone()), &["10.1.0.1:8080"], &[]).await;
    let other = json!({"kubernetes.io/service-name": "another"});
    assert_outcome(owned(other, owner), &[], &[]).await;
    let complaint = "endpointslices shop/odd-1 belongs to no service: it has neither the label \
                     `kubernetes.io/service-name` nor an owner reference of kind Service";
    assert_outcome(owned(json!({}), json!([])), &[], &[complaint]).await;
}

#[tokio::test]
async fn unknown_targets_and_unknown_words_are_passed_over() {
    let node = json!({"addresses": ["10.1.0.2"], "targetRef": {"kind": "Node", "name": "n"}});
    let change =
        json!({"endpoints": [node, behind("nobody", "10.1.0.3"), {"addresses": ["10.1.0.1"]}]});
    assert_outcome(
        with_slice("IPv4", change),
        &["10.1.0.1:8080"],
        &[
            "endpointslices shop/odd-1: endpoints: the one that refers to `Node/n` is skipped: \
           it names no Pod and no ExternalWorkload",
        ],
    )
    .await;
    let mut odd = with_slice("IPv4", json!({"endpoints": [behind("a", "10.1.0.1")]}));
    odd[0]["spec"]["type"] = "Imaginary".into();
    odd[0]["spec"]["internalTrafficPolicy"] = "Sometimes".into();
    let mut a = pod("a", "10.1.0.1");
    a["status"]["phase"] = "Levitating".into();
    odd.push(a);
    assert_outcome(odd, &["10.1.0.1:8080"], &[]).await;
}

/// The folder of the name in the path is what the client wrote; nothing checks the object.
#[tokio::test]
async fn names_that_are_no_dns_labels_are_names() {
    let mut odd = with_slice("IPv4", json!({"endpoints": [behind("a:b", "10.1.0.1")]}));
    odd[1]["metadata"]["name"] = "Odd_Name:1".into();
    odd.push(pod("a:b", "10.1.0.1"));
    assert_outcome(odd, &["10.1.0.1:8080"], &[]).await;
}

#[tokio::test]
async fn one_address_of_two_pods_is_told_once_and_of_the_pod_that_runs() {
    let change = json!({"endpoints": [behind("old", "10.1.0.1"), behind("new", "10.1.0.1")]});
    let mut odd = with_slice("IPv4", change);
    let mut old = pod("old", "10.1.0.1");
    old["status"]["phase"] = "Failed".into();
    odd.extend([old, pod("new", "10.1.0.1")]);
    let objects = odd.into_iter().chain(sound()).collect();
    let mut mesh = Mesh::new(Settings::default(), objects).unwrap();
    let served = Served::with(mesh.commit()).await;
    let path = "odd.shop.svc.cluster.local:80";
    let stream = served.client().await.get(asking(path, "")).await.unwrap();
    let mut folded = Folded::default();
    folded.take(&next(&mut stream.into_inner()).await);
    let held: Vec<(String, String)> = folded
        .set()
        .unwrap()
        .iter()
        .map(|(at, held)| (at.to_string(), held.endpoint.metric_labels["pod"].clone()))
        .collect();
    assert_eq!(held, [("10.1.0.1:8080".to_owned(), "new".to_owned())]);
}

/// An object of the wrong shape says nothing, and the ones beside it are read.
#[tokio::test]
async fn an_object_of_the_wrong_shape_spoils_nothing() {
    let mut odd = with_slice("IPv4", json!({"endpoints": [{"addresses": ["10.1.0.1"]}]}));
    let mut wrong = slice("odd", "IPv4");
    wrong["metadata"]["name"] = "odd-2".into();
    wrong["endpoints"] = "none".into();
    odd.push(wrong);
    let (set, complaints) = outcome(odd).await;
    assert_eq!(set, ["10.1.0.1:8080"]);
    let [complaint] = &complaints[..] else {
        panic!("{complaints:?}");
    };
    let expected = "endpointslices shop/odd-2 cannot be decoded: ";
    assert!(complaint.starts_with(expected), "{complaint}");
}

#[tokio::test]
async fn five_thousand_endpoints_in_fifty_slices_are_told_whole() {
    let mut objects = sound();
    objects.push(service("odd"));
    for number in 0..50_u32 {
        let mut one = slice("odd", "IPv4");
        one["metadata"]["name"] = format!("odd-{number}").into();
        let ips = (0..100).map(|last| format!("10.2.{number}.{last}"));
        let pods: Vec<(String, String)> = ips.map(|ip| (ip.replace('.', "-"), ip)).collect();
        let endpoints = pods.iter().map(|(name, ip)| behind(name, ip));
        one["endpoints"] = endpoints.collect();
        objects.push(one);
        objects.extend(pods.iter().map(|(name, ip)| pod(name, ip)));
    }
    let mut mesh = Mesh::new(Settings::default(), objects).unwrap();
    let served = Served::with(mesh.commit()).await;
    assert_eq!(mesh.complaints(), [""; 0]);
    let path = "odd.shop.svc.cluster.local:80";
    let stream = served.client().await.get(asking(path, "")).await;
    let (mut stream, mut folded) = (stream.unwrap().into_inner(), Folded::default());
    while folded.set().map_or(0, std::collections::BTreeMap::len) < 5_000 {
        folded.take(&next(&mut stream).await);
    }
    assert_eq!(folded.violations(), []);
    assert_eq!(told(&served, "sound").await, ["10.9.0.1:8080"]);
}
