//! Pages and lines, odd ones included.

use lockstep_model::Fact;
use serde_json::{Value, json};

use super::*;
use crate::watch::{failure::FailureKind, stream::in_full};

fn node(name: &str) -> (FactKey, Fact) {
    (FactKey::named(FactKind::Node, "", name), Fact::Node(None))
}

fn cursor(text: &str) -> Cursor {
    Cursor(text.into())
}

fn page_of(kind: FactKind, body: Value) -> (Page, Complaints) {
    page(kind, body.to_string().as_bytes()).unwrap()
}

fn line_of(kind: FactKind, event: &str, object: Value) -> (Line, Vec<String>) {
    let text = json!({"type": event, "object": object}).to_string();
    let (line, complaints) = line(kind, text.as_bytes()).unwrap();
    let unusable = complaints.unusable.iter().map(ToString::to_string);
    (line, unusable.collect())
}

#[test]
fn a_page_has_facts_a_moment_and_perhaps_a_next() {
    let items = json!([{"metadata": {"name": "n1"}}, {"metadata": {"name": "n2"}}]);
    let (page, complaints) = page_of(
        FactKind::Node,
        json!({"metadata": {"resourceVersion": "7", "continue": "more"}, "items": items}),
    );
    assert_eq!(complaints, Complaints::default());
    let expected = Page {
        facts: vec![node("n1"), node("n2")],
        unread: vec![],
        cursor: cursor("7"),
        next: Some("more".to_owned()),
    };
    assert_eq!(page, expected);
}

#[test]
fn a_page_may_be_empty_and_last() {
    for items in [json!(null), json!([])] {
        let body = json!({"metadata": {"resourceVersion": "7", "continue": ""}, "items": items});
        let (page, _) = page_of(FactKind::Pod, body);
        assert_eq!((page.facts, page.next), (vec![], None));
    }
}

#[test]
fn a_bad_object_spoils_no_page() {
    let items = json!([{"metadata": 5}, {"metadata": {"name": "n1"}}, 6]);
    let body = json!({"metadata": {"resourceVersion": "7"}, "items": items});
    let (page, complaints) = page_of(FactKind::Node, body);
    assert_eq!(page.facts, [node("n1")]);
    let unusable: Vec<String> = complaints
        .unusable
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        unusable,
        [
            "nodes ? cannot be decoded: invalid type: integer `5`, \
             expected ObjectMeta at line 1 column 13",
            "nodes ? cannot be decoded: invalid type: integer `6`, \
             expected struct Metadata at line 1 column 1",
        ],
    );
}

#[test]
fn a_bad_object_with_a_name_exists_and_one_that_says_nothing_usable_does_not() {
    let named = |rest: Value| {
        let mut object = rest;
        object["metadata"]["name"] = "web-1".into();
        object["metadata"]["namespace"] = "shop".into();
        object
    };
    let bad = named(json!({"metadata": {"labels": 5}, "addressType": "IPv4"}));
    let of_no_use = named(json!({"addressType": "FQDN", "endpoints": []}));
    let key = FactKey::named(FactKind::EndpointSlice, "shop", "web-1");
    for (object, unread) in [(bad, vec![key]), (of_no_use, vec![])] {
        let body = json!({"metadata": {"resourceVersion": "7"}, "items": [object]});
        let (page, complaints) = page_of(FactKind::EndpointSlice, body);
        assert_eq!((page.facts, page.unread), (vec![], unread));
        assert_eq!(complaints.unusable.len(), 1);
    }
}

#[test]
fn skipped_parts_are_named_with_their_object() {
    let service = json!({"metadata": {"name": "web", "namespace": "shop"},
                         "spec": {"ports": [{"port": 0}]}});
    let body = json!({"metadata": {"resourceVersion": "7"}, "items": [service]});
    let (_, complaints) = page_of(FactKind::Service, body);
    let skipped: Vec<String> = complaints
        .skipped
        .iter()
        .map(|(key, skipped)| format!("{key}: {skipped}"))
        .collect();
    assert_eq!(
        skipped,
        ["services shop/web: spec.ports: 0 is skipped: it is not a port (1 to 65535)"],
    );
}

#[test]
fn a_page_that_is_none_is_refused() {
    for (body, expected) in [
        (
            "",
            "the answer is not readable: EOF while parsing a value at line 1 column 0",
        ),
        ("{\"metadata\":{}}", "the list has no resourceVersion"),
        ("{}", "the list has no resourceVersion"),
        (
            "{\"items\": 5}",
            "the answer is not readable: invalid type: integer `5`, expected a sequence \
             at line 1 column 11",
        ),
    ] {
        let unreadable = page(FactKind::Pod, body.as_bytes()).unwrap_err();
        assert_eq!(in_full(&unreadable), expected);
    }
}

