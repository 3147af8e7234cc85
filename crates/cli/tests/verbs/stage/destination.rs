//! A destination service that plays back a script, with labels for those who ask for them.

use linkerd2_proxy_api::destination::update::Update as Kind;
use linkerd2_proxy_api::destination::{
    AddrSet, GetDestination, NoEndpoints, TlsIdentity, Update, WeightedAddr, WeightedAddrSet,
    tls_identity,
};
use linkerd2_proxy_api::net::TcpAddress;
use prost::Message;
use prost::bytes::BufMut;
use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio_stream::{Stream, StreamExt};
use tonic::body::Body;
use tonic::codec::{Codec, EncodeBuf, Encoder};
use tonic::codegen::{Service, http};
use tonic::server::{Grpc, NamedService, ServerStreamingService};
use tonic::{Request, Response, Status};
use tonic_prost::ProstDecoder;

use super::Shared;

/// One thing that happens on a stream; without an end it stays open.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    /// A message, with the revision for clients that ask for labels.
    Say(Option<u64>, Vec<u8>),
    End(Status),
}

impl Step {
    pub(crate) fn say(revision: u64, message: &impl Message) -> Self {
        Self::Say(Some(revision), message.encode_to_vec())
    }
}

/// One call, played from its first step.
pub(crate) type Call = Vec<Step>;

/// The service. Calls for an unknown authority are answered with `NotFound`.
#[derive(Clone, Default)]
pub(crate) struct Destination {
    labels: Vec<(&'static str, String)>,
    calls: Shared<BTreeMap<String, VecDeque<Call>>>,
}

impl Destination {
    /// Says who it is and where in history, in the headers of every answer.
    pub(crate) fn labelled(number: u64, revision: u64) -> Self {
        let labels = vec![
            ("lockstep-replica", format!("{number:016x}")),
            ("lockstep-name", format!("replica-{number}")),
            ("lockstep-history", format!("{:032x}", 1)),
            ("lockstep-revision", revision.to_string()),
            ("lockstep-digest", format!("{revision:012x}{:020x}", 0)),
            ("lockstep-stale", "false".to_owned()),
        ];
        Self {
            labels,
            ..Self::default()
        }
    }

    pub(crate) fn with_label(mut self, header: &'static str, value: &str) -> Self {
        self.labels.retain(|(known, _)| *known != header);
        self.labels.push((header, value.to_owned()));
        self
    }

    /// Plays one call for each question about `authority`; the last for all that follow.
    pub(crate) fn with(self, authority: &str, calls: &[Call]) -> Self {
        self.calls
            .lock()
            .unwrap()
            .insert(authority.to_owned(), calls.iter().cloned().collect());
        self
    }

    fn next_call(&self, authority: &str) -> Option<Call> {
        let mut calls = self.calls.lock().unwrap();
        let calls = calls.get_mut(authority)?;
        if calls.len() > 1 {
            calls.pop_front()
        } else {
            calls.front().cloned()
        }
    }
}

/// Endpoints of service web in zone a.
pub(crate) fn set(addresses: &[&str]) -> Update {
    let addrs = addresses.iter().enumerate().map(|(number, address)| {
        let labels = [("zone", "a".to_owned()), ("pod", format!("web-{number}"))];
        let name = "default.shop.serviceaccount.identity.linkerd.cluster.local".to_owned();
        let dns = tls_identity::DnsLikeIdentity { name };
        WeightedAddr {
            addr: Some(tcp(address)),
            weight: 10_000,
            metric_labels: labels.map(|(key, value)| (key.to_owned(), value)).into(),
            tls_identity: Some(TlsIdentity {
                strategy: Some(tls_identity::Strategy::DnsLikeIdentity(dns)),
                server_name: None,
            }),
            ..WeightedAddr::default()
        }
    });
    let of_set = [("namespace", "shop"), ("service", "web")];
    let of_set = of_set.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let set = WeightedAddrSet {
        addrs: addrs.collect(),
        metric_labels: of_set.into(),
    };
    Update {
        update: Some(Kind::Add(set)),
    }
}

pub(crate) fn removed(addresses: &[&str]) -> Update {
    let addrs = addresses.iter().map(|address| tcp(address)).collect();
    Update {
        update: Some(Kind::Remove(AddrSet { addrs })),
    }
}

pub(crate) fn no_endpoints(exists: bool) -> Update {
    Update {
        update: Some(Kind::NoEndpoints(NoEndpoints { exists })),
    }
}

fn tcp(address: &str) -> TcpAddress {
    let address: SocketAddr = address.parse().unwrap();
    TcpAddress {
        ip: Some(address.ip().into()),
        port: address.port().into(),
    }
}

/// Messages that are bytes already.
#[derive(Default)]
struct RawCodec;

struct RawEncoder;

impl Codec for RawCodec {
    type Encode = Vec<u8>;
    type Decode = GetDestination;
    type Encoder = RawEncoder;
    type Decoder = ProstDecoder<GetDestination>;

    fn encoder(&mut self) -> RawEncoder {
        RawEncoder
    }

    fn decoder(&mut self) -> ProstDecoder<GetDestination> {
        ProstDecoder::default()
    }
}

impl Encoder for RawEncoder {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, item: Vec<u8>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put_slice(&item);
        Ok(())
    }
}

type Played = Pin<Box<dyn Stream<Item = Result<Vec<u8>, Status>> + Send>>;
type Pending<T> = Pin<Box<dyn Future<Output = T> + Send>>;

impl ServerStreamingService<GetDestination> for Destination {
    type Response = Vec<u8>;
    type ResponseStream = Played;
    type Future = Pending<Result<Response<Played>, Status>>;

    fn call(&mut self, request: Request<GetDestination>) -> Self::Future {
        let wants_labels = request.metadata().get("lockstep-labels").is_some();
        let played = self
            .next_call(&request.get_ref().path)
            .map(|call| play(call, wants_labels));
        let played = played.ok_or_else(|| Status::not_found("no such service in this script"));
        let labels = self.labels.clone();
        Box::pin(async move {
            let mut response = Response::new(played?);
            for (header, value) in labels {
                response
                    .metadata_mut()
                    .insert(header, value.parse().unwrap());
            }
            Ok(response)
        })
    }
}

fn play(call: Call, wants_labels: bool) -> Played {
    let steps = tokio_stream::iter(call).map(move |step| match step {
        Step::Say(Some(revision), bytes) if wants_labels => Ok(with_revision(bytes, revision)),
        Step::Say(_, bytes) => Ok(bytes),
        Step::End(status) => Err(status),
    });
    Box::pin(steps.chain(tokio_stream::pending()))
}

/// Adds field 1000, a varint.
fn with_revision(mut bytes: Vec<u8>, revision: u64) -> Vec<u8> {
    prost::encoding::uint64::encode(1000, &revision, &mut bytes);
    bytes
}

impl NamedService for Destination {
    const NAME: &'static str = "io.linkerd.proxy.destination.Destination";
}

impl Service<http::Request<Body>> for Destination {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pending<Result<http::Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(Grpc::new(RawCodec).server_streaming(service, request).await) })
    }
}
