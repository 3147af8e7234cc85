//! The contract of the store: lists, history and watches over it.

use serde_json::json;

use super::*;
use crate::refusal::Refusal;
use crate::selector::Selection;

const LIMIT: usize = 1_000;

fn pods() -> &'static Kind {
    Kind::named("Pod").unwrap()
}

fn services() -> &'static Kind {
    Kind::named("Service").unwrap()
}

fn all() -> Selection {
    Selection::default()
}

fn put(store: &mut Store, name: &str, app: &str) -> u64 {
    let object = json!({"metadata": {"name": name, "labels": {"app": app}}});
    store.put(pods(), ObjectKey::new("shop", name), object);
    store.revision()
}

fn remove(store: &mut Store, name: &str) -> u64 {
    store.remove(pods(), &ObjectKey::new("shop", name)).unwrap();
    store.revision()
}

fn names(listing: &Listing) -> Vec<&str> {
    listing
        .items
        .iter()
        .map(|object| metadata::text(object, "name"))
        .collect()
}

/// Kind of event, name, resource version and label: what a client can tell.
fn told(events: &[WatchEvent]) -> Vec<String> {
    let object = |what: &str, object: &Value| {
        let name = metadata::text(object, "name");
        format!(
            "{what} {name} {}",
            metadata::text(object, "resourceVersion")
        )
    };
    events
        .iter()
        .map(|event| match event {
            WatchEvent::Added(value) => object("added", value),
            WatchEvent::Modified(value) => object("modified", value),
            WatchEvent::Deleted(value) => object("deleted", value),
            WatchEvent::Bookmark(revision) => format!("bookmark {revision}"),
            WatchEvent::InitialEnd(revision) => format!("end {revision}"),
        })
        .collect()
}

fn open(store: &Store, from: WatchFrom) -> (Watch, Vec<WatchEvent>) {
    Watch::open(store, pods(), all(), from).unwrap()
}

#[test]
fn pages_show_the_revision_of_the_first_whatever_is_written_meanwhile() {
    let mut store = Store::new(LIMIT);
    for name in ["a", "b", "c", "d", "e"] {
        put(&mut store, name, "web");
    }
    let first = store
        .list(pods(), &all(), &ListAt::Newest, Some(2))
        .unwrap();
    assert_eq!(
        (names(&first), first.revision, first.remaining),
        (vec!["a", "b"], 6, Some(3))
    );

    remove(&mut store, "c");
    put(&mut store, "bb", "web");
    put(&mut store, "d", "changed");
    remove(&mut store, "e");
    put(&mut store, "e", "again");

    let at = ListAt::Continue(first.token.unwrap());
    let second = store.list(pods(), &all(), &at, Some(2)).unwrap();
    assert_eq!((names(&second), second.revision), (vec!["c", "d"], 6));
    assert_eq!(
        second.items.last().unwrap().pointer("/metadata/labels/app"),
        Some(&json!("web"))
    );

    let at = ListAt::Continue(second.token.unwrap());
    let third = store.list(pods(), &all(), &at, Some(2)).unwrap();
    assert_eq!(
        (names(&third), third.token.as_ref(), third.remaining),
        (vec!["e"], None, None)
    );
}

#[test]
fn a_page_token_that_outlived_its_history_can_be_continued_inconsistently() {
    let mut store = Store::new(LIMIT);
    for name in ["a", "b", "c"] {
        put(&mut store, name, "web");
    }
    let first = store
        .list(pods(), &all(), &ListAt::Newest, Some(1))
        .unwrap();
    let at = ListAt::Continue(first.token.unwrap());
    remove(&mut store, "b");
    store.compact();
    let refusal = store.list(pods(), &all(), &at, Some(1)).unwrap_err();
    assert_eq!((refusal.code, refusal.reason), (410, "Expired"));
    let at = ListAt::Continue(refusal.continuation.unwrap());
    let rest = store.list(pods(), &all(), &at, Some(1)).unwrap();
    assert_eq!((names(&rest), rest.revision), (vec!["c"], 5));
}

#[test]
fn a_page_token_that_is_none_is_refused() {
    let store = Store::new(LIMIT);
    for token in ["x", "5", "5:a", "x:a/b", "-2:a/b"] {
        let at = ListAt::Continue(token.to_owned());
        assert_eq!(
            store.list(pods(), &all(), &at, None).unwrap_err().message,
            format!("invalid continue token: continue key is not valid: {token:?}")
        );
    }
}

