//! The contract of the destination API, sentence by sentence, as a client with
//! Linkerd's own stubs sees it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod web;

use linkerd2_proxy_api::destination::{
    DestinationProfile, NoEndpoints, Update, update::Update as Said,
};
use lockstep_contract::serve::{Profiles, Served, Updates, asking, next, until, within};
use lockstep_model::{
    Condition, ExternalWorkload, ExternalWorkloadId, ExternalWorkloadRecord, PodId, PodRecord,
    PortSet, RemoteDiscovery, RequestMatch, Route, ServiceKind, ServiceProfileId,
    ServiceProfileRecord, ServiceRecord, SliceRecord,
};
use lockstep_position::{HistoryId, Revision};
use lockstep_resolution::View;
use lockstep_state::Command;
use std::{collections::BTreeMap, net::SocketAddr};
use tonic::{Code, Status};
use web::*;

/// What was said, in short: added with a node's locality, removed, or empty.
#[derive(Debug, PartialEq, Eq)]
enum Short {
    Add(Vec<u32>),
    Remove(Vec<u32>),
    NoEndpoints(bool),
}

fn number(address: Option<linkerd2_proxy_api::net::TcpAddress>) -> u32 {
    let address: SocketAddr = address.unwrap().try_into().unwrap();
    assert_eq!(address.port(), 8080);
    match address {
        SocketAddr::V4(v4) => u32::from(*v4.ip()) - 0x0a01_0000,
        SocketAddr::V6(v6) => panic!("{v6}"),
    }
}

fn short(update: Update) -> Short {
    match update.update.expect("an update") {
        Said::Add(set) => Short::Add(set.addrs.into_iter().map(|it| number(it.addr)).collect()),
        Said::Remove(gone) => {
            Short::Remove(gone.addrs.into_iter().map(|it| number(Some(it))).collect())
        }
        Said::NoEndpoints(NoEndpoints { exists }) => Short::NoEndpoints(exists),
    }
}

async fn said(stream: &mut Updates) -> Short {
    short(next(stream).await)
}

async fn open_get(served: &Served, path: &str) -> Result<Updates, Status> {
    let mut client = served.client().await;
    let opened = within(client.get(asking(path, ""))).await;
    opened.map(tonic::Response::into_inner)
}

async fn open_profile(served: &Served, path: &str) -> Result<Profiles, Status> {
    let mut client = served.client().await;
    let opened = within(client.get_profile(asking(path, ""))).await;
    opened.map(tonic::Response::into_inner)
}

#[tokio::test]
async fn the_first_message_is_the_whole_set_with_all_fields() {
    let served = Served::with(web(&[1, 2])).await;
    let node = Command::PutNode("node-a".into(), "zone-a".into());
    served.board.change(vec![node]);
    let mut client = served.client().await;
    let token = "{\"ns\":\"shop\", \"nodeName\":\"node-a\", \"pod\":\"x\"}\n";
    let opened = within(client.get(asking(WEB, token))).await.unwrap();
    let Some(Said::Add(set)) = next(&mut opened.into_inner()).await.update else {
        panic!("no add");
    };
    let sorted = |labels: &std::collections::HashMap<String, String>| -> BTreeMap<_, _> {
        labels.clone().into_iter().collect()
    };
    let strings = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
        let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
        pairs.iter().map(owned).collect()
    };
    let of_set = strings(&[("namespace", "shop"), ("service", "web")]);
    assert_eq!(sorted(&set.metric_labels), of_set);
    let first = &set.addrs[0];
    let of_first = strings(&[
        ("control_plane_ns", "linkerd"),
        ("deployment", "web"),
        ("pod", "web-1"),
        ("serviceaccount", "web"),
        ("zone", "zone-a"),
        ("zone_locality", "local"),
    ]);
    assert_eq!(sorted(&first.metric_labels), of_first);
    let name = "web.shop.serviceaccount.identity.linkerd.cluster.local";
    let identity = first.tls_identity.as_ref().unwrap();
    assert_eq!(identity.server_name.as_ref().unwrap().name, name);
    assert_eq!(first.weight, 10_000);
    assert_eq!(
        set.addrs
            .iter()
            .map(|it| number(it.addr))
            .collect::<Vec<_>>(),
        [1, 2]
    );
}

