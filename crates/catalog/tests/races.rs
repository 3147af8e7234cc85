//! The watches of different kinds are not ordered among each other: whatever
//! comes first, the end is what the objects say.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod cluster;

use cluster::{
    Leader, Objects, after, at_address, at_pod, ip, named, owned_by, pod, pod_key, service,
    service_key, slice, slice_key, web,
};
use lockstep_model::{Fact, FactKind, PodPhase, ServiceKind, SliceId};
use lockstep_state::Command;
use std::net::IpAddr;

/// An endpoint of the pod with this uid, which is its service account too.
fn of(last: u8, uid: &str) -> (IpAddr, Option<String>) {
    (ip(last), Some(uid.to_owned()))
}

/// Services `web` and `cart`, and pod `a`.
fn shop() -> Objects {
    Objects::from([
        (service_key("web"), web()),
        (service_key("cart"), web()),
        (pod_key("a"), Fact::Pod(pod("a1", 1))),
    ])
}

#[test]
fn a_slice_before_its_pod_shows_the_pod_when_it_comes() {
    let both = || {
        slice(
            "web",
            vec![at_pod(1, "a", None), at_pod(2, "b", Some("b1"))],
        )
    };
    let early = after(shop(), vec![(slice_key("web-1"), Some(both()))]);
    assert_eq!(early.endpoints("web"), [of(1, "a1")]);
    let late = after(
        shop(),
        vec![
            (slice_key("web-1"), Some(both())),
            (pod_key("b"), Some(Fact::Pod(pod("b1", 2)))),
        ],
    );
    assert_eq!(late.endpoints("web"), [of(1, "a1"), of(2, "b1")]);
}

#[test]
fn a_pod_that_goes_before_its_slice_takes_its_endpoint_with_it() {
    let mut objects = shop();
    let fact = slice("web", vec![at_pod(1, "a", None), at_address(9)]);
    objects.insert(slice_key("web-1"), fact);
    let leader = after(objects, vec![(pod_key("a"), None)]);
    assert_eq!(leader.endpoints("web"), [(ip(9), None)]);
}

#[test]
fn a_pod_replaced_under_its_name_is_never_taken_for_the_one_before() {
    let mut objects = shop();
    let slice_of = |last, uid| Some(slice("web", vec![at_pod(last, "a", Some(uid))]));
    objects.extend(slice_of(1, "a1").map(|fact| (slice_key("web-1"), fact)));
    let pod_change = (pod_key("a"), Some(Fact::Pod(pod("a2", 2))));
    let slice_change = (slice_key("web-1"), slice_of(2, "a2"));
    for changes in [
        [pod_change.clone(), slice_change.clone()],
        [slice_change, pod_change],
    ] {
        let [first, second] = changes;
        let between = after(objects.clone(), vec![first.clone()]);
        assert_eq!(between.endpoints("web"), []);
        let end = after(objects.clone(), vec![first, second]);
        assert_eq!(end.endpoints("web"), [of(2, "a2")]);
    }
}

#[test]
fn an_edit_of_a_pod_reaches_every_slice_that_shows_it() {
    let mut objects = shop();
    let fact = |service| slice(service, vec![at_pod(1, "a", None)]);
    objects.insert(slice_key("web-1"), fact("web"));
    objects.insert(slice_key("cart-1"), fact("cart"));
    let mut edited = pod("a1", 1);
    edited.service_account = "other".into();
    let leader = after(objects, vec![(pod_key("a"), Some(Fact::Pod(edited)))]);
    for service in ["web", "cart"] {
        assert_eq!(leader.endpoints(service), [of(1, "other")]);
    }
}

#[test]
fn an_owner_that_comes_last_names_the_pods_below_it() {
    let mut objects = shop();
    objects.insert(
        slice_key("web-1"),
        slice("web", vec![at_pod(1, "a", Some("a1"))]),
    );
    let rs = named(FactKind::ReplicaSet, "rs");
    let leader = after(objects, vec![(rs, Some(owned_by("Deployment", "web")))]);
    let content = leader.state.content();
    let owners: Vec<String> = content
        .pods()
        .map(|(_, record)| &record.workload.owner)
        .map(|owner| format!("{}={}", owner.label, owner.name))
        .collect();
    assert_eq!(owners, ["deployment=web"]);
}