#[test]
fn every_remembered_revision_can_be_listed_as_it_was() {
    let mut store = Store::new(LIMIT);
    let mut expected = vec![(store.revision(), vec![])];
    for step in 0..40_u32 {
        let name = format!("p{}", step * 7 % 5);
        let key = ObjectKey::new("shop", &name);
        match step % 3 == 0 && store.find(pods(), &key).is_some() {
            true => remove(&mut store, &name),
            false => put(&mut store, &name, "web"),
        };
        let newest = store.list(pods(), &all(), &ListAt::Newest, None).unwrap();
        expected.push((store.revision(), newest.items));
    }
    for (revision, items) in expected {
        let listing = store
            .list(pods(), &all(), &ListAt::Exact(revision), None)
            .unwrap();
        assert_eq!(listing.items, items, "revision {revision}");
    }
}

#[test]
fn a_list_outside_memory_is_refused() {
    let mut store = Store::new(LIMIT);
    put(&mut store, "a", "web");
    put(&mut store, "a", "api");
    store.compact();
    put(&mut store, "a", "web");
    let list = |at| {
        store
            .list(pods(), &all(), &at, None)
            .map(|listing| listing.revision)
    };
    assert_eq!(list(ListAt::Exact(2)), Err(Refusal::expired_list()));
    assert_eq!(list(ListAt::Exact(3)), Ok(3));
    assert_eq!(list(ListAt::NotOlderThan(1)), Ok(4));
    let refusal = list(ListAt::NotOlderThan(9)).unwrap_err();
    assert_eq!(
        (refusal.code, refusal.message.as_str()),
        (504, "Timeout: Too large resource version: 9, current: 4")
    );
}

#[test]
fn a_watch_tells_exactly_what_came_after_its_revision() {
    let mut store = Store::new(LIMIT);
    put(&mut store, "a", "web");
    let from = put(&mut store, "b", "web");
    put(&mut store, "b", "api");
    store.put(
        services(),
        ObjectKey::new("shop", "s"),
        json!({"metadata": {"name": "s"}}),
    );
    remove(&mut store, "a");
    put(&mut store, "a", "web");
    let (mut watch, initial) = open(&store, WatchFrom::After(from));
    assert_eq!(initial, []);
    let events = watch.advance(&store, LIMIT).unwrap();
    assert_eq!(told(&events), ["modified b 4", "deleted a 6", "added a 7"]);
    assert_eq!(watch.advance(&store, LIMIT).unwrap(), []);
    assert_eq!(watch.bookmark(&store), Some(WatchEvent::Bookmark(7)));
}

#[test]
fn a_bookmark_never_passes_an_event_that_was_not_told() {
    let mut store = Store::new(LIMIT);
    let (mut watch, _) = open(&store, WatchFrom::Now);
    for name in ["a", "b", "c"] {
        put(&mut store, name, "web");
    }
    assert_eq!(
        told(&watch.advance(&store, 2).unwrap()),
        ["added a 2", "added b 3"]
    );
    assert_eq!(watch.bookmark(&store), Some(WatchEvent::Bookmark(3)));
    assert_eq!(told(&watch.advance(&store, 2).unwrap()), ["added c 4"]);
}

#[test]
fn objects_that_begin_or_cease_to_match_are_added_and_deleted() {
    let mut store = Store::new(LIMIT);
    let selection = Selection::parse(pods(), None, "app=web", "").unwrap();
    let (mut watch, _) = Watch::open(&store, pods(), selection, WatchFrom::Now).unwrap();
    for app in ["api", "web", "web", "api", "api"] {
        put(&mut store, "a", app);
    }
    remove(&mut store, "a");
    let events = watch.advance(&store, LIMIT).unwrap();
    assert_eq!(told(&events), ["added a 3", "modified a 4", "deleted a 5"]);
    let Some(WatchEvent::Deleted(last)) = events.last() else {
        panic!("{events:?}")
    };
    assert_eq!(last.pointer("/metadata/labels/app"), Some(&json!("web")));
}

#[test]
fn a_watch_may_begin_with_the_state_and_a_mark() {
    let mut store = Store::new(LIMIT);
    put(&mut store, "a", "web");
    put(&mut store, "b", "web");
    let state = ["added a 2", "added b 3"];
    assert_eq!(told(&open(&store, WatchFrom::State).1), state);
    let (mut watch, initial) = open(&store, WatchFrom::MarkedState(2));
    assert_eq!(told(&initial), ["added a 2", "added b 3", "end 3"]);
    put(&mut store, "c", "web");
    assert_eq!(told(&watch.advance(&store, LIMIT).unwrap()), ["added c 4"]);
    let refusal = Watch::open(&store, pods(), all(), WatchFrom::MarkedState(9)).unwrap_err();
    assert_eq!(refusal, Refusal::too_new(9, 4));
}

#[test]
fn a_watch_from_the_future_waits_for_it() {
    let mut store = Store::new(LIMIT);
    let (mut watch, _) = open(&store, WatchFrom::After(3));
    assert_eq!(watch.bookmark(&store), None);
    for name in ["a", "b", "c"] {
        put(&mut store, name, "web");
        let _ = watch.bookmark(&store);
    }
    assert_eq!(told(&watch.advance(&store, LIMIT).unwrap()), ["added c 4"]);
}

