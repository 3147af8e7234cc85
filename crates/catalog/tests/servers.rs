//! Servers make ports of pods and external workloads opaque, all of them together and
//! whatever comes first.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod cluster;

use cluster::{
    Leader, Objects, after, app, at_external, at_pod, external, external_key, ip, labels, pod,
    pod_key, port, server, server_key, server_of_external, service_key, slice, slice_key, web,
};
use lockstep_model::{
    Fact, FactKey, FactKind, Holds, LabelSelector, PodId, Readiness, Requirement, ServerPort, Text,
};
use lockstep_state::Command;

const NUMBER: ServerPort = ServerPort::Number(9000);

fn name(name: &str) -> ServerPort {
    ServerPort::Name(name.into())
}

/// Pod `a` with label `app: web`, external workload `vm` with label `app: vm`, and a
/// service with an endpoint of each.
fn shop() -> Objects {
    let mut a = pod("a1", 1);
    a.ports = vec![
        port("http", 8080, Some(18_080)),
        port("http", 8081, None),
        port("db", 5432, None),
        port("", 7000, Some(17_000)),
    ];
    let endpoints = vec![at_pod(1, "a", None), at_external(100, "vm")];
    Objects::from([
        (service_key("web"), web()),
        (pod_key("a"), Fact::Pod(a)),
        (external_key("vm"), Fact::ExternalWorkload(external(100))),
        (slice_key("web-1"), slice("web", endpoints)),
    ])
}

/// The opaque ports of the pod and of the external workload, which endpoints and lookups
/// by address must agree about.
fn opaque(leader: &Leader) -> [String; 2] {
    let content = leader.state.content();
    let [(_, pod)] = content.pods().collect::<Vec<_>>()[..] else {
        panic!("not one pod");
    };
    let [(_, outside)] = content.external_workloads().collect::<Vec<_>>()[..] else {
        panic!("not one external workload");
    };
    let found = [
        pod.workload.opaque_by_server.to_string(),
        outside.workload.opaque_by_server.to_string(),
    ];
    let [of_pod, of_external] = found.clone();
    let shown = [
        (ip(1), Readiness::Ready, of_pod),
        (ip(100), Readiness::Ready, of_external),
    ];
    assert_eq!(leader.shown("web"), shown);
    found
}

fn with(servers: &[Fact]) -> Vec<(FactKey, Option<Fact>)> {
    let numbered = (0..).zip(servers);
    numbered
        .map(|(number, fact): (u8, _)| (server_key(&number.to_string()), Some(fact.clone())))
        .collect()
}

fn opaque_with(servers: &[Fact]) -> [String; 2] {
    opaque(&after(shop(), with(servers)))
}

#[test]
fn a_number_is_that_port_and_a_name_is_every_port_of_it_with_its_host_port() {
    let all = LabelSelector::default;
    for (port, of_pod, of_external) in [
        (NUMBER, "9000", "9000"),
        (name("http"), "8080-8081,18080", "8080"),
        (name("db"), "5432", ""),
        (name("gone"), "", ""),
        (name(""), "", ""),
    ] {
        let found = opaque_with(&[server(all(), port.clone())]);
        assert_eq!(found, [of_pod, ""], "{port:?}");
        let found = opaque_with(&[server_of_external(all(), port.clone())]);
        assert_eq!(found, ["", of_external], "{port:?}");
    }
}

#[test]
fn a_selector_chooses_by_labels_and_by_expressions() {
    let one = |key: &str, holds| {
        let key = key.into();
        LabelSelector(vec![Requirement { key, holds }])
    };
    let values = |values: &[&str]| -> Vec<Text> { values.iter().map(|it| (*it).into()).collect() };
    for (selector, chosen) in [
        (app("web"), true),
        (app("cart"), false),
        (one("app", Holds::In(values(&["cart", "web"]))), true),
        (one("app", Holds::NotIn(values(&["web"]))), false),
        (one("tier", Holds::NotIn(values(&["web"]))), true),
        (one("app", Holds::Exists), true),
        (one("tier", Holds::Exists), false),
        (one("app", Holds::DoesNotExist), false),
        (one("tier", Holds::DoesNotExist), true),
    ] {
        let expected = if chosen { "9000" } else { "" };
        let found = opaque_with(&[server(selector.clone(), NUMBER)]);
        assert_eq!(found, [expected, ""], "{selector:?}");
    }
}

#[test]
fn a_server_of_another_namespace_or_that_makes_nothing_opaque_says_nothing() {
    let all = || server(LabelSelector::default(), NUMBER);
    let elsewhere = FactKey::named(FactKind::Server, "stage", "all");
    let found = after(shop(), vec![(elsewhere, Some(all()))]);
    assert_eq!(opaque(&found), ["", ""]);
    assert_eq!(opaque_with(&[Fact::Server(None)]), ["", ""]);
    let turned_off = vec![
        (server_key("all"), Some(all())),
        (server_key("all"), Some(Fact::Server(None))),
    ];
    assert_eq!(opaque(&after(shop(), turned_off)), ["", ""]);
}

