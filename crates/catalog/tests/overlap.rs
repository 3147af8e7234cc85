//! Several slices of one service that speak of the same pod.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod cluster;

use cluster::{
    Leader, Objects, after, at_address, at_pod, ip, pod, pod_key, service_key, slice, slice_key,
    slice_of_age, web,
};
use lockstep_model::{AddressFamily, EndpointFact, Fact, FactKey, Readiness, Settings, SliceFact};
use lockstep_state::Command;
use std::{net::IpAddr, sync::Arc};

/// Services `web` and `cart`, and pod `a` at `10.0.0.1`.
fn shop() -> Objects {
    Objects::from([
        (service_key("web"), web()),
        (service_key("cart"), web()),
        (pod_key("a"), Fact::Pod(pod("a1", 1))),
    ])
}

fn a(readiness: Readiness) -> EndpointFact {
    EndpointFact {
        readiness,
        ..at_pod(1, "a", None)
    }
}

/// A slice of `web` that says this of pod `a`, and names an address of its own.
fn says(name: &str, created_s: i64, readiness: Readiness) -> (FactKey, Option<Fact>) {
    let own = at_address(if name == "web-1" { 101 } else { 102 });
    let fact = slice_of_age(created_s, "web", vec![own, a(readiness)]);
    (slice_key(name), Some(fact))
}

/// A slice of `web` that says nothing of pod `a`.
fn silent(name: &str) -> (FactKey, Option<Fact>) {
    let own = at_address(if name == "web-1" { 101 } else { 102 });
    (slice_key(name), Some(slice("web", vec![own])))
}

/// How pod `a` shows in the slices of a service, by name of the slice.
fn of_a(leader: &Leader, service: &str) -> Vec<Readiness> {
    let at_a = |(at, readiness, _): (IpAddr, Readiness, String)| (at == ip(1)).then_some(readiness);
    leader.shown(service).into_iter().filter_map(at_a).collect()
}

fn both_ready() -> Objects {
    let mut objects = shop();
    for (key, fact) in [
        says("web-1", 1, Readiness::Ready),
        says("web-2", 2, Readiness::Ready),
    ] {
        objects.extend(fact.map(|fact| (key, fact)));
    }
    objects
}

#[test]
fn a_pod_stays_until_the_last_slice_that_says_ready_lets_go_of_it() {
    let twice = [Readiness::Ready; 2];
    assert_eq!(of_a(&after(both_ready(), Vec::new()), "web"), twice);
    for first in ["web-1", "web-2"] {
        for change in [silent(first), (slice_key(first), None)] {
            let leader = after(both_ready(), vec![change]);
            assert_eq!(of_a(&leader, "web"), [Readiness::Ready], "{first}");
        }
    }
    let neither = vec![silent("web-1"), silent("web-2")];
    assert_eq!(of_a(&after(both_ready(), neither), "web"), []);
}

/// The older of two slices says ready, the newer one this.
fn older_ready_newer(readiness: Readiness) -> Vec<(FactKey, Option<Fact>)> {
    vec![
        says("web-1", 1, Readiness::Ready),
        says("web-2", 2, readiness),
    ]
}

#[test]
fn of_two_slices_that_disagree_the_newer_one_decides_in_every_order() {
    let newer_ready = vec![
        says("web-1", 1, Readiness::Unready),
        says("web-2", 2, Readiness::Ready),
    ];
    let by_name = vec![
        says("web-1", 1, Readiness::Ready),
        says("web-2", 1, Readiness::Unready),
    ];
    let older_name = vec![
        says("web-1", 2, Readiness::Unready),
        says("web-2", 1, Readiness::Ready),
    ];
    for (changes, expected) in [
        (older_ready_newer(Readiness::Unready), vec![]),
        (older_ready_newer(Readiness::Leaving), vec![]),
        (newer_ready, vec![Readiness::Ready]),
        (by_name, vec![]),
        (older_name, vec![]),
    ] {
        let mut reversed = changes.clone();
        reversed.reverse();
        for changes in [changes, reversed] {
            let leader = after(shop(), changes);
            assert_eq!(of_a(&leader, "web"), expected);
            let others = leader.shown("web");
            let kept = others.iter().filter(|(at, ..)| *at != ip(1));
            assert_eq!(kept.count(), 2, "what they do not disagree about stays");
        }
    }
}

#[test]
fn the_older_slice_is_believed_again_when_the_newer_one_says_nothing_more() {
    let overruled = || older_ready_newer(Readiness::Unready);
    let Some(Fact::Slice(newer)) = says("web-2", 2, Readiness::Unready).1 else {
        panic!("not a slice");
    };
    let of_other_family = SliceFact {
        family: AddressFamily::V6,
        ..newer
    };
    for change in [
        silent("web-2"),
        (slice_key("web-2"), Some(Fact::Slice(of_other_family))),
        (slice_key("web-2"), None),
        says("web-2", 0, Readiness::Unready),
        (
            slice_key("web-2"),
            Some(slice_of_age(2, "cart", vec![a(Readiness::Unready)])),
        ),
    ] {
        let leader = after(shop(), [overruled(), vec![change]].concat());
        assert_eq!(of_a(&leader, "web"), [Readiness::Ready]);
    }
    let ready = says("web-2", 2, Readiness::Ready);
    let leader = after(shop(), [overruled(), vec![ready]].concat());
    assert_eq!(of_a(&leader, "web"), [Readiness::Ready; 2]);
}