#[tokio::test]
async fn an_empty_set_is_said_and_the_first_endpoint_added() {
    let served = Served::with(vec![settings(), service("web")]).await;
    let mut stream = open_get(&served, WEB).await.unwrap();
    assert_eq!(said(&mut stream).await, Short::NoEndpoints(true));
    served.board.change(vec![slice("web", &[1])]);
    assert_eq!(said(&mut stream).await, Short::Add(vec![1]));
    served.board.change(vec![slice("web", &[])]);
    assert_eq!(said(&mut stream).await, Short::Remove(vec![1]));
    served.board.change(vec![slice("web", &[2])]);
    assert_eq!(said(&mut stream).await, Short::Add(vec![2]));
}

#[tokio::test]
async fn a_rollover_adds_before_it_removes() {
    let served = Served::with(web(&[1, 2])).await;
    let mut stream = open_get(&served, WEB).await.unwrap();
    assert_eq!(said(&mut stream).await, Short::Add(vec![1, 2]));
    served.board.change(vec![slice("web", &[2, 3])]);
    assert_eq!(said(&mut stream).await, Short::Add(vec![3]));
    assert_eq!(said(&mut stream).await, Short::Remove(vec![1]));
}

#[tokio::test]
async fn a_deleted_service_is_removed_and_its_stream_stays_open() {
    let served = Served::with(web(&[1])).await;
    let mut stream = open_get(&served, WEB).await.unwrap();
    assert_eq!(said(&mut stream).await, Short::Add(vec![1]));
    served.board.change(vec![without_service("web")]);
    assert_eq!(said(&mut stream).await, Short::Remove(vec![1]));
    served.board.change(vec![service("web")]);
    assert_eq!(said(&mut stream).await, Short::Add(vec![1]));
}

#[tokio::test]
async fn a_stream_says_nothing_of_other_services() {
    let served = Served::with(web(&[1])).await;
    let mut stream = open_get(&served, WEB).await.unwrap();
    assert_eq!(said(&mut stream).await, Short::Add(vec![1]));
    served
        .board
        .change(vec![service("cart"), slice("cart", &[9])]);
    served.board.change(vec![slice("web", &[1, 2])]);
    assert_eq!(said(&mut stream).await, Short::Add(vec![2]));
}

#[tokio::test]
async fn a_large_set_arrives_whole_and_at_once() {
    let numbers: Vec<u32> = (1..=5_000).collect();
    let mut commands = vec![settings(), service("web")];
    for (place, chunk) in numbers.chunks(1_000).enumerate() {
        let Command::PutSlice(mut id, record) = slice("web", chunk) else {
            panic!("not a slice");
        };
        id.name = format!("web-{place}").into();
        commands.push(Command::PutSlice(id, record));
    }
    let served = Served::with(commands).await;
    let mut stream = open_get(&served, WEB).await.unwrap();
    assert_eq!(said(&mut stream).await, Short::Add(numbers));
}

