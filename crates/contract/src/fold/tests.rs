use super::*;
use linkerd2_proxy_api::destination::{AddrSet, NoEndpoints, WeightedAddrSet};
use serde_json::json;

fn at(number: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, number], 80))
}

fn endpoint(number: u8, weight: u32) -> WeightedAddr {
    WeightedAddr {
        addr: Some(at(number).into()),
        weight,
        ..WeightedAddr::default()
    }
}

fn add(endpoints: &[(u8, u32)]) -> Update {
    let endpoints = endpoints.iter();
    message(update::Update::Add(WeightedAddrSet {
        addrs: endpoints
            .map(|(number, weight)| endpoint(*number, *weight))
            .collect(),
        metric_labels: [("service".to_owned(), "web".to_owned())].into(),
    }))
}

fn remove(numbers: &[u8]) -> Update {
    let addrs = numbers.iter().map(|number| at(*number).into()).collect();
    message(update::Update::Remove(AddrSet { addrs }))
}

fn none() -> Update {
    message(update::Update::NoEndpoints(NoEndpoints { exists: true }))
}

fn message(update: update::Update) -> Update {
    Update {
        update: Some(update),
    }
}

/// What is held after these messages, as number and weight, and what was wrong with them.
fn folded(updates: &[Update]) -> (Option<Vec<(u8, u32)>>, Vec<Violation>) {
    let mut folded = Folded::default();
    updates.iter().for_each(|update| folded.take(update));
    (short(&folded), folded.violations().to_vec())
}

fn short(folded: &Folded) -> Option<Vec<(u8, u32)>> {
    let short = |(address, held): (&SocketAddr, &Held)| match address.ip() {
        std::net::IpAddr::V4(ip) => (ip.octets()[3], held.endpoint.weight),
        std::net::IpAddr::V6(ip) => panic!("{ip}"),
    };
    folded.set().map(|set| set.iter().map(short).collect())
}

#[test]
fn a_good_stream_is_folded_without_complaint() {
    for (updates, held) in [
        (vec![], None),
        (vec![none()], Some(vec![])),
        (vec![add(&[(1, 1), (2, 1)])], Some(vec![(1, 1), (2, 1)])),
        (vec![add(&[(1, 1)]), add(&[(1, 2)])], Some(vec![(1, 2)])),
        (
            vec![add(&[(1, 1)]), add(&[(2, 1)]), remove(&[1])],
            Some(vec![(2, 1)]),
        ),
        (
            vec![add(&[(1, 1)]), none(), add(&[(2, 1)])],
            Some(vec![(2, 1)]),
        ),
        (vec![none(), add(&[(2, 1)]), remove(&[2])], Some(vec![])),
    ] {
        assert_eq!(folded(&updates), (held, vec![]));
    }
}

#[test]
fn what_a_good_server_never_sends_is_noted() {
    use Violation::{
        AddedTwice, ChangesNothing, EmptyAdd, EmptyRemove, LeadingRemove, NoUpdate, RemovedUnheld,
    };
    let one = || Some(vec![(1, 1)]);
    for (updates, held, violations) in [
        (vec![add(&[])], None, vec![EmptyAdd]),
        (vec![remove(&[1])], None, vec![LeadingRemove]),
        (vec![remove(&[])], None, vec![EmptyRemove]),
        (vec![Update { update: None }], None, vec![NoUpdate]),
        (
            vec![add(&[(1, 1)]), add(&[(1, 1)])],
            one(),
            vec![ChangesNothing],
        ),
        (vec![none(), none()], Some(vec![]), vec![ChangesNothing]),
        (
            vec![add(&[(1, 1)]), remove(&[2])],
            one(),
            vec![RemovedUnheld(at(2))],
        ),
        (vec![add(&[(1, 2), (1, 1)])], one(), vec![AddedTwice(at(1))]),
    ] {
        assert_eq!(folded(&updates), (held, violations));
    }
}

#[test]
fn addresses_that_are_none_are_left_out() {
    let nowhere = WeightedAddr::default();
    let set = WeightedAddrSet {
        addrs: vec![nowhere.clone()],
        ..WeightedAddrSet::default()
    };
    let updates = [message(update::Update::Add(set))];
    assert_eq!(folded(&updates), (None, vec![Violation::EmptyAdd]));
    let set = WeightedAddrSet {
        addrs: vec![nowhere, endpoint(1, 1)],
        ..WeightedAddrSet::default()
    };
    let updates = [message(update::Update::Add(set))];
    assert_eq!(folded(&updates), (Some(vec![(1, 1)]), vec![]));
}

#[test]
fn an_endpoint_keeps_the_labels_it_came_with() {
    let mut folded = Folded::default();
    folded.take(&add(&[(1, 1)]));
    let other = WeightedAddrSet {
        addrs: vec![endpoint(2, 1)],
        ..WeightedAddrSet::default()
    };
    folded.take(&message(update::Update::Add(other)));
    let labels = |number| folded.set().unwrap()[&at(number)].labels.clone();
    assert_eq!(labels(1), Labels::from([("service".into(), "web".into())]));
    assert_eq!(labels(2), Labels::new());
    assert_eq!(folded.violations(), []);
}

#[test]
fn a_new_stream_replaces_what_the_old_one_left() {
    let mut folded = Folded::default();
    folded.take(&add(&[(1, 1), (2, 1)]));
    folded.reconnect();
    assert_eq!(short(&folded), Some(vec![(1, 1), (2, 1)]));
    folded.take(&remove(&[1]));
    assert_eq!(short(&folded), Some(vec![(1, 1), (2, 1)]));
    folded.take(&add(&[(2, 1)]));
    assert_eq!(short(&folded), Some(vec![(2, 1)]));
    assert_eq!(folded.violations(), [Violation::LeadingRemove]);
}

#[test]
fn a_message_that_no_client_accepts_is_noted() {
    let numbers: Vec<(u8, u32)> = vec![(1, 1); 300_000];
    let mut folded = Folded::default();
    let update = add(&numbers);
    folded.take(&update);
    let bytes = update.encoded_len();
    assert!(bytes > MESSAGE_BYTES_MAX);
    assert_eq!(
        folded.violations().first(),
        Some(&Violation::TooLarge { bytes })
    );
}

#[test]
fn a_recorded_message_means_what_the_message_means() {
    for message in [
        add(&[(1, 1), (2, 3)]),
        add(&[]),
        remove(&[1]),
        none(),
        Update { update: None },
    ] {
        let recorded = told_in_json(&json::update(&message));
        let expected = match told(&message) {
            Told::Add { endpoints, labels } => Told::Add {
                endpoints: endpoints
                    .iter()
                    .map(|(address, it)| (*address, json::weighted_addr(it)))
                    .collect(),
                labels,
            },
            Told::Remove(gone) => Told::Remove(gone),
            Told::NoEndpoints { exists } => Told::NoEndpoints { exists },
            Told::Nothing => Told::Nothing,
        };
        assert_eq!(recorded, expected);
    }
    let v6 = json!({"ip": {"ipv6": {"first": "18230571291595767808", "last": "1"}}, "port": 80});
    assert_eq!(socket_in_json(&v6), "[fd00::1]:80".parse().ok());
    for bad in [
        json!({}),
        json!({"ip": {}}),
        json!({"ip": {"ipv4": -1}}),
        json!({"ip": {"ipv4": 1}, "port": 65536}),
    ] {
        assert_eq!(socket_in_json(&bad), None);
    }
}
