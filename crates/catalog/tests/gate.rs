//! Nothing from partial knowledge, and nothing for nothing.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod cluster;

use cluster::{
    HISTORY, Leader, Objects, app, at_pod, differences, external, external_key, ip, listed, named,
    owned_by, pod, pod_key, server, server_key, service_key, service_profile, settings, slice,
    slice_key, web,
};
use lockstep_catalog::{Catalog, IncompleteList, SourceEvent, audit};
use lockstep_model::{
    Cursor, Fact, FactKey, FactKind, PodAddresses, PodId, ServerPort, ServiceId, Settings, SliceId,
};
use lockstep_position::{HistoryId, Revision};
use lockstep_state::{Command, State};
use std::sync::Arc;

fn shop() -> Objects {
    Objects::from([
        (
            named(FactKind::Node, "node-a"),
            Fact::Node(Some("zone-a".into())),
        ),
        (
            named(FactKind::ReplicaSet, "rs"),
            owned_by("Deployment", "web"),
        ),
        (pod_key("a"), Fact::Pod(pod("a1", 1))),
        (pod_key("b"), Fact::Pod(pod("b1", 2))),
        (service_key("web"), web()),
        (
            slice_key("web-1"),
            slice("web", vec![at_pod(1, "a", None), at_pod(2, "b", None)]),
        ),
        (
            named(FactKind::ServiceProfile, "web.shop"),
            service_profile(1),
        ),
        (
            server_key("raw"),
            server(app("web"), ServerPort::Number(8080)),
        ),
        (external_key("vm"), Fact::ExternalWorkload(external(100))),
    ])
}

/// The names of the commands, in order.
fn names(commands: &[Command]) -> Vec<String> {
    let name = |command: &Command| {
        let text = format!("{command:?}");
        let end = text.find('(').unwrap_or(text.len());
        text[..end].to_owned()
    };
    commands.iter().map(name).collect()
}

fn progress(kind: FactKind, cursor: &str) -> SourceEvent {
    SourceEvent::Progress {
        kind,
        cursor: Cursor(cursor.into()),
    }
}

#[test]
fn nothing_is_wanted_before_every_kind_is_listed() {
    let mut leader = Leader::new();
    for listed in listed(&shop(), "1").into_iter().rev() {
        assert!(!leader.catalog.is_complete());
        assert_eq!(leader.settle(), []);
        assert_eq!(leader.catalog.checkpoint(&leader.state), []);
        leader.catalog.observe(SourceEvent::Listed(listed));
    }
    assert!(leader.catalog.is_complete());
    assert_ne!(leader.settle(), []);
}

#[test]
fn a_change_of_a_kind_that_was_not_listed_does_not_make_it_known() {
    let mut leader = Leader::new();
    for kind in FactKind::ALL {
        leader.catalog.observe(progress(kind, "1"));
    }
    leader.tell(pod_key("a"), Some(Fact::Pod(pod("a1", 1))));
    assert!(!leader.catalog.is_complete());
    assert_eq!(leader.catalog.cursors(), [].into());
    // A list that does not name it says that it is gone.
    leader.list(&Objects::new());
    leader.settle();
    assert_eq!(differences(&leader.state, &Objects::new()), []);
}

#[test]
fn the_first_sync_is_one_change_in_a_fixed_order() {
    let mut leader = Leader::new();
    leader.list(&shop());
    let commands = leader.settle();
    let (first, rest) = commands.split_at(9);
    assert_eq!(
        names(first),
        [
            "OpenHistory",
            "PutSettings",
            "PutNode",
            "PutPod",
            "PutPod",
            "PutService",
            "PutSlice",
            "PutServiceProfile",
            "PutExternalWorkload",
        ]
    );
    let (facts, cursors) = rest.split_at(shop().len());
    assert_eq!(names(facts), vec!["Remember"; shop().len()]);
    assert_eq!(names(cursors), ["Advance"; FactKind::ALL.len()]);
    let position = leader.state.position();
    assert_eq!(position.revision, Revision::from_u64(1));
    assert_eq!(position.history, HISTORY);
    assert!(leader.state.is_synced());
    assert_eq!(differences(&leader.state, &shop()), []);
}