#[test]
fn one_of_two_servers_that_say_the_same_can_go() {
    let both = with(&[server(app("web"), NUMBER), server(app("web"), name("db"))]);
    let third = (
        server_key("third"),
        Some(server(LabelSelector::default(), NUMBER)),
    );
    let mut changes = both;
    changes.push(third);
    assert_eq!(opaque(&after(shop(), changes.clone())), ["5432,9000", ""]);
    changes.push((server_key("0"), None));
    assert_eq!(opaque(&after(shop(), changes.clone())), ["5432,9000", ""]);
    changes.push((server_key("third"), Some(server(app("cart"), NUMBER))));
    assert_eq!(opaque(&after(shop(), changes.clone())), ["5432", ""]);
    changes.push((server_key("1"), None));
    assert_eq!(opaque(&after(shop(), changes)), ["", ""]);
}

#[test]
fn labels_and_ports_of_a_workload_decide_whenever_they_change() {
    let servers = [
        server(app("web"), name("http")),
        server_of_external(app("vm"), name("http")),
    ];
    let mut changes = with(&servers);
    let mut moved = pod("a1", 1);
    moved.ports = vec![port("http", 9090, None)];
    changes.push((pod_key("a"), Some(Fact::Pod(moved.clone()))));
    let mut outside = external(100);
    outside.ports = vec![port("http", 9191, None)];
    let change = Some(Fact::ExternalWorkload(outside.clone()));
    changes.push((external_key("vm"), change));
    let leader = after(shop(), changes.clone());
    assert_eq!(opaque(&leader), ["9090", "9191"]);
    moved.labels = labels("cart");
    outside.labels = labels("cart");
    changes.push((pod_key("a"), Some(Fact::Pod(moved))));
    let change = Some(Fact::ExternalWorkload(outside));
    changes.push((external_key("vm"), change));
    assert_eq!(opaque(&after(shop(), changes)), ["", ""]);
}

#[test]
fn a_pod_of_another_namespace_has_the_servers_of_its_own() {
    let mut objects = shop();
    let stage = |kind, name: &str| FactKey::named(kind, "stage", name);
    objects.insert(stage(FactKind::Pod, "b"), Fact::Pod(pod("b1", 2)));
    let mut endpoint = at_pod(2, "b", None);
    if let lockstep_model::TargetRef::Pod { pod, .. } = &mut endpoint.target {
        *pod = PodId::named("stage", "b");
    }
    objects.insert(slice_key("web-1"), slice("web", vec![endpoint]));
    let all = || Some(server(LabelSelector::default(), NUMBER));
    let own = after(
        objects.clone(),
        vec![(stage(FactKind::Server, "all"), all())],
    );
    let shown = |opaque: &str| [(ip(2), Readiness::Ready, opaque.to_owned())];
    assert_eq!(own.shown("web"), shown("9000"));
    let others = after(objects, vec![(server_key("all"), all())]);
    assert_eq!(others.shown("web"), shown(""));
}

/// A Server reaches the workloads that it chooses, and what shows them.
#[test]
fn a_server_changes_what_it_chooses_and_nothing_else() {
    let mut objects = shop();
    let mut cart = pod("b1", 2);
    cart.labels = labels("cart");
    objects.insert(pod_key("b"), Fact::Pod(cart));
    objects.insert(service_key("cart"), web());
    objects.insert(
        slice_key("cart-1"),
        slice("cart", vec![at_pod(2, "b", None)]),
    );
    let mut leader = Leader::of(&objects);
    let key = server_key("raw");
    let commands = leader.learn(key.clone(), Some(server(app("cart"), NUMBER)));
    let put = |command: &Command| match command {
        Command::PutPod(id, _) => Some(id.name.clone()),
        Command::PutSlice(id, _) => Some(id.name.clone()),
        _ => None,
    };
    let names: Vec<Text> = commands.iter().filter_map(put).collect();
    assert_eq!(names, ["b".into(), "cart-1".into()]);
    assert_eq!(commands.len(), 4, "and what is remembered: {commands:?}");
    let same_choice = LabelSelector(vec![Requirement {
        key: "app".into(),
        holds: Holds::NotIn(vec!["web".into(), "vm".into()]),
    }]);
    let commands = leader.learn(key, Some(server(same_choice, NUMBER)));
    let only_remembered = [
        matches!(commands[0], Command::Remember(..)),
        matches!(commands[1], Command::Advance(..)),
    ];
    assert_eq!((only_remembered, commands.len()), ([true; 2], 2));
}

/// The watches are not ordered among each other: every order ends alike.
#[test]
fn the_order_in_which_kinds_arrive_does_not_matter() {
    let mut events: Vec<(FactKey, Fact)> = shop().into_iter().collect();
    events.push((server_key("raw"), server(app("web"), name("http"))));
    let mut orders = 0;
    permute(&mut events, 0, &mut |order| {
        let mut leader = Leader::of(&Objects::new());
        for (key, fact) in order {
            leader.learn(key.clone(), Some(fact.clone()));
        }
        assert_eq!(opaque(&leader), ["8080-8081,18080", ""]);
        orders += 1;
    });
    assert_eq!(orders, 120);
}

fn permute(items: &mut [(FactKey, Fact)], from: usize, each: &mut impl FnMut(&[(FactKey, Fact)])) {
    if from == items.len() {
        return each(items);
    }
    for other in from..items.len() {
        items.swap(from, other);
        permute(items, from + 1, each);
        items.swap(from, other);
    }
}