#[test]
fn a_watch_from_before_the_compaction_is_refused_and_an_open_one_goes_on() {
    let mut store = Store::new(LIMIT);
    let (mut watch, _) = open(&store, WatchFrom::Now);
    put(&mut store, "a", "web");
    put(&mut store, "b", "web");
    store.compact();
    let refused = Watch::open(&store, pods(), all(), WatchFrom::After(2)).unwrap_err();
    assert_eq!(refused, Refusal::expired_watch(2, 3));
    assert_eq!(refused.message, "too old resource version: 2 (3)");
    assert_eq!(open(&store, WatchFrom::After(3)).1, []);
    assert_eq!(
        told(&watch.advance(&store, LIMIT).unwrap()),
        ["added a 2", "added b 3"]
    );
}

#[test]
fn history_is_bounded_and_a_watch_that_falls_out_of_it_ends() {
    let mut store = Store::new(3);
    let (mut slow, _) = open(&store, WatchFrom::Now);
    for round in 0..5_u32 {
        put(&mut store, &format!("p{round}"), "web");
    }
    assert_eq!(
        slow.advance(&store, LIMIT).unwrap_err(),
        Refusal::expired_watch(1, 3)
    );
    let (mut watch, _) = open(&store, WatchFrom::After(3));
    assert_eq!(
        told(&watch.advance(&store, LIMIT).unwrap()),
        ["added p2 4", "added p3 5", "added p4 6"]
    );
    assert!(Watch::open(&store, pods(), all(), WatchFrom::After(2)).is_err());
}

fn servers() -> &'static Kind {
    Kind::named("Server").unwrap()
}

fn put_server(store: &mut Store, name: &str) {
    let object = json!({"metadata": {"name": name}});
    store.put(servers(), ObjectKey::new("shop", name), object);
}

#[test]
fn a_removed_definition_deletes_first_and_then_ends_its_watches() {
    let mut store = Store::new(LIMIT);
    put_server(&mut store, "a");
    put_server(&mut store, "b");
    let (mut watch, _) = Watch::open(&store, servers(), all(), WatchFrom::Now).unwrap();
    assert!(!watch.is_over(&store));
    store.uninstall(servers());
    store.install(servers(), servers().versions().collect());
    put_server(&mut store, "of the next definition");
    assert!(!watch.is_over(&store));
    let events = watch.advance(&store, LIMIT).unwrap();
    assert_eq!(told(&events), ["deleted a 4", "deleted b 5"]);
    assert!(watch.is_over(&store));
    assert_eq!(watch.advance(&store, LIMIT).unwrap(), []);
    let refused = Watch::open(&store, servers(), all(), WatchFrom::After(4)).unwrap_err();
    assert_eq!(refused.message, "too old resource version: 4 (5)");
    assert!(Watch::open(&store, servers(), all(), WatchFrom::After(5)).is_ok());
}

#[test]
fn the_same_definition_again_ends_nothing_and_fewer_versions_do() {
    let mut store = Store::new(LIMIT);
    let (watch, _) = Watch::open(&store, servers(), all(), WatchFrom::Now).unwrap();
    store.install(servers(), servers().versions().collect());
    assert!(!watch.is_over(&store));
    store.install(servers(), vec!["v1beta1"]);
    assert!(watch.is_over(&store));
    let resources = store.resources().into_iter();
    let served = resources.filter(|r| r.kind == servers()).map(|r| r.version);
    assert_eq!(served.collect::<Vec<_>>(), ["v1beta1"]);
}

#[test]
fn what_is_held_back_comes_in_order_when_released() {
    let mut store = Store::new(LIMIT);
    let (mut watch, _) = open(&store, WatchFrom::Now);
    let mut other = Watch::open(&store, servers(), all(), WatchFrom::Now)
        .unwrap()
        .0;
    put(&mut store, "a", "web");
    store.hold(pods());
    put(&mut store, "b", "web");
    store.hold(pods());
    put_server(&mut store, "s");
    remove(&mut store, "a");
    assert_eq!(told(&watch.advance(&store, LIMIT).unwrap()), ["added a 2"]);
    assert_eq!(watch.advance(&store, LIMIT).unwrap(), []);
    assert_eq!(watch.bookmark(&store), Some(WatchEvent::Bookmark(2)));
    assert_eq!(told(&other.advance(&store, LIMIT).unwrap()), ["added s 4"]);
    store.release(pods());
    let events = watch.advance(&store, LIMIT).unwrap();
    assert_eq!(told(&events), ["added b 3", "deleted a 5"]);
}