/// What the source shows after its own store went back is taken over, as one change, and
/// the log says why cursors become smaller.
#[test]
fn a_source_that_went_back_for_good_opens_an_incarnation_of_each_kind() {
    let mut leader = Leader::new();
    for listed in listed(&shop(), "100") {
        leader.catalog.observe(SourceEvent::Listed(listed));
    }
    leader.settle();
    let mut restored = shop();
    restored.remove(&pod_key("a"));
    for listed in listed(&restored, "99") {
        leader.catalog.observe(SourceEvent::Listed(listed));
    }
    let commands = leader.settle();
    let opened: Vec<Command> = FactKind::ALL
        .map(|kind| Command::OpenIncarnation(kind, Cursor("99".into())))
        .into();
    let (changes, cursors) = commands.split_at(commands.len() - opened.len());
    let sorted = |commands: &[Command]| {
        let mut shown: Vec<String> = commands.iter().map(|it| format!("{it:?}")).collect();
        shown.sort();
        shown
    };
    assert_eq!(sorted(cursors), sorted(&opened));
    assert!(
        changes.contains(&Command::Forget(pod_key("a"))),
        "{changes:?}"
    );
    assert_eq!(differences(&leader.state, &restored), []);
    // From there on it goes on as ever.
    leader.catalog.observe(progress(FactKind::Pod, "101"));
    let advanced = Command::Advance(FactKind::Pod, Cursor("101".into()));
    assert_eq!(leader.catalog.checkpoint(&leader.state), [advanced]);
}

#[test]
fn an_empty_cluster_is_a_synced_one() {
    let leader = Leader::of(&Objects::new());
    assert!(leader.state.is_synced());
}

#[test]
fn a_new_leader_goes_on_without_a_list_and_wants_nothing() {
    let mut leader = Leader::resume(Leader::of(&shop()).state);
    assert!(leader.catalog.is_complete());
    let cursors = FactKind::ALL.map(|kind| (kind, Cursor("listed".into())));
    assert_eq!(leader.catalog.cursors(), cursors.into());
    assert_eq!(leader.settle(), []);
    for (key, fact) in shop() {
        assert_eq!(leader.learn(key, Some(fact)), []);
    }
    leader.list(&shop());
    assert_eq!(leader.settle(), []);
}

#[test]
fn a_new_leader_brings_its_settings_and_keeps_the_history() {
    let state = Leader::of(&shop()).state;
    let other = Arc::new(Settings {
        zone_weights: true,
        ..Settings::default()
    });
    let mut catalog = Catalog::resume(&state, other.clone(), HistoryId::from_u128(8));
    assert_eq!(
        catalog.reconcile(&state),
        [Command::PutSettings(other)],
        "and no second history"
    );
}

#[test]
fn a_new_leader_mends_what_another_version_joined_otherwise() {
    let mut state = Leader::of(&shop()).state;
    let stray = SliceId::named("shop", "stray");
    let record = state.content().slices().next().unwrap().1.clone();
    let put = Command::PutSlice(stray.clone(), record);
    cluster::apply(
        &mut state,
        vec![put, Command::RemovePod(PodId::named("shop", "a"))],
    );
    let mut leader = Leader::resume(state);
    let commands = leader.settle();
    assert_eq!(names(&commands), ["PutPod", "RemoveSlice"]);
    assert_eq!(differences(&leader.state, &shop()), []);
}

#[test]
fn a_kind_that_was_never_listed_is_listed_before_anything_is_wanted() {
    for missing in FactKind::ALL {
        let mut state = State::default();
        let known = FactKind::ALL.into_iter().filter(|kind| *kind != missing);
        let cursors = known.map(|kind| Command::Advance(kind, Cursor("1".into())));
        cluster::apply(&mut state, cursors.collect());
        let mut leader = Leader::resume(state);
        assert!(!leader.catalog.is_complete());
        assert!(!leader.catalog.cursors().contains_key(&missing));
        assert_eq!(leader.settle(), []);
        leader.list(&Objects::new());
        assert_ne!(leader.settle(), []);
    }
}

/// What was deleted while a watch was down is missing in the list that comes after it.
#[test]
fn each_kind_that_was_lost_comes_back_with_a_list_that_takes_away_what_is_gone() {
    for kind in FactKind::ALL {
        let mut objects = shop();
        objects.retain(|key, _| key.kind != kind);
        let mut leader = Leader::of(&shop());
        leader.catalog.observe(SourceEvent::Lost { kind });
        assert_eq!(leader.learn(service_key("cart"), Some(web())), []);
        objects.insert(service_key("cart"), web());
        let lists = listed(&objects, "9").into_iter();
        for listed in lists.filter(|listed| listed.kind == kind) {
            leader.catalog.observe(SourceEvent::Listed(listed));
        }
        leader.settle();
        assert_eq!(differences(&leader.state, &objects), [], "{kind}");
    }
}

