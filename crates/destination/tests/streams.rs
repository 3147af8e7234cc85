//! Many streams, slow ones, labelled ones, and how they end.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod web;

use bytes::Bytes;
use linkerd2_proxy_api::destination::{DestinationProfile, Update, update::Update as Said};
use lockstep_contract::{
    fold::Folded,
    serve::{Served, Updates, asking, next, until, within},
};
use lockstep_destination::REVISION_FIELD;
use lockstep_model::SliceId;
use lockstep_resolution::{Admission, Claim, Ending, Freshness};
use lockstep_state::Command;
use prost::{
    Message,
    encoding::{WireType, decode_key, decode_varint},
};
use std::{collections::BTreeSet, net::SocketAddr, sync::Arc, time::Duration};
use tonic::{Code, Request, client::Grpc};
use web::*;

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
async fn a_replica_that_lets_a_stream_go_ends_it_with_ok_behind_its_last_message() {
    let served = Served::with(web(&[1])).await;
    let mut stream = open(&served).await;
    served.board.end_streams(Ending::Gentle);
    // What it had begun to say is said, though the word came before it was read.
    assert_eq!(added(next(&mut stream).await), 1);
    assert_eq!(within(stream.message()).await.unwrap(), None);
}

#[tokio::test]
async fn a_replica_in_doubt_of_itself_ends_its_streams_as_unavailable() {
    let served = Served::with(web(&[1])).await;
    let mut stream = open(&served).await;
    assert_eq!(added(next(&mut stream).await), 1);
    served
        .board
        .end_streams(Ending::AtOnce("its state is wrong"));
    served.board.change(vec![slice("web", &[1, 2])]);
    let status = within(stream.message()).await.unwrap_err();
    let expected = (Code::Unavailable, "its state is wrong");
    assert_eq!((status.code(), status.message()), expected);
}

