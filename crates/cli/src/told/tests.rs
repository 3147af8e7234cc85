//! The rules by which a proxy folds updates, one by one.

use super::*;
use linkerd2_proxy_api::destination::WeightedAddr;
use linkerd2_proxy_api::net::TcpAddress;
use std::collections::BTreeMap;
use std::net::IpAddr;

fn tcp(last: u8) -> TcpAddress {
    TcpAddress {
        ip: Some(IpAddr::from([10, 0, 0, last]).into()),
        port: 80,
    }
}

fn weighted(last: u8, weight: u32) -> WeightedAddr {
    WeightedAddr {
        addr: Some(tcp(last)),
        weight,
        ..WeightedAddr::default()
    }
}

fn endpoint(last: u8, weight: u32) -> Endpoint {
    Endpoint::read(weighted(last, weight), &BTreeMap::new()).unwrap()
}

fn add(lasts: &[u8]) -> Option<Update> {
    let addrs = lasts.iter().map(|last| weighted(*last, 1)).collect();
    Some(Update::Add(WeightedAddrSet {
        addrs,
        ..WeightedAddrSet::default()
    }))
}

fn remove(lasts: &[u8]) -> Option<Update> {
    Some(Update::Remove(AddrSet {
        addrs: lasts.iter().map(|last| tcp(*last)).collect(),
    }))
}

fn no_endpoints(exists: bool) -> Option<Update> {
    Some(Update::NoEndpoints(NoEndpoints { exists }))
}

fn set(lasts: &[u8]) -> Answer {
    let endpoints = lasts.iter().map(|last| endpoint(*last, 1));
    Answer::Present(
        endpoints
            .map(|endpoint| (endpoint.address, endpoint))
            .collect(),
    )
}

fn removed(last: u8) -> Change {
    Change::Removed(SocketAddr::from(([10, 0, 0, last], 80)))
}

fn told(updates: &[Option<Update>]) -> Told {
    let mut told = Told::default();
    for update in updates {
        told.hear(update.clone());
    }
    told
}

#[test]
fn the_first_add_is_the_whole_set() {
    let mut told = Told::default();
    let effect = told.hear(add(&[2, 1]));
    let added = [1, 2].map(|last| Change::Added(endpoint(last, 1)));
    assert_eq!(effect, Effect::Followed(added.into()));
    assert_eq!(told.answer(), Some(&set(&[1, 2])));
}

#[test]
fn later_adds_are_upserts_and_removes_delete() {
    let mut told = told(&[add(&[1, 2])]);
    assert_eq!(
        told.hear(add(&[2, 3])),
        Effect::Followed(vec![Change::Added(endpoint(3, 1))])
    );
    assert_eq!(
        told.hear(remove(&[1, 9])),
        Effect::Followed(vec![removed(1)])
    );
    assert_eq!(told.answer(), Some(&set(&[2, 3])));
}

#[test]
fn other_metadata_is_a_change() {
    let mut told = told(&[add(&[1])]);
    let heavier = WeightedAddrSet {
        addrs: vec![weighted(1, 5)],
        ..WeightedAddrSet::default()
    };
    assert_eq!(
        told.hear(Some(Update::Add(heavier.clone()))),
        Effect::Followed(vec![Change::Changed(endpoint(1, 5))])
    );
    let labels = [("service".to_owned(), "web".to_owned())];
    let labelled = WeightedAddrSet {
        metric_labels: labels.clone().into(),
        ..heavier
    };
    let changed = Endpoint::read(weighted(1, 5), &labels.into()).unwrap();
    assert_eq!(
        told.hear(Some(Update::Add(labelled))),
        Effect::Followed(vec![Change::Changed(changed)])
    );
}

#[test]
fn a_leading_remove_is_ignored_and_the_first_answer_still_awaited() {
    let mut told = Told::default();
    let ignored = Effect::Ignored("a remove before the first answer");
    assert_eq!(told.hear(remove(&[1])), ignored);
    assert_eq!(told.answer(), None);
    told.hear(add(&[2]));
    assert_eq!(told.answer(), Some(&set(&[2])));
}

#[test]
fn an_update_without_a_usable_address_is_ignored() {
    let mut told = Told::default();
    assert_eq!(
        told.hear(add(&[])),
        Effect::Ignored("an add without a usable address")
    );
    assert_eq!(
        told.hear(None),
        Effect::Ignored("an update of an unknown kind")
    );
    assert_eq!(told.answer(), None);
    told.hear(add(&[1]));
    assert_eq!(
        told.hear(remove(&[])),
        Effect::Ignored("a remove without a usable address")
    );
    assert_eq!(told.answer(), Some(&set(&[1])));
}

#[test]
fn no_endpoints_takes_everything_back() {
    for (exists, expected) in [(true, set(&[])), (false, Answer::Absent)] {
        let mut told = told(&[add(&[1, 2])]);
        let effect = told.hear(no_endpoints(exists));
        assert_eq!(effect, Effect::Followed(vec![removed(1), removed(2)]));
        assert_eq!(told.into_answer(), Some(expected));
    }
}

#[test]
fn a_service_may_come_back() {
    let told = told(&[no_endpoints(false), remove(&[1]), add(&[1])]);
    assert_eq!(told.answer(), Some(&set(&[1])));
}

#[test]
fn removing_the_last_endpoint_leaves_a_service_without_endpoints() {
    let told = told(&[add(&[1]), remove(&[1])]);
    assert_eq!(told.answer(), Some(&set(&[])));
}