#[tokio::test]
async fn bad_requests_get_a_code_and_an_exact_text() {
    let alias = service_of("alias", ServiceKind::ExternalName, &[80]);
    let pods = [pod(1, 1), pod(2, 1)];
    let mut commands = vec![settings(), service("web"), alias];
    commands.extend(pods);
    let served = Served::with(commands).await;
    let alias = "alias.shop.svc.cluster.local:80";
    let long = "x".repeat(3_000);
    let cut = format!("Invalid authority: {}...", &long[..1_005]);
    let missing = "missing.shop.svc.cluster.local:80";
    let by_name = "Service missing.shop not found";
    for (path, code, text) in [
        ("", Code::InvalidArgument, "Invalid authority: "),
        ("foo", Code::InvalidArgument, "Invalid authority: foo"),
        ("é\n:80", Code::InvalidArgument, "Invalid authority: é\n:80"),
        (&long, Code::InvalidArgument, &cut),
        (
            alias,
            Code::InvalidArgument,
            "Invalid authority: alias.shop.svc.cluster.local:80",
        ),
        (missing, Code::NotFound, by_name),
    ] {
        for status in [
            open_get(&served, path).await.unwrap_err(),
            open_profile(&served, path).await.unwrap_err(),
        ] {
            assert_eq!((status.code(), status.message()), (code, text), "{path}");
        }
    }
    let by_ip = open_get(&served, "10.1.0.1:80").await.unwrap_err();
    let text = "IP queries not supported by Get API: host=10.1.0.1";
    assert_eq!(
        (by_ip.code(), by_ip.message()),
        (Code::InvalidArgument, text)
    );
    let shared = open_profile(&served, "10.1.0.1:80").await.unwrap_err();
    let text = "found 2 pods with a conflicting pod network IP 10.1.0.1";
    assert_eq!(
        (shared.code(), shared.message()),
        (Code::FailedPrecondition, text)
    );
    let nobody = format!("nobody.{WEB}");
    let nobody = open_profile(&served, &nobody).await.unwrap_err();
    let text = "no pod found in EndpointSlices of Service shop/web for hostname nobody";
    assert_eq!((nobody.code(), nobody.message()), (Code::NotFound, text));
}

#[tokio::test]
async fn a_huge_request_is_refused_and_a_bad_token_is_not() {
    let served = Served::with(web(&[1])).await;
    let huge = open_get(&served, &"x".repeat(20_000)).await.unwrap_err();
    let text =
        "Error, decoded message length too large: found 20009 bytes, the limit is: 16384 bytes";
    assert_eq!((huge.code(), huge.message()), (Code::OutOfRange, text));
    let mut client = served.client().await;
    for token in ["garbage", "{\"nodeName\":", "ns:", "\u{0}", "[1]"] {
        let opened = within(client.get(asking(WEB, token))).await.unwrap();
        assert_eq!(said(&mut opened.into_inner()).await, Short::Add(vec![1]));
    }
}

#[tokio::test]
async fn before_the_first_sync_nothing_is_absent() {
    let served = Served::with(Vec::new()).await;
    for path in [WEB, "foo"] {
        for status in [
            open_get(&served, path).await.unwrap_err(),
            open_profile(&served, path).await.unwrap_err(),
        ] {
            let text = "this replica has not synced with the cluster yet";
            assert_eq!((status.code(), status.message()), (Code::Unavailable, text));
        }
    }
}

#[tokio::test]
async fn an_answer_says_where_it_stands() {
    let served = Served::with(web(&[1])).await;
    let position = *served.board.newest().position();
    let headers = |stale: &str| -> Vec<(String, String)> {
        [
            ("age-ms", "3".to_owned()),
            ("digest", position.state_digest.to_string()),
            ("history", HistoryId::from_u128(0xabc).to_string()),
            ("name", "lockstep-0".to_owned()),
            ("replica", "0000000000000007".to_owned()),
            ("revision", Revision::from_u64(1).to_string()),
            ("source-stale", "false".to_owned()),
            ("stale", stale.to_owned()),
        ]
        .map(|(name, value)| (format!("lockstep-{name}"), value))
        .into()
    };
    let ours = |metadata: &tonic::metadata::MetadataMap| -> Vec<(String, String)> {
        let headers = metadata.clone().into_headers();
        let mut ours: Vec<_> = headers
            .iter()
            .filter(|(name, _)| name.as_str().starts_with("lockstep-"))
            .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
            .collect();
        ours.sort();
        ours
    };
    let mut client = served.client().await;
    let opened = within(client.get(asking(WEB, ""))).await.unwrap();
    assert_eq!(ours(opened.metadata()), headers("false"));
    served.board.set_stale();
    let opened = within(client.get_profile(asking(WEB, ""))).await.unwrap();
    assert_eq!(ours(opened.metadata()), headers("true"));
    // A refusal is an answer too.
    let missing = asking("missing.shop.svc.cluster.local", "");
    let refused = within(client.get(missing)).await.unwrap_err();
    assert_eq!(ours(refused.metadata()), headers("true"));
}