#[test]
fn the_newest_of_three_decides_over_both() {
    let middle = older_ready_newer(Readiness::Unready);
    let newest = says("web-3", 3, Readiness::Ready);
    let leader = after(shop(), [middle, vec![newest]].concat());
    assert_eq!(of_a(&leader, "web"), [Readiness::Ready; 2]);
}

#[test]
fn a_slice_that_says_both_says_ready() {
    let both = vec![a(Readiness::Unready), a(Readiness::Ready)];
    let newer = (slice_key("web-2"), Some(slice_of_age(2, "web", both)));
    let changes = vec![says("web-1", 1, Readiness::Ready), newer];
    assert_eq!(of_a(&after(shop(), changes), "web"), [Readiness::Ready; 2]);
}

#[test]
fn another_service_another_family_and_another_pod_of_the_name_decide_nothing() {
    let newer = |change: fn(&mut SliceFact)| {
        let fact = slice_of_age(2, "web", vec![a(Readiness::Unready)]);
        let Fact::Slice(mut slice) = fact else {
            panic!("{fact:?}");
        };
        change(&mut slice);
        (slice_key("web-2"), Some(Fact::Slice(slice)))
    };
    let of_uid = |uid: &str| {
        let endpoint = EndpointFact {
            readiness: Readiness::Unready,
            ..at_pod(1, "a", Some(uid))
        };
        let fact = slice_of_age(2, "web", vec![endpoint]);
        (slice_key("web-2"), Some(fact))
    };
    for (rival, expected) in [
        (newer(|_| ()), vec![]),
        (of_uid("a1"), vec![]),
        (
            newer(|slice| slice.service.name = "cart".into()),
            vec![Readiness::Ready],
        ),
        (
            newer(|slice| slice.family = AddressFamily::V6),
            vec![Readiness::Ready],
        ),
        (of_uid("a0"), vec![Readiness::Ready]),
    ] {
        let changes = vec![says("web-1", 1, Readiness::Ready), rival];
        assert_eq!(of_a(&after(shop(), changes), "web"), expected);
    }
}

#[test]
fn a_pod_that_comes_back_under_its_name_is_judged_anew() {
    let old = EndpointFact {
        readiness: Readiness::Unready,
        ..at_pod(1, "a", Some("a1"))
    };
    let newer = (slice_key("web-2"), Some(slice_of_age(2, "web", vec![old])));
    let mut changes = vec![says("web-1", 1, Readiness::Ready), newer];
    assert_eq!(of_a(&after(shop(), changes.clone()), "web"), []);
    changes.push((pod_key("a"), Some(Fact::Pod(pod("a2", 1)))));
    assert_eq!(of_a(&after(shop(), changes), "web"), [Readiness::Ready]);
}

/// What a newer slice says of readiness is all that it decides: the name stays.
#[test]
fn an_overruled_pod_keeps_its_hostname_and_leaves_as_the_newer_slice_says() {
    let named = EndpointFact {
        hostname: Some("a".into()),
        ..a(Readiness::Ready)
    };
    let older = (slice_key("web-1"), slice_of_age(1, "web", vec![named]));
    for (newer, serve_terminating, expected) in [
        (Readiness::Unready, true, vec![Readiness::Unready]),
        (Readiness::Leaving, false, vec![Readiness::Unready]),
        (Readiness::Leaving, true, vec![Readiness::Leaving; 2]),
    ] {
        let mut objects = shop();
        objects.extend([older.clone()]);
        let (key, fact) = says("web-2", 2, newer);
        objects.extend(fact.map(|fact| (key, fact)));
        let settings = Arc::new(Settings {
            serve_terminating,
            ..Settings::default()
        });
        let leader = Leader::of_with(&objects, settings);
        assert_eq!(of_a(&leader, "web"), expected, "{newer:?}");
    }
}

/// A change of one slice is looked at in the others only for pods that it is about.
#[test]
fn a_slice_that_is_not_about_the_pod_is_left_alone() {
    let mut objects = both_ready();
    objects.insert(pod_key("b"), Fact::Pod(pod("b1", 2)));
    let third = slice("web", vec![at_pod(2, "b", None)]);
    objects.insert(slice_key("web-3"), third);
    let mut leader = Leader::of(&objects);
    let (key, fact) = says("web-2", 2, Readiness::Unready);
    let commands = leader.learn(key, fact);
    let put = |command: &Command| match command {
        Command::PutSlice(id, _) => Some(id.name.to_string()),
        _ => None,
    };
    let put: Vec<String> = commands.iter().filter_map(put).collect();
    assert_eq!(put, ["web-1", "web-2"]);
}
