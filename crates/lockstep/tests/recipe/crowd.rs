//! O1 and O2, as far as they hold: one client stops reading, and many streams of one identity;
//! and a service that is as large as any.
//!
//! A stream that does not read is not ended yet, whatever it misses, and what one identity may
//! use has no limit yet; see `docs/field-reports.md`.

use futures::future::try_join_all;
use linkerd2_proxy_api::destination::destination_client::DestinationClient;
use tonic::transport::{Channel, Endpoint};

use super::{
    listener::{Listener, Said},
    wired::{Wired, at, path, put_nth_slice, put_service, put_slice},
};
use crate::harness::{eventually, proxy::ask, status};

const ENDPOINTS: u16 = 100;
const CLIENTS: usize = 200;
const CHANGES: u16 = 20;

/// Less than one message about so many endpoints.
const SMALL_WINDOW: u32 = 1 << 10;

const SLICES: u16 = 50;

const SERVICES: u16 = 250;
const STREAMS: usize = 5_000;

/// Opened at once; the others follow.
const BURST: usize = 500;

/// Of another client, while the many are being opened.
const FEW: usize = 10;

/// The service after a change: one endpoint is another one.
fn endpoints(change: u16) -> Vec<u16> {
    (change + 1..=change + ENDPOINTS).collect()
}

fn endpoint_of(wired: &Wired, place: usize) -> Endpoint {
    let address = wired.fleet.proxies()[place];
    Channel::from_shared(format!("http://{address}")).unwrap()
}

async fn listen(channel: &Channel, service: &str) -> Listener {
    let mut listener = Listener::new(channel, &path(service), "");
    listener.open().await.unwrap();
    listener
}

/// One of 200 clients does not read; the others hear every change, and it is given all of the
/// newest state when it returns.
pub async fn a_client_that_stops_reading_delays_no_other_and_returns_to_the_newest() {
    let wired = Wired::start(&[], |sim| {
        put_service(sim, "alpha");
        put_slice(sim, "alpha", &endpoints(0));
    })
    .await;
    wired.settled(&[0, 1, 2]).await;
    let leads = wired.leader_of(&[0, 1, 2]).await;
    let mut deaf = Vec::new();
    let mut others = Vec::new();
    for place in [leads, (leads + 1) % 3] {
        let small = endpoint_of(&wired, place).initial_stream_window_size(SMALL_WINDOW);
        let channel = small.connect().await.unwrap();
        let mut client = DestinationClient::new(channel);
        deaf.push(client.get(ask(&path("alpha"))).await.unwrap().into_inner());
        let channel = wired.client(place).await;
        for _ in 1..CLIENTS {
            others.push(listen(&channel, "alpha").await);
        }
    }
    for change in 1..=CHANGES {
        put_slice(wired.sim(), "alpha", &endpoints(change));
        // All of them read: those that do not would take the window of their connection.
        for listener in &mut others {
            while listener.addresses() != Some(at(&endpoints(change))) {
                listener.next().await;
            }
        }
    }
    for (mut updates, place) in deaf.into_iter().zip([leads, (leads + 1) % 3]) {
        // It is at its first message still, which is of the state when it asked.
        let first = updates.message().await.unwrap().unwrap();
        assert_eq!(Said::from(&first), Said::Added(at(&endpoints(0))));
        // What waits for it is one step to the newest state, not twenty.
        let mut messages = 0;
        let mut held = at(&endpoints(0));
        while held != at(&endpoints(CHANGES)) {
            messages += 1;
            match Said::from(&updates.message().await.unwrap().unwrap()) {
                Said::Added(new) => held.extend(new),
                Said::Removed(gone) => held.retain(|address| !gone.contains(address)),
                other @ (Said::Empty { .. } | Said::Nothing) => panic!("{other:?}"),
            }
        }
        assert!(messages <= 4, "{messages} messages were queued");
        drop(updates);
        let mut returned = listen(&wired.client(place).await, "alpha").await;
        let whole = Said::Added(at(&endpoints(CHANGES)));
        assert_eq!(Said::from(&returned.next().await), whole);
    }
}

/// More endpoints than an Endpoints object may have, in 50 slices: all are told, and at once.
pub async fn five_thousand_endpoints_in_fifty_slices_are_told_whole() {
    let numbers =
        |nth: u16| -> Vec<u16> { (nth * ENDPOINTS + 1..=(nth + 1) * ENDPOINTS).collect() };
    let wired = Wired::start(&[], |sim| {
        put_service(sim, "alpha");
        for nth in 0..SLICES {
            put_nth_slice(sim, "alpha", nth, &numbers(nth));
        }
    })
    .await;
    wired.settled(&[0, 1, 2]).await;
    let all: Vec<u16> = (0..SLICES).flat_map(numbers).collect();
    for place in 0..3 {
        let mut listener = listen(&wired.client(place).await, "alpha").await;
        assert_eq!(Said::from(&listener.next().await), Said::Added(at(&all)));
    }
}

/// 5,000 streams of one client over one connection, 500 of them at once, and meanwhile a few of
/// another client: all get their first message, and those that were open stay open.
pub async fn five_thousand_streams_of_one_connection_and_a_few_of_another_all_hear() {
    let name = |number: u16| format!("service-{number}");
    let wired = Wired::start(&[], |sim| {
        for number in 1..=SERVICES {
            put_service(sim, &name(number));
            put_slice(sim, &name(number), &[number]);
        }
    })
    .await;
    wired.settled(&[0, 1, 2]).await;
    let leads = wired.leader_of(&[0, 1, 2]).await;
    for place in [leads, (leads + 1) % 3] {
        let service_of = |stream: usize| u16::try_from(stream % usize::from(SERVICES)).unwrap() + 1;
        let open = async |channel: Channel, stream: usize| {
            let service = service_of(stream);
            let mut listener = listen(&channel, &name(service)).await;
            let first = Said::from(&listener.next().await);
            assert_eq!(first, Said::Added(at(&[service])));
            Ok::<_, std::convert::Infallible>(listener)
        };
        let one = wired.client(place).await;
        let many = async {
            let mut streams = Vec::new();
            for burst in 0..STREAMS / BURST {
                let burst = (burst * BURST..(burst + 1) * BURST).map(|it| open(one.clone(), it));
                streams.extend(try_join_all(burst).await.unwrap());
            }
            streams
        };
        let other = wired.client(place).await;
        let few = try_join_all((0..FEW).map(|stream| open(other.clone(), stream)));
        let (mut many, few) = tokio::join!(many, few);
        assert_eq!((many.len(), few.unwrap().len()), (STREAMS, FEW));
        // They live: each hears the next change of its service.
        let number = 1000 + u16::try_from(place).unwrap();
        put_slice(wired.sim(), &name(1), &[1, number]);
        for listener in many.iter_mut().step_by(usize::from(SERVICES)) {
            assert_eq!(
                Said::from(&listener.next().await),
                Said::Added(at(&[number]))
            );
        }
        drop(many);
        put_slice(wired.sim(), &name(1), &[1]);
        eventually("no stream that nobody has", async || {
            let streams = status(wired.fleet.admins()[place]).await?.streams;
            let open = streams.map_or(0, |streams| streams.get);
            (open == 0).then_some(()).ok_or(open.to_string())
        })
        .await;
        wired.settled(&[0, 1, 2]).await;
    }
}