#[test]
fn an_event_tells_what_an_object_says_now() {
    let object = json!({"metadata": {"name": "n1", "resourceVersion": "8"}});
    for event in ["ADDED", "MODIFIED"] {
        let (key, fact) = node("n1");
        let told = Told::Changed {
            key,
            fact: Some(Box::new(fact)),
            cursor: cursor("8"),
        };
        let expected = (Line::Told(told), vec![]);
        assert_eq!(line_of(FactKind::Node, event, object.clone()), expected);
    }
    let (line, _) = line_of(
        FactKind::Node,
        "BOOKMARK",
        json!({"metadata": {"resourceVersion": "9"}}),
    );
    assert_eq!(line, Line::Told(Told::Bookmark(cursor("9"))));
}

#[test]
fn a_deletion_needs_only_the_name() {
    let metadata = json!({"name": "web", "namespace": "shop", "resourceVersion": "8"});
    let (line, unusable) = line_of(
        FactKind::Pod,
        "DELETED",
        json!({"metadata": metadata, "spec": 5}),
    );
    let told = Told::Changed {
        key: FactKey::named(FactKind::Pod, "shop", "web"),
        fact: None,
        cursor: cursor("8"),
    };
    assert_eq!((line, unusable), (Line::Told(told), vec![]));
}

#[test]
fn an_object_that_says_nothing_usable_any_more_is_as_good_as_deleted() {
    let metadata = json!({"name": "web-1", "namespace": "shop", "resourceVersion": "8"});
    let slice = json!({"metadata": metadata, "addressType": "FQDN"});
    let (line, unusable) = line_of(FactKind::EndpointSlice, "MODIFIED", slice);
    let told = Told::Changed {
        key: FactKey::named(FactKind::EndpointSlice, "shop", "web-1"),
        fact: None,
        cursor: cursor("8"),
    };
    assert_eq!(line, Line::Told(told));
    assert_eq!(
        unusable,
        ["endpointslices shop/web-1 has addresses of type `FQDN`; allowed are `IPv4` and `IPv6`"],
    );
}

#[test]
fn nothing_is_concluded_from_an_object_that_cannot_be_decoded() {
    let metadata = json!({"name": "web", "namespace": "shop", "resourceVersion": "8"});
    let (line, unusable) = line_of(
        FactKind::Pod,
        "MODIFIED",
        json!({"metadata": metadata, "spec": 5}),
    );
    assert_eq!(line, Line::Told(Told::Undecodable(Some(cursor("8")))));
    assert_eq!(unusable.len(), 1);
    let (line, unusable) = line_of(FactKind::Pod, "ADDED", json!({"metadata": 5}));
    assert_eq!(line, Line::Told(Told::Undecodable(None)));
    assert_eq!(unusable.len(), 1);
    let nameless = json!({"metadata": {"resourceVersion": "8"}});
    let (line, unusable) = line_of(FactKind::Pod, "DELETED", nameless);
    assert_eq!(line, Line::Told(Told::Undecodable(Some(cursor("8")))));
    assert_eq!(unusable, ["an object of pods has no metadata.name"]);
}

#[test]
fn an_error_event_is_a_failure() {
    let status = json!({"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"});
    let (line, _) = line_of(FactKind::Pod, "ERROR", status);
    let failure = Failure {
        kind: FailureKind::Gone,
        reason: "status 410: too old".to_owned(),
        retry_after: None,
    };
    assert_eq!(line, Line::Failed(failure));
}

#[test]
fn a_line_that_is_no_event_is_refused() {
    for (text, expected) in [
        (
            "garbage",
            "the answer is not readable: expected value at line 1 column 1",
        ),
        (
            "{\"type\":\"ADDED\"}",
            "the answer is not readable: missing field `object` at line 1 column 16",
        ),
        (
            "{\"type\":\"MOVED\",\"object\":{}}",
            "the event type `MOVED` is unknown; known are ADDED, MODIFIED, DELETED, BOOKMARK, ERROR",
        ),
        (
            "{\"type\":\"BOOKMARK\",\"object\":{}}",
            "the bookmark has no resourceVersion",
        ),
        (
            "{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"n1\"}}}",
            "the object has no resourceVersion",
        ),
        (
            "{\"type\":\"DELETED\",\"object\":{\"metadata\":{\"name\":\"n1\"}}}",
            "the object has no resourceVersion",
        ),
    ] {
        let unreadable = line(FactKind::Node, text.as_bytes()).unwrap_err();
        assert_eq!(in_full(&unreadable), expected);
    }
}
