//! A destination server without sockets: one state, and questions that are answered at once.

use bytes::Bytes;
use futures::{FutureExt, future::BoxFuture, stream};
use http_body_util::{BodyExt, Full};
use lockstep_destination::{DestinationService, Metrics, service};
use lockstep_position::ReplicaId;
use lockstep_resolution::{
    About, Admission, Barrier, Claim, Ending, Freshness, Topic, View, Wakes,
};
use lockstep_state::{Content, State};
use prometheus_client::registry::Registry;
use prost::Message;
use std::{collections::BTreeSet, future::pending, net::IpAddr, net::SocketAddr, sync::Arc};
use tower::Service;

/// How many of each sort of question are asked of one state.
const QUESTIONS_MAX: usize = 6;
/// The most messages that one question is answered with before its stream is quiet.
const MESSAGES_MAX: usize = 1000;
/// A message follows one byte of compression and four of length.
const FRAME_HEAD_BYTES: usize = 5;

/// The message of both methods, `io.linkerd.proxy.destination.GetDestination`.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct Asked {
    #[prost(string, tag = "1")]
    pub(crate) scheme: String,
    #[prost(string, tag = "2")]
    pub(crate) path: String,
    #[prost(string, tag = "3")]
    pub(crate) context_token: String,
}

/// The methods of the service.
#[derive(Copy, Clone, Debug)]
pub(crate) enum Method {
    Get,
    GetProfile,
}

/// A server of one state.
pub(crate) struct Server(DestinationService<Board>);

struct Board(Arc<State>);

impl View for Board {
    fn newest(&self) -> Arc<State> {
        self.0.clone()
    }

    fn subscribe(&self, _: Vec<Topic>) -> Wakes {
        Wakes::new(stream::pending())
    }

    fn barrier(&self) -> BoxFuture<'_, Barrier> {
        async { Barrier::Passed }.boxed()
    }

    fn claim(&self) -> Claim {
        Claim {
            copy: Freshness::Fresh,
            source: Freshness::Fresh,
            age: None,
            admission: Admission::Open,
        }
    }

    fn ending(&self) -> BoxFuture<'static, Ending> {
        pending().boxed()
    }

    fn about(&self) -> About {
        About {
            replica: ReplicaId::from_u64(7),
            name: "lockstep-0".into(),
        }
    }
}

impl Server {
    pub(crate) fn of(state: State) -> Self {
        let metrics = Metrics::registered(&mut Registry::default());
        Self(service(
            Arc::new(Board(Arc::new(state))),
            metrics,
            pending(),
        ))
    }

    /// Asks, reads what comes without waiting, and gives back the status, if there is one.
    ///
    /// # Panics
    ///
    /// The answer is not there at once, or is not made of whole messages.
    pub(crate) fn ask(&mut self, method: Method, body: Bytes, labels: &'static str) -> Option<i32> {
        let mut request = http::Request::new(Full::new(body));
        *request.uri_mut() = http::Uri::from_static(match method {
            Method::Get => "/io.linkerd.proxy.destination.Destination/Get",
            Method::GetProfile => "/io.linkerd.proxy.destination.Destination/GetProfile",
        });
        let label = http::HeaderValue::from_static(labels);
        request.headers_mut().insert("lockstep-labels", label);
        let response = self.0.call(request).now_or_never();
        assert!(response.is_some(), "the answer waits for something");
        let (head, mut body) = response?
            .unwrap_or_else(|never| match never {})
            .into_parts();
        let mut status = status_of(&head.headers);
        for message in 0.. {
            assert!(message < MESSAGES_MAX, "the answer does not end");
            let Some(Some(Ok(frame))) = body.frame().now_or_never() else {
                break;
            };
            status = status.or_else(|| frame.trailers_ref().and_then(status_of));
            if let Some(data) = frame.data_ref() {
                assert!(is_whole(data), "a torn message");
            }
        }
        status
    }
}

/// Asks about the names and addresses of a state. Nothing in it may be unanswerable.
pub(crate) fn ask_everything(state: &State) {
    let content = state.content();
    let nodes = content.nodes().map(|(node, _)| node.to_string());
    let token = |node: String| serde_json::json!({ "ns": "shop", "nodeName": node }).to_string();
    let tokens: Vec<String> = nodes
        .take(1)
        .map(token)
        .chain(["ns:web".to_owned()])
        .collect();
    let mut server = Server::of(state.clone());
    for path in names(content) {
        for token in &tokens {
            asked(&mut server, Method::Get, &path, token);
            asked(&mut server, Method::GetProfile, &path, token);
        }
    }
    for path in addresses(content) {
        asked(&mut server, Method::GetProfile, &path, "");
    }
}

fn asked(server: &mut Server, method: Method, path: &str, token: &str) {
    let asked = Asked {
        scheme: "k8s".to_owned(),
        path: path.to_owned(),
        context_token: token.to_owned(),
    };
    let status = server.ask(method, framed(&asked.encode_to_vec()), "on");
    assert!(is_meant(status), "{method:?} {path}: status {status:?}");
}

/// Services, on their ports and on one that none declares, and a few instances.
fn names(content: &Content) -> BTreeSet<String> {
    let domain = content
        .settings()
        .map_or("", |it| it.cluster_domain.as_ref());
    let mut names = BTreeSet::new();
    for (id, service) in content.services().take(QUESTIONS_MAX) {
        let host = format!("{}.{}.svc.{domain}", id.name, id.namespace);
        let ports = service.ports.iter().map(|it| it.port).take(QUESTIONS_MAX);
        names.extend(ports.chain([4321]).map(|port| format!("{host}:{port}")));
        let endpoints = content.slices_of(id).flat_map(|it| &it.endpoints);
        let hostnames = endpoints.filter_map(|it| it.hostname.as_ref());
        names.extend(hostnames.take(2).map(|it| format!("{it}.{host}:80")));
    }
    names
}

/// Addresses of services, pods, endpoints and external workloads, and one of nobody.
fn addresses(content: &Content) -> BTreeSet<String> {
    let services = content.services().flat_map(|(_, it)| &it.cluster_ips);
    let pods = content.pods().flat_map(|(_, it)| &it.addresses.ips);
    let endpoints = content.slices().flat_map(|(_, it)| &it.endpoints);
    let endpoints = endpoints.map(|it| &it.ip);
    let nobody = IpAddr::from([192, 0, 2, 1]);
    let some = services.take(QUESTIONS_MAX).chain(pods.take(QUESTIONS_MAX));
    let some = some
        .chain(endpoints.take(QUESTIONS_MAX))
        .copied()
        .chain([nobody]);
    let ports = [80, 4143, 8080];
    some.flat_map(|ip| ports.map(|port| SocketAddr::new(ip, port).to_string()))
        .collect()
}

/// A message as it travels.
pub(crate) fn framed(message: &[u8]) -> Bytes {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    [&[0], &length.to_be_bytes()[..], message].concat().into()
}

/// Whether a status is one that the service gives on purpose: neither `Unknown` nor `Internal`.
pub(crate) fn is_meant(status: Option<i32>) -> bool {
    !matches!(status, Some(2 | 13))
}

fn is_whole(frame: &[u8]) -> bool {
    frame.split_first_chunk::<FRAME_HEAD_BYTES>().is_some_and(
        |([compressed, length @ ..], message)| {
            let length = usize::try_from(u32::from_be_bytes(*length)).ok();
            *compressed == 0 && length == Some(message.len())
        },
    )
}

fn status_of(headers: &http::HeaderMap) -> Option<i32> {
    headers.get("grpc-status")?.to_str().ok()?.parse().ok()
}