#[tokio::test]
async fn nothing_is_answered_before_the_barrier_is_passed() {
    let served = Served::with(web(&[1])).await;
    served.board.set_barrier(false);
    let mut client = served.client().await;
    let opening = tokio::spawn(async move { client.get(asking(WEB, "")).await });
    until(|| served.board.barriers() == 1).await;
    // What commits while the barrier is up must be in the first message.
    served.board.change(vec![slice("web", &[2])]);
    served.board.set_barrier(true);
    let opened = within(opening).await.unwrap().unwrap();
    assert_eq!(said(&mut opened.into_inner()).await, Short::Add(vec![2]));
}

#[tokio::test]
async fn no_change_falls_between_reading_and_being_woken() {
    let mut commands = web(&[1]);
    commands.push(pod(1, 1));
    let served = Served::with(commands).await;
    let change = vec![slice("web", &[2]), pod(2, 2)];
    served.board.change_before_subscribing(change);
    let mut stream = open_get(&served, WEB).await.unwrap();
    assert_eq!(said(&mut stream).await, Short::Add(vec![2]));

    // The change also changes what the answer depends on: another pod.
    let change = vec![renamed_slice(1, "web-0"), pod(1, 7)];
    served.board.change(vec![renamed_slice(2, "web-0")]);
    served.board.change_before_subscribing(change);
    let path = "web-0.web.shop.svc.cluster.local:8080";
    let mut stream = open_profile(&served, path).await.unwrap();
    let address = |profile: DestinationProfile| number(profile.endpoint.unwrap().addr);
    assert_eq!(address(next(&mut stream).await), 7);
    served.board.change(vec![pod(1, 8)]);
    assert_eq!(address(next(&mut stream).await), 8);
}

#[tokio::test]
async fn a_profile_is_followed() {
    let served = Served::with(web(&[1])).await;
    let named = "web.shop.svc.cluster.local";
    let mut stream = open_profile(&served, &format!("{named}:81")).await.unwrap();
    assert_eq!(next(&mut stream).await, DestinationProfile::default());
    let both = service_of("web", ServiceKind::Endpoints, &[80, 81]);
    served.board.change(vec![both]);
    assert_eq!(next(&mut stream).await.fully_qualified_name, named);
}

#[tokio::test]
async fn a_profile_by_hostname_follows_the_pod_that_has_it() {
    let mut commands = web(&[1]);
    commands.push(pod(1, 1));
    let served = Served::with(commands).await;
    let path = "web-1.web.shop.svc.cluster.local:8080";
    let mut stream = open_profile(&served, path).await.unwrap();
    let address = |profile: DestinationProfile| number(profile.endpoint.unwrap().addr);
    assert_eq!(address(next(&mut stream).await), 1);
    // Only the pod changes: the stream depends on it although it asked for a service.
    served.board.change(vec![pod(1, 5)]);
    assert_eq!(address(next(&mut stream).await), 5);
    served
        .board
        .change(vec![Command::RemovePod(PodId::named("shop", "web-1"))]);
    let bare = next(&mut stream).await.endpoint.unwrap();
    assert_eq!((number(bare.addr), bare.tls_identity), (5, None));
    // The name goes to another pod, and the stream follows that one from then on.
    served
        .board
        .change(vec![renamed_slice(2, "web-1"), pod(2, 2)]);
    assert_eq!(address(next(&mut stream).await), 2);
    served.board.change(vec![pod(2, 9)]);
    assert_eq!(address(next(&mut stream).await), 9);
}