#[test]
fn a_new_list_removes_what_it_does_not_name_and_only_that() {
    let mut leader = Leader::of(&shop());
    let mut fewer = shop();
    fewer.remove(&pod_key("b"));
    let pods = listed(&fewer, "9").into_iter();
    for listed in pods.filter(|listed| listed.kind == FactKind::Pod) {
        leader.catalog.observe(SourceEvent::Listed(listed));
    }
    let commands = leader.settle();
    assert_eq!(
        names(&commands),
        ["PutSlice", "RemovePod", "Forget", "Advance"]
    );
    assert_eq!(
        commands[1..],
        [
            Command::RemovePod(PodId::named("shop", "b")),
            Command::Forget(pod_key("b")),
            Command::Advance(FactKind::Pod, Cursor("9".into())),
        ]
    );
    assert_eq!(differences(&leader.state, &fewer), []);
}

#[test]
fn a_pod_without_an_address_is_only_remembered() {
    let mut leader = Leader::of(&shop());
    let mut pending = pod("c1", 3);
    pending.addresses = PodAddresses {
        host_ips: vec![ip(100)],
        ..PodAddresses::default()
    };
    let before = leader.state.position().revision;
    let commands = leader.learn(pod_key("c"), Some(Fact::Pod(pending.clone())));
    assert_eq!(names(&commands), ["Remember", "Advance"]);
    assert_eq!(leader.state.position().revision, before);
    pending.addresses.host_ports = vec![80];
    let commands = leader.learn(pod_key("c"), Some(Fact::Pod(pending)));
    assert_eq!(names(&commands), ["PutPod", "Remember", "Advance"]);
}

#[test]
fn a_replica_set_without_pods_is_only_remembered() {
    let mut leader = Leader::of(&shop());
    let key = named(FactKind::ReplicaSet, "other");
    let commands = leader.learn(key, Some(owned_by("Deployment", "web")));
    assert_eq!(names(&commands), ["Remember", "Advance"]);
}

#[test]
fn a_node_without_a_zone_is_only_remembered() {
    let mut leader = Leader::of(&shop());
    let key = named(FactKind::Node, "node-b");
    let commands = leader.learn(key, Some(Fact::Node(None)));
    assert_eq!(names(&commands), ["Remember", "Advance"]);
    let key = named(FactKind::Node, "node-a");
    let commands = leader.learn(key, Some(Fact::Node(None)));
    assert_eq!(names(&commands), ["RemoveNode", "Remember", "Advance"]);
}

#[test]
fn an_equal_fact_moves_only_the_cursor_and_only_at_a_checkpoint() {
    let mut leader = Leader::of(&shop());
    assert_eq!(leader.learn(service_key("web"), Some(web())), []);
    leader.catalog.observe(progress(FactKind::Job, "12"));
    assert_eq!(leader.learn(pod_key("never-there"), None), []);
    let commands = leader.catalog.checkpoint(&leader.state);
    let advance = |kind, cursor: &str| Command::Advance(kind, Cursor(cursor.into()));
    assert_eq!(
        commands,
        [
            advance(FactKind::Job, "12"),
            advance(FactKind::Pod, "2"),
            advance(FactKind::Service, "1"),
        ]
    );
    cluster::apply(&mut leader.state, commands);
    assert_eq!(leader.catalog.checkpoint(&leader.state), []);
}

#[test]
fn a_checkpoint_never_passes_a_fact_that_is_not_remembered() {
    let mut leader = Leader::of(&shop());
    leader.tell(pod_key("a"), None);
    assert_eq!(leader.catalog.checkpoint(&leader.state), []);
    leader.settle();
    assert_eq!(leader.catalog.checkpoint(&leader.state), []);
}

#[test]
fn a_change_that_is_taken_back_in_time_was_none() {
    let mut leader = Leader::of(&shop());
    leader.tell(service_key("web"), None);
    leader.tell(service_key("web"), Some(web()));
    assert_eq!(leader.settle(), []);
}

