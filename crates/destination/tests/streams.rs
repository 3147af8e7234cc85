//! Many streams, slow ones, labelled ones, and how they end.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod board;

use board::{Served, Updates, asking, mesh::*, next, until, within};
use bytes::Bytes;
use linkerd2_proxy_api::destination::{Update, update::Update as Said};
use lockstep_destination::REVISION_FIELD;
use prost::{
    Message,
    encoding::{WireType, decode_key, decode_varint},
};
use tonic::{Code, Request, client::Grpc};

async fn open(served: &Served) -> Updates {
    let mut client = served.client().await;
    let opened = within(client.get(asking(WEB, ""))).await.unwrap();
    opened.into_inner()
}

fn added(update: Update) -> usize {
    match update.update {
        Some(Said::Add(set)) => set.addrs.len(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_drain_ends_streams_with_ok_and_refuses_new_ones() {
    let served = Served::with(web(&[1])).await;
    let mut stream = open(&served).await;
    assert_eq!(added(next(&mut stream).await), 1);
    served.drain();
    assert_eq!(within(stream.message()).await.unwrap(), None);
    let mut client = served.client().await;
    let status = within(client.get(asking(WEB, ""))).await.unwrap_err();
    assert_eq!(
        (status.code(), status.message()),
        (Code::Unavailable, "this replica drains")
    );
}

#[tokio::test]
async fn a_stream_of_a_replica_that_stops_is_unavailable() {
    let served = Served::with(web(&[1])).await;
    let mut stream = open(&served).await;
    assert_eq!(added(next(&mut stream).await), 1);
    served.board.close();
    let status = within(stream.message()).await.unwrap_err();
    assert_eq!(
        (status.code(), status.message()),
        (Code::Unavailable, "the replica stops")
    );
}

#[tokio::test]
async fn a_stream_that_its_client_drops_is_forgotten() {
    let served = Served::with(web(&[1])).await;
    let mut stream = open(&served).await;
    assert_eq!(added(next(&mut stream).await), 1);
    assert_eq!(served.board.watchers(), 1);
    drop(stream);
    until(|| served.board.watchers() == 0).await;
    let open = "lockstep_destination_streams{method=\"Get\"} 0";
    assert!(served.metrics().lines().any(|line| line == open));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_streams_of_one_connection_all_hear() {
    let served = Served::with(web(&[1])).await;
    let client = served.client().await;
    let mut streams = Vec::new();
    for _ in 0..1_000 {
        let opened = within(client.clone().get(asking(WEB, ""))).await.unwrap();
        streams.push(opened.into_inner());
    }
    served.board.change(vec![slice("web", &[1, 2, 3])]);
    for stream in &mut streams {
        assert_eq!(added(next(stream).await), 1);
        assert_eq!(added(next(stream).await), 2);
    }
}

/// A client that does not read holds back its own stream only, and what waits
/// for it does not grow with what it misses: it is told the newest.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_read_holds_back_nobody_else() {
    let numbers: Vec<u32> = (1..=1_000).collect();
    let served = Served::with(web(&numbers)).await;
    let mut slow = open(&served).await;
    let mut quick = open(&served).await;
    assert_eq!(added(next(&mut quick).await), 1_000);
    let rounds = 50;
    for round in 1..=rounds {
        let next_numbers: Vec<u32> = numbers.iter().map(|it| it + 1_000 * round).collect();
        served.board.change(vec![slice("web", &next_numbers)]);
        assert_eq!(added(next(&mut quick).await), 1_000);
        let removed = next(&mut quick).await.update;
        assert!(matches!(removed, Some(Said::Remove(gone)) if gone.addrs.len() == 1_000));
    }
    let last = number_of_first(&numbers) + 1_000 * rounds;
    let mut messages = 0;
    loop {
        messages += 1;
        if let Some(Said::Add(set)) = next(&mut slow).await.update {
            let ip = set.addrs[0].addr.unwrap().ip.unwrap().ip.unwrap();
            if ip == linkerd2_proxy_api::net::ip_address::Ip::Ipv4(0x0a01_0000 + last) {
                break;
            }
        }
    }
    assert!(messages < rounds, "{messages} messages: they were queued");
}

fn number_of_first(numbers: &[u32]) -> u32 {
    numbers.first().copied().unwrap()
}

/// Messages as bytes, so that fields unknown to the stubs can be seen.
#[derive(Clone, Default)]
struct Raw;

impl tonic::codec::Codec for Raw {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl tonic::codec::Encoder for Raw {
    type Item = Bytes;
    type Error = tonic::Status;

    fn encode(
        &mut self,
        item: Bytes,
        buffer: &mut tonic::codec::EncodeBuf<'_>,
    ) -> Result<(), tonic::Status> {
        bytes::BufMut::put(buffer, item);
        Ok(())
    }
}

impl tonic::codec::Decoder for Raw {
    type Item = Bytes;
    type Error = tonic::Status;

    fn decode(
        &mut self,
        buffer: &mut tonic::codec::DecodeBuf<'_>,
    ) -> Result<Option<Bytes>, tonic::Status> {
        let length = bytes::Buf::remaining(buffer);
        Ok(Some(bytes::Buf::copy_to_bytes(buffer, length)))
    }
}

/// The message, and the revision after it if it has one.
fn labelled(message: &Bytes) -> (Update, Option<u64>) {
    let update = Update::decode(message.clone()).unwrap();
    let mut rest = message.slice(update.encoded_len()..);
    if rest.is_empty() {
        return (update, None);
    }
    let key = decode_key(&mut rest).unwrap();
    assert_eq!(key, (REVISION_FIELD, WireType::Varint));
    let revision = decode_varint(&mut rest).unwrap();
    assert!(rest.is_empty());
    (update, Some(revision))
}

#[tokio::test]
async fn messages_say_their_revision_to_who_asks() {
    let served = Served::with(web(&[1])).await;
    for (value, revisions) in [("on", [Some(1), Some(3)]), ("off", [None, None])] {
        let served = if value == "on" {
            &served
        } else {
            &Served::with(web(&[1])).await
        };
        let mut grpc = Grpc::new(served.channel().await);
        grpc.ready().await.unwrap();
        let mut request = Request::new(Bytes::from(asking(WEB, "").encode_to_vec()));
        let metadata = request.metadata_mut();
        metadata.insert("lockstep-labels", value.parse().unwrap());
        let path = "/io.linkerd.proxy.destination.Destination/Get";
        let path = http::uri::PathAndQuery::from_static(path);
        let opened = within(grpc.server_streaming(request, path, Raw))
            .await
            .unwrap();
        let mut stream = opened.into_inner();
        let (first, revision) = labelled(&next(&mut stream).await);
        assert_eq!((added(first), revision), (1, revisions[0]));
        // A revision that changes nothing for this stream makes no message.
        served.board.change(vec![service("cart")]);
        served.board.change(vec![slice("web", &[1, 2])]);
        let (second, revision) = labelled(&next(&mut stream).await);
        assert_eq!((added(second), revision), (1, revisions[1]));
    }
}