#[tokio::test]
async fn what_is_no_method_is_unimplemented() {
    let served = Served::with(web(&[1])).await;
    let mut grpc = tonic::client::Grpc::new(served.channel().await);
    grpc.ready().await.unwrap();
    let path = "/io.linkerd.proxy.destination.Destination/Put";
    let path = http::uri::PathAndQuery::from_static(path);
    let codec = tonic_prost::ProstCodec::<_, Update>::default();
    let request = tonic::Request::new(asking(WEB, ""));
    let status = within(grpc.unary(request, path, codec)).await.unwrap_err();
    assert_eq!(status.code(), Code::Unimplemented);
}

#[tokio::test]
async fn requests_and_streams_are_counted() {
    let served = Served::with(web(&[1])).await;
    let mut stream = open_get(&served, WEB).await.unwrap();
    assert_eq!(said(&mut stream).await, Short::Add(vec![1]));
    open_profile(&served, "foo").await.unwrap_err();
    let text = served.metrics();
    for line in [
        "lockstep_destination_streams{method=\"Get\"} 1",
        "lockstep_destination_messages_total{method=\"Get\"} 1",
        "lockstep_destination_first_message_seconds_count{method=\"Get\"} 1",
        "lockstep_destination_refusals_total{method=\"GetProfile\",code=\"InvalidArgument\"} 1",
    ] {
        assert!(text.lines().any(|it| it == line), "{line} not in\n{text}");
    }
}

/// The slice of `web` with both pods at the first one's address.
fn slice_of_rivals() -> Command {
    let Command::PutSlice(id, record) = slice("web", &[1, 2]) else {
        panic!("not a slice");
    };
    let mut record = SliceRecord::clone(&record);
    for endpoint in &mut record.endpoints {
        endpoint.ip = ip(1);
    }
    Command::PutSlice(id, record.into())
}

fn terminating(pod: Command) -> Command {
    let Command::PutPod(id, record) = pod else {
        panic!("not a pod");
    };
    let record = PodRecord {
        terminating: true,
        ..PodRecord::clone(&record)
    };
    Command::PutPod(id, record.into())
}

#[tokio::test]
async fn who_has_a_contested_address_is_followed() {
    let commands = vec![settings(), service("web"), slice_of_rivals()];
    let served = Served::with(commands).await;
    served.board.change(vec![pod(1, 1), pod(2, 1)]);
    let mut stream = open_get(&served, WEB).await.unwrap();
    let pods = |update: Update| -> Vec<String> {
        let Some(Said::Add(set)) = update.update else {
            panic!("no add");
        };
        let pods = set.addrs.iter().map(|it| it.metric_labels["pod"].clone());
        pods.collect()
    };
    assert_eq!(pods(next(&mut stream).await), ["web-2"]);
    // Nothing changes but a pod.
    served.board.change(vec![terminating(pod(2, 1))]);
    assert_eq!(pods(next(&mut stream).await), ["web-1"]);
    served.board.change(vec![pod(2, 1)]);
    assert_eq!(pods(next(&mut stream).await), ["web-2"]);
}

fn service_profile(namespace: &str, route: &str) -> Command {
    let route = Route {
        name: route.into(),
        condition: Condition::Is(RequestMatch::Method("GET".into())),
        response_classes: Vec::new(),
        is_retryable: false,
        timeout_ns: None,
    };
    let record = ServiceProfileRecord {
        routes: vec![route],
        ..ServiceProfileRecord::default()
    };
    let id = ServiceProfileId::named(namespace, "web.shop.svc.cluster.local");
    Command::PutServiceProfile(id, record.into())
}

fn without_service_profiles() -> Vec<Command> {
    let named = |it| ServiceProfileId::named(it, "web.shop.svc.cluster.local");
    let ids = ["cart", "shop"].map(named);
    ids.map(Command::RemoveServiceProfile).into()
}

