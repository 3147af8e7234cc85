//! Servers, and the selectors in them.

use lockstep_model::{Holds, LabelSelector, Requirement, ServerFact, ServerPort};

use super::*;

fn object(spec: Value) -> Value {
    json!({"metadata": {"name": "db", "namespace": "shop"}, "spec": spec})
}

fn server(spec: Value) -> (Option<ServerFact>, Vec<String>) {
    let converted = convert(FactKind::Server, &object(spec));
    let skipped = skipped(&converted);
    match converted.fact {
        Fact::Server(fact) => (fact, skipped),
        other => panic!("not a server: {other:?}"),
    }
}

fn opaque(selector: Value, port: Value) -> Value {
    json!({"proxyProtocol": "opaque", "podSelector": selector, "port": port})
}

fn pods(selector: Value) -> (Option<LabelSelector>, Vec<String>) {
    let (fact, skipped) = server(opaque(selector, json!(80)));
    (fact.unwrap().pods, skipped)
}

fn requirement(key: &str, holds: Holds) -> Requirement {
    Requirement {
        key: key.into(),
        holds,
    }
}

#[test]
fn a_server_of_opaque_ports_tells_whom_and_which() {
    let (fact, skipped) = server(json!({
        "proxyProtocol": "opaque",
        "podSelector": {
            "matchLabels": {"app": "db", "tier": ""},
            "matchExpressions": [
                {"key": "linkerd.io/role", "operator": "In", "values": ["b", "a"]},
                {"key": "zone", "operator": "NotIn", "values": ["z1"]},
                {"key": "a", "operator": "Exists", "values": []},
                {"key": "b", "operator": "DoesNotExist"}]},
        "externalWorkloadSelector": {},
        "port": "db",
        "accessPolicy": 5,
    }));
    let pods = vec![
        requirement("a", Holds::Exists),
        requirement("app", Holds::In(vec!["db".into()])),
        requirement("b", Holds::DoesNotExist),
        requirement("linkerd.io/role", Holds::In(vec!["a".into(), "b".into()])),
        requirement("tier", Holds::In(vec!["".into()])),
        requirement("zone", Holds::NotIn(vec!["z1".into()])),
    ];
    let expected = ServerFact {
        pods: Some(LabelSelector(pods)),
        external_workloads: Some(LabelSelector::default()),
        port: ServerPort::Name("db".into()),
    };
    assert_eq!((fact, skipped), (Some(expected), vec![]));
}

#[test]
fn a_server_of_another_protocol_says_nothing_whatever_else_is_wrong_with_it() {
    for protocol in [
        json!(null),
        json!(""),
        json!("HTTP/2"),
        json!("unknown"),
        json!("Opaque"),
    ] {
        let spec = json!({"proxyProtocol": protocol, "podSelector": 5, "port": []});
        assert_eq!(server(spec), (None, vec![]));
    }
    assert_eq!(server(json!(null)), (None, vec![]));
}

#[test]
fn a_port_is_a_number_or_a_name_even_of_digits() {
    for (port, expected) in [
        (json!(8080), ServerPort::Number(8080)),
        (json!("http"), ServerPort::Name("http".into())),
        (json!("8080"), ServerPort::Name("8080".into())),
    ] {
        assert_eq!(server(opaque(json!({}), port)).0.unwrap().port, expected);
    }
}

#[test]
fn no_selector_chooses_nothing_and_an_empty_one_everything() {
    assert_eq!(pods(json!(null)), (None, vec![]));
    for empty in [
        json!({}),
        json!({"matchLabels": null, "matchExpressions": []}),
    ] {
        assert_eq!(pods(empty), (Some(LabelSelector::default()), vec![]));
    }
}

#[test]
fn a_selector_that_makes_no_sense_chooses_nothing_and_is_named() {
    let expression = |key: &str, operator: Value, values: Value| {
        json!({"matchLabels": {"app": "db"},
               "matchExpressions": [{"key": key, "operator": operator, "values": values}]})
    };
    let long = "x".repeat(64);
    let operators = "[0].operator: must be one of In, NotIn, Exists, DoesNotExist";
    for (selector, reason) in [
        (expression("a", json!("Near"), json!(["x"])), operators),
        (expression("a", json!(null), json!(null)), operators),
        (
            expression("a", json!("In"), json!(null)),
            "[0].values: must not be empty",
        ),
        (
            expression("a", json!("NotIn"), json!([])),
            "[0].values: must not be empty",
        ),
        (
            expression("a", json!("Exists"), json!(["x"])),
            "[0].values: must be empty",
        ),
        (
            expression("a", json!("DoesNotExist"), json!(["x"])),
            "[0].values: must be empty",
        ),
        (
            expression("", json!("Exists"), json!([])),
            "[0]: `` is no key of a label",
        ),
        (
            expression("a b", json!("Exists"), json!([])),
            "[0]: `a b` is no key of a label",
        ),
        (
            expression("a/", json!("Exists"), json!([])),
            "[0]: `a/` is no key of a label",
        ),
        (
            expression("/a", json!("Exists"), json!([])),
            "[0]: `/a` is no key of a label",
        ),
        (
            expression("A.b/a", json!("Exists"), json!([])),
            "[0]: `A.b/a` is no key of a label",
        ),
        (
            expression("a", json!("NotIn"), json!(["-x"])),
            "[0]: `-x` is no value of a label",
        ),
        (
            expression("a", json!("NotIn"), json!(["é"])),
            "[0]: `é` is no value of a label",
        ),
        (
            expression("a", json!("NotIn"), json!([long])),
            &format!("[0]: `{long}` is no value of a label"),
        ),
    ] {
        let text = format!("a selector is skipped: spec.podSelector.matchExpressions{reason}");
        assert_eq!(pods(selector), (None, vec![text]));
    }
    let text =
        "a selector is skipped: spec.podSelector.matchLabels.app: `a b` is no value of a label";
    assert_eq!(
        pods(json!({"matchLabels": {"app": "a b"}})),
        (None, vec![text.to_owned()])
    );
}

#[test]
fn a_server_of_the_wrong_shape_is_known_and_says_nothing() {
    let port = "spec.port: must be a port (1 to 65535) or the name of one";
    for (spec, reason) in [
        (json!([]), "spec: must be an object"),
        (
            json!({"proxyProtocol": 5}),
            "spec.proxyProtocol: must be a text",
        ),
        (
            opaque(json!([]), json!(80)),
            "spec.podSelector: must be an object",
        ),
        (
            opaque(json!({"matchLabels": {"app": 5}}), json!(80)),
            "spec.podSelector.matchLabels.app: must be a text",
        ),
        (
            opaque(json!({"matchExpressions": [{"values": [5]}]}), json!(80)),
            "spec.podSelector.matchExpressions[0].values[0]: must be a text",
        ),
        (opaque(json!({}), json!(null)), port),
        (opaque(json!({}), json!("")), port),
        (opaque(json!({}), json!(0)), port),
        (opaque(json!({}), json!(-80)), port),
        (opaque(json!({}), json!(65536)), port),
        (opaque(json!({}), json!(80.5)), port),
        (
            opaque(json!({}), json!(true)),
            "spec.port: must be a number or a text",
        ),
    ] {
        let unusable = refusal(FactKind::Server, object(spec));
        assert_eq!(
            unusable.to_string(),
            format!("servers shop/db is invalid: {reason}")
        );
        let key = FactKey::named(FactKind::Server, "shop", "db");
        assert_eq!((unusable.key(), unusable.label()), (Some(&key), "invalid"));
    }
}