#[test]
fn an_endpoint_that_moves_to_another_slice_never_leaves() {
    let mut objects = shop();
    let with_pod = || Some(slice("web", vec![at_pod(1, "a", None)]));
    let without = || Some(slice("web", vec![at_address(9)]));
    objects.extend(with_pod().map(|fact| (slice_key("web-1"), fact)));
    let target_first = vec![
        (slice_key("web-2"), with_pod()),
        (slice_key("web-1"), without()),
    ];
    let leader = after(objects.clone(), target_first);
    assert_eq!(leader.endpoints("web"), [(ip(9), None), of(1, "a1")]);
    let one_deleted = vec![(slice_key("web-2"), with_pod()), (slice_key("web-1"), None)];
    let leader = after(objects, one_deleted);
    assert_eq!(leader.endpoints("web"), [of(1, "a1")]);
}

#[test]
fn a_slice_re_labelled_leaves_one_service_and_joins_the_other() {
    let mut objects = shop();
    let of_service = |service| slice(service, vec![at_pod(1, "a", None)]);
    objects.insert(slice_key("s"), of_service("web"));
    let leader = after(objects, vec![(slice_key("s"), Some(of_service("cart")))]);
    assert_eq!(leader.endpoints("web"), []);
    assert_eq!(leader.endpoints("cart"), [of(1, "a1")]);
}

#[test]
fn a_service_deleted_takes_its_slices_along_and_brings_them_back() {
    let mut objects = shop();
    objects.insert(slice_key("s"), slice("web", vec![at_pod(1, "a", None)]));
    let gone = (service_key("web"), None);
    let late = Some(slice("web", vec![at_pod(1, "a", None), at_address(9)]));
    let late = (slice_key("s"), late);
    let leader = after(objects.clone(), vec![gone.clone(), late.clone()]);
    assert_eq!(leader.endpoints("web"), []);
    let back = (service_key("web"), Some(web()));
    let leader = after(objects, vec![gone, late, back]);
    assert_eq!(leader.endpoints("web"), [of(1, "a1"), (ip(9), None)]);
}

#[test]
fn a_service_that_becomes_an_alias_keeps_what_its_slices_say() {
    let mut objects = shop();
    objects.insert(slice_key("s"), slice("web", vec![at_pod(1, "a", None)]));
    let alias = Some(service(ServiceKind::ExternalName));
    let grown = slice("web", vec![at_pod(1, "a", None), at_address(9)]);
    let changes = vec![(service_key("web"), alias), (slice_key("s"), Some(grown))];
    let leader = after(objects, changes);
    assert_eq!(leader.endpoints("web"), [of(1, "a1"), (ip(9), None)]);
}

#[test]
fn a_finished_pod_is_no_longer_found_by_its_address() {
    let mut finished = pod("a1", 1);
    finished.phase = PodPhase::Finished;
    let leader = after(
        shop(),
        vec![
            (pod_key("b"), Some(Fact::Pod(pod("b1", 1)))),
            (pod_key("a"), Some(Fact::Pod(finished))),
        ],
    );
    let found = leader.state.content().pods_at(ip(1));
    assert_eq!(
        found.map(|(id, _)| id.to_string()).collect::<Vec<_>>(),
        ["shop/b"]
    );
}

#[test]
fn an_emptied_slice_is_removed_and_its_fact_kept() {
    let mut objects = shop();
    objects.insert(slice_key("s"), slice("web", vec![at_pod(1, "a", None)]));
    let mut leader = Leader::of(&objects);
    let empty = slice("web", Vec::new());
    let commands = leader.learn(slice_key("s"), Some(empty.clone()));
    assert_eq!(
        commands[..2],
        [
            Command::RemoveSlice(SliceId::named("shop", "s")),
            Command::Remember(slice_key("s"), empty.into()),
        ]
    );
}