#[tokio::test]
async fn the_service_profile_that_counts_for_a_client_is_followed() {
    let served = Served::with(web(&[1])).await;
    let routes = |profile: DestinationProfile| -> Vec<String> {
        let routes = profile.routes.into_iter();
        let names = routes.map(|it| it.metrics_labels["route"].clone());
        names.collect()
    };
    for path in [WEB, "10.96.0.1:80"] {
        let mut client = served.client().await;
        let token = "{\"ns\":\"cart\"}\n";
        let opened = within(client.get_profile(asking(path, token))).await;
        let mut stream = opened.unwrap().into_inner();
        let nothing: [&str; 0] = [];
        assert_eq!(routes(next(&mut stream).await), nothing, "{path}");
        served.board.change(vec![service_profile("shop", "server")]);
        assert_eq!(routes(next(&mut stream).await), ["server"], "{path}");
        served.board.change(vec![service_profile("cart", "client")]);
        assert_eq!(routes(next(&mut stream).await), ["client"], "{path}");
        // What makes no difference to this client is not said.
        served.board.change(vec![service_profile("shop", "other")]);
        served.board.change(without_service_profiles());
        assert_eq!(routes(next(&mut stream).await), nothing, "{path}");
    }
}

fn external_workload(ports: &[u16]) -> Command {
    let id = ExternalWorkloadId::named("shop", "vm-1");
    let workload = ExternalWorkload {
        id: id.clone(),
        owner: None,
        identity: "spiffe://root.example/vm".into(),
        server_name: "vm.example".into(),
        inbound_port: 4143,
        opaque: None,
        opaque_by_server: PortSet::default(),
    };
    let record = ExternalWorkloadRecord {
        workload: workload.into(),
        ips: vec![ip(7)],
        ports: ports.to_vec(),
    };
    Command::PutExternalWorkload(id, record.into())
}

#[tokio::test]
async fn an_external_workload_is_followed_by_its_address() {
    let served = Served::with(vec![settings(), external_workload(&[8080])]).await;
    let mut stream = open_profile(&served, "10.1.0.7:8080").await.unwrap();
    let labels = |profile: DestinationProfile| -> BTreeMap<String, String> {
        let labels = profile.endpoint.unwrap().metric_labels;
        labels.into_iter().collect()
    };
    let described = [
        ("external_workload", "vm-1"),
        ("namespace", "shop"),
        ("zone", ""),
    ];
    let described = described.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let described: BTreeMap<String, String> = described.into();
    assert_eq!(labels(next(&mut stream).await), described);
    served.board.change(vec![external_workload(&[9090])]);
    assert_eq!(labels(next(&mut stream).await), BTreeMap::new());
    served.board.change(vec![external_workload(&[8080])]);
    assert_eq!(labels(next(&mut stream).await), described);
}

#[tokio::test]
async fn services_of_other_clusters_have_no_endpoints_and_a_profile() {
    let Command::PutService(id, record) = service("web") else {
        panic!("not a service");
    };
    let remote = |service: Option<&str>| {
        Some(RemoteDiscovery {
            cluster: "east".into(),
            service: service.map(Into::into),
        })
    };
    let unnamed = format!("Remote discovery service missing remote service name {WEB}");
    let unknown = "Remote cluster not found: east".to_owned();
    let federated =
        "Service web.shop is federated: federated services are not served yet".to_owned();
    for (remote, is_federated, code, text) in [
        (remote(None), false, Code::FailedPrecondition, unnamed),
        (remote(Some("web")), false, Code::NotFound, unknown),
        (remote(None), true, Code::Unavailable, federated),
    ] {
        let record = ServiceRecord {
            remote,
            is_federated,
            ..ServiceRecord::clone(&record)
        };
        let put = Command::PutService(id.clone(), record.into());
        let served = Served::with(vec![settings(), put]).await;
        let status = open_get(&served, WEB).await.unwrap_err();
        assert_eq!((status.code(), status.message()), (code, &*text));
        let mut stream = open_profile(&served, WEB).await.unwrap();
        let name = next(&mut stream).await.fully_qualified_name;
        assert_eq!(name, "web.shop.svc.cluster.local");
    }
}