#[test]
fn an_audit_names_each_difference() {
    let state = Leader::of(&shop()).state;
    let mut other = shop();
    other.remove(&pod_key("b"));
    other.insert(service_key("cart"), web());
    other.insert(
        named(FactKind::Node, "node-a"),
        Fact::Node(Some("zone-b".into())),
    );
    other.remove(&external_key("vm"));
    other.insert(
        named(FactKind::ServiceProfile, "web.shop"),
        service_profile(2),
    );
    other.insert(server_key("other"), Fact::Server(None));
    let texts: Vec<String> = differences(&state, &other)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        texts,
        [
            "zone of node node-a: not the same in the source and in the state",
            "service shop/cart: in the source, not in the state",
            "slice shop/web-1: not the same in the source and in the state",
            "service profile shop/web.shop: not the same in the source and in the state",
            "pod shop/b: in the state, not in the source",
            "external workload shop/vm: in the state, not in the source",
            "fact of nodes node-a: not the same in the source and in the state",
            "fact of pods shop/b: in the state, not in the source",
            "fact of services shop/cart: in the source, not in the state",
            "fact of serviceprofiles shop/web.shop: not the same in the source and in the state",
            "fact of servers shop/other: in the source, not in the state",
            "fact of externalworkloads shop/vm: in the state, not in the source",
        ]
    );
}

#[test]
fn an_audit_finds_facts_that_make_no_content() {
    let only_remembered = (named(FactKind::Node, "node-b"), Fact::Node(None));
    let state = Leader::of(&Objects::from([only_remembered])).state;
    let texts: Vec<String> = differences(&state, &Objects::new())
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        texts,
        ["fact of nodes node-b: in the state, not in the source"]
    );
}

#[test]
fn an_audit_compares_the_settings() {
    let state = Leader::of(&Objects::new()).state;
    let other = Arc::new(Settings {
        ipv6: false,
        ..Settings::default()
    });
    let differences = audit(&state, listed(&Objects::new(), "1"), &other).unwrap();
    let texts: Vec<String> = differences.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        ["settings: not the same in the source and in the state"]
    );
}

#[test]
fn an_audit_of_a_part_is_refused() {
    let mut lists = listed(&shop(), "1");
    lists.retain(|listed| listed.kind != FactKind::Pod);
    let error = audit(&State::default(), lists, &settings()).unwrap_err();
    assert_eq!(
        error,
        IncompleteList {
            missing: FactKind::Pod
        }
    );
    assert_eq!(
        error.to_string(),
        "no list of pods to compare with: an audit needs every kind"
    );
}

#[test]
fn a_fact_under_a_key_of_another_kind_makes_nothing() {
    let mut leader = Leader::of(&shop());
    let key = FactKey::named(FactKind::Service, "shop", "odd");
    leader.learn(key, Some(Fact::Node(Some("zone-a".into()))));
    let content = leader.state.content();
    assert_eq!(content.service(&ServiceId::named("shop", "odd")), None);
}

/// While one kind must be listed again, the others go on: a slice may name pods
/// that were not heard of, and leaving them out would empty a working service.
#[test]
fn nothing_is_withdrawn_while_a_kind_waits_for_its_new_list() {
    let mut objects = shop();
    let mut leader = Leader::of(&objects);
    leader.catalog.observe(SourceEvent::Lost {
        kind: FactKind::Pod,
    });
    let rolled = slice("web", vec![at_pod(3, "c", None)]);
    assert_eq!(leader.learn(slice_key("web-1"), Some(rolled.clone())), []);
    assert_eq!(leader.endpoints("web").len(), 2);
    objects.insert(slice_key("web-1"), rolled);
    objects.insert(pod_key("c"), Fact::Pod(pod("c1", 3)));
    objects.remove(&pod_key("a"));
    leader.list(&objects);
    leader.settle();
    assert_eq!(leader.endpoints("web"), [(ip(3), Some("c1".to_owned()))]);
    assert_eq!(differences(&leader.state, &objects), []);
}

#[test]
fn what_a_list_could_not_read_stays_as_it_was() {
    let mut leader = Leader::of(&shop());
    let mut lists = listed(&Objects::new(), "2");
    let unread = shop().into_keys().filter(|key| *key != pod_key("b"));
    for key in unread {
        let list = lists.iter_mut().find(|list| list.kind == key.kind);
        list.unwrap().unread.insert(key);
    }
    let told = audit(&leader.state, lists.clone(), &settings()).unwrap();
    for list in lists {
        leader.catalog.observe(SourceEvent::Listed(list));
    }
    let commands: Vec<String> = names(&leader.settle());
    // Only the pod that the list does not name at all is gone, and its endpoint with it.
    let expected = ["PutSlice", "RemovePod", "Forget"];
    assert_eq!(commands[..3], expected);
    let told: Vec<Command> = told.into_iter().map(|it| it.command).collect();
    assert_eq!(names(&told), expected);
    let endpoints = leader.endpoints("web");
    assert_eq!(endpoints, [(ip(1), Some("a1".to_owned()))]);
}