#[tokio::test]
async fn a_replica_that_takes_no_streams_says_why_and_when_to_ask_again() {
    let served = Served::with(web(&[1])).await;
    let mut open = open(&served).await;
    served.board.set_claim(Claim {
        copy: Freshness::Stale,
        source: Freshness::Fresh,
        age: Some(Duration::from_secs(9)),
        admission: Admission::Closed("another one is fresh"),
    });
    let mut client = served.client().await;
    let status = within(client.get(asking(WEB, ""))).await.unwrap_err();
    let expected = (Code::Unavailable, "another one is fresh");
    assert_eq!((status.code(), status.message()), expected);
    let header = |name| status.metadata().get(name).unwrap().to_str().unwrap();
    assert_eq!(header("grpc-retry-pushback-ms"), "1000");
    assert_eq!(header("lockstep-stale"), "true");
    assert_eq!(header("lockstep-age-ms"), "9000");
    // Those that are open go on.
    assert_eq!(added(next(&mut open).await), 1);
    served.board.change(vec![slice("web", &[1, 2])]);
    assert_eq!(added(next(&mut open).await), 1);
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

/// Replaces all of a thousand endpoints as many times, each time heard by `quick`.
async fn replace_all(served: &Served, quick: &mut Updates, numbers: &[u32], rounds: u32) {
    for round in 1..=rounds {
        let next_numbers: Vec<u32> = numbers.iter().map(|it| it + 1_000 * round).collect();
        served.board.change(vec![slice("web", &next_numbers)]);
        assert_eq!(added(next(quick).await), 1_000);
        let removed = next(quick).await.update;
        assert!(matches!(removed, Some(Said::Remove(gone)) if gone.addrs.len() == 1_000));
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
    replace_all(&served, &mut quick, &numbers, rounds).await;
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

/// `web-1` at one address, with a service account that makes for a large message.
fn large_pod(round: u32) -> Command {
    let Command::PutPod(id, record) = pod(1, 1) else {
        panic!("a pod is put");
    };
    let mut record = Arc::unwrap_or_clone(record);
    let mut workload = Arc::unwrap_or_clone(record.workload);
    workload.service_account = account(round).into();
    record.workload = Arc::new(workload);
    Command::PutPod(id, Arc::new(record))
}

fn account(round: u32) -> String {
    format!("{round}{}", "-".repeat(100_000))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_profile_that_nobody_reads_is_not_queued() {
    let served = Served::with(vec![settings(), large_pod(0)]).await;
    let mut streams = Vec::new();
    for _ in 0..2 {
        let mut client = served.client().await;
        let opened = client.get_profile(asking("10.1.0.1:8080", ""));
        streams.push(within(opened).await.unwrap().into_inner());
    }
    let (mut slow, mut quick) = (streams.remove(0), streams.remove(0));
    let said = |profile: DestinationProfile| {
        let labels = profile.endpoint.unwrap().metric_labels;
        labels.get("serviceaccount").cloned().unwrap()
    };
    let rounds = 101;
    for round in 1..=rounds {
        assert_eq!(said(next(&mut quick).await), account(round - 1));
        served.board.change(vec![large_pod(round)]);
    }
    let mut messages = 1;
    while said(next(&mut slow).await) != account(rounds) {
        messages += 1;
    }
    assert!(messages < rounds, "{messages} messages: they were queued");
    served.board.change(vec![large_pod(0)]);
    assert_eq!(said(next(&mut slow).await), account(0));
}

fn slice_of_web(number: u32) -> (SliceId, Command) {
    let Command::PutSlice(_, record) = slice("web", &[number]) else {
        panic!("a slice is put");
    };
    let id = SliceId::named("shop", &format!("web-{number}"));
    (id.clone(), Command::PutSlice(id, record))
}

/// Ten threads add and remove one address each and leave it added at last; who listens
/// meanwhile ends up with all of them and is told no nonsense on the way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_from_many_threads_leave_what_is_true() {
    let served = Served::with(vec![settings(), service("web")]).await;
    let mut stream = open(&served).await;
    let threads: Vec<_> = (1..=10)
        .map(|number| {
            let board = served.board.clone();
            tokio::task::spawn_blocking(move || {
                let (id, put) = slice_of_web(number);
                for _ in 0..20 {
                    board.change(vec![put.clone()]);
                    board.change(vec![Command::RemoveSlice(id.clone())]);
                }
                board.change(vec![put]);
            })
        })
        .collect();
    let board = served.board.clone();
    tokio::spawn(async move {
        for thread in threads {
            thread.await.unwrap();
        }
        board.change(vec![slice_of_web(11).1]);
    });
    let at = |number| SocketAddr::new(ip(number), 8080);
    let mut folded = Folded::default();
    while !folded.set().is_some_and(|set| set.contains_key(&at(11))) {
        folded.take(&next(&mut stream).await);
    }
    let held: BTreeSet<SocketAddr> = folded.set().unwrap().keys().copied().collect();
    assert_eq!(held, (1..=11).map(at).collect());
    assert_eq!(folded.violations(), []);
}

/// The others' streams end at once; its own does when it reads on, with nothing after the end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drain_waits_for_no_client_that_does_not_read() {
    let numbers: Vec<u32> = (1..=1_000).collect();
    let served = Served::with(web(&numbers)).await;
    let mut slow = open(&served).await;
    let mut quick = open(&served).await;
    assert_eq!(added(next(&mut quick).await), 1_000);
    let rounds = 50;
    replace_all(&served, &mut quick, &numbers, rounds).await;
    served.drain();
    assert_eq!(within(quick.message()).await.unwrap(), None);
    served.board.change(vec![slice("web", &[1])]);
    let mut messages = 0;
    while let Some(update) = within(slow.message()).await.unwrap() {
        messages += 1;
        let added = matches!(update.update, Some(Said::Add(set)) if set.addrs.len() == 1);
        assert!(!added, "sent after the end");
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
