#![allow(
    clippy::cloned_ref_to_slice_refs,
    reason = "slices of one message look like those of two"
)]

use super::*;
use crate::corpus::{Expected, Recording};
use serde_json::{Value, json};

const PATH: &str = "web.shop.svc.cluster.local:80";

fn endpoint(number: u32, zone: &str) -> Value {
    json!({
        "addr": {"ip": {"ipv4": 0x0a00_0000 + number}, "port": 80},
        "metric_labels": {"zone": zone},
        "protocol_hint": {"h2": {}},
    })
}

fn add(endpoints: &[Value]) -> Value {
    json!({"add": {"addrs": endpoints, "metric_labels": {"service": "web"}}})
}

fn remove(number: u32) -> Value {
    json!({"remove": {"addrs": [{"ip": {"ipv4": 0x0a00_0000 + number}, "port": 80}]}})
}

fn none(exists: bool) -> Value {
    if exists {
        json!({"no_endpoints": {"exists": true}})
    } else {
        json!({"no_endpoints": {}})
    }
}

fn entries(steps: &[&[Value]]) -> Vec<Entry> {
    let numbered = (1_u32..).zip(steps);
    let entry = |(after_step, messages): (u32, &&[Value])| Entry {
        after_step,
        messages: messages.to_vec(),
        end: None,
    };
    numbered.map(entry).collect()
}

fn ended(code: &str, message: &str) -> Vec<Entry> {
    vec![Entry {
        after_step: 1,
        messages: vec![],
        end: Some(crate::corpus::End {
            code: code.into(),
            message: message.into(),
        }),
    }]
}

fn verdict(
    method: Method,
    log: Vec<Entry>,
    expected: &Value,
    decided: &Decided,
    ours: Vec<Entry>,
) -> Verdict {
    let recording = json!({"streams": {"s": {
        "method": match method { Method::Get => "Get", Method::GetProfile => "GetProfile" },
        "path": PATH, "state": "open", "log": [],
    }}});
    let mut recording: Recording = serde_json::from_value(recording).unwrap();
    recording.streams.get_mut("s").unwrap().log = log;
    let expected = expected.is_object().then(|| {
        let file =
            json!({"quirk": "A", "spec": "A1", "note": "the note", "streams": {"s": expected}});
        Expected::try_from(&file).unwrap()
    });
    let scenario = Scenario {
        name: "001-x".into(),
        objects: vec![],
        script: crate::yaml::read("{scenario: x, rules: A1, about: x, steps: []}").unwrap(),
        recordings: [(Instance::Chart, recording)].into(),
        expected,
    };
    let seen = [("s".to_owned(), ours)].into();
    let mut verdicts = compare(&scenario, Instance::Chart, &seen, decided);
    verdicts.remove("s").unwrap()
}

fn get(log: &[&[Value]], expected: &Value, ours: &[&[Value]]) -> Verdict {
    verdict(
        Method::Get,
        entries(log),
        expected,
        &Decided::default(),
        entries(ours),
    )
}

fn profile(log: &[&[Value]], expected: &Value, ours: &[&[Value]]) -> Verdict {
    verdict(
        Method::GetProfile,
        entries(log),
        expected,
        &Decided::default(),
        entries(ours),
    )
}

fn right() -> Verdict {
    Verdict::RightWhereRecordingWrong("the note".to_owned())
}

fn is_different(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Different(_))
}

#[test]
fn sets_are_compared_and_not_messages() {
    let (a, b) = (endpoint(1, "a"), endpoint(2, "a"));
    let both = add(&[a.clone(), b.clone()]);
    let (a, b) = (add(&[a]), add(&[b]));
    for (log, ours) in [
        (vec![vec![both.clone()]], vec![vec![a.clone(), b.clone()]]),
        (vec![vec![a.clone(), a.clone()]], vec![vec![a.clone()]]),
        (vec![vec![]], vec![vec![none(true)]]),
        (
            vec![vec![], vec![a.clone()]],
            vec![vec![none(true)], vec![a.clone()]],
        ),
        (
            vec![vec![both.clone()], vec![remove(2)]],
            vec![vec![both.clone()], vec![remove(2)]],
        ),
        (
            vec![vec![a.clone()], vec![add(&[])]],
            vec![vec![a.clone()], vec![]],
        ),
        (
            vec![vec![a.clone()], vec![remove(1)]],
            vec![vec![a.clone()], vec![none(true)]],
        ),
    ] {
        let log: Vec<&[Value]> = log.iter().map(Vec::as_slice).collect();
        let ours: Vec<&[Value]> = ours.iter().map(Vec::as_slice).collect();
        assert_eq!(get(&log, &json!(null), &ours), Verdict::Equal);
    }
}

#[test]
fn a_label_a_step_too_late_or_an_absent_service_is_different() {
    let (a, other) = (add(&[endpoint(1, "a")]), add(&[endpoint(1, "b")]));
    let mut unlabelled = a.clone();
    unlabelled["add"]["metric_labels"] = json!({});
    for (log, ours) in [
        (vec![vec![a.clone()]], vec![vec![other]]),
        (vec![vec![a.clone()]], vec![vec![unlabelled]]),
        (vec![vec![a.clone()], vec![]], vec![vec![], vec![a.clone()]]),
        (vec![vec![]], vec![vec![none(false)]]),
        (vec![vec![a.clone()]], vec![]),
    ] {
        let log: Vec<&[Value]> = log.iter().map(Vec::as_slice).collect();
        let ours: Vec<&[Value]> = ours.iter().map(Vec::as_slice).collect();
        let verdict = get(&log, &json!(null), &ours);
        assert!(is_different(&verdict), "{verdict}");
    }
}

#[test]
fn a_difference_is_shown() {
    let verdict = get(
        &[&[add(&[endpoint(1, "a")])]],
        &json!(null),
        &[&[add(&[endpoint(1, "b")])]],
    );
    let text = verdict.to_string();
    let begin = "different: after step 1: the set differs (- wanted, + ours)\n";
    assert!(text.starts_with(begin), "{text}");
    assert!(
        text.contains("-         \"zone\": \"a\"\n +         \"zone\": \"b\"\n"),
        "{text}"
    );
}

#[test]
fn ends_are_compared_by_code_and_one_text() {
    let ends = |method, recorded: (&str, &str), ours: (&str, &str)| {
        let (log, ours) = (ended(recorded.0, recorded.1), ended(ours.0, ours.1));
        verdict(method, log, &json!(null), &Decided::default(), ours) == Verdict::Equal
    };
    let (get, profile) = (Method::Get, Method::GetProfile);
    assert!(ends(get, ("NOT_FOUND", "a"), ("NOT_FOUND", "b")));
    assert!(!ends(get, ("NOT_FOUND", "a"), ("UNKNOWN", "a")));
    assert!(!ends(get, ("UNKNOWN", "a"), ("NOT_FOUND", "a")));
    assert!(ends(profile, ("UNKNOWN", "a"), ("NOT_FOUND", "a")));
    assert!(!ends(profile, ("NOT_FOUND", "a"), ("UNKNOWN", "a")));
    let text = "Invalid authority: web";
    assert!(ends(
        get,
        ("INVALID_ARGUMENT", text),
        ("INVALID_ARGUMENT", text)
    ));
    assert!(!ends(
        get,
        ("INVALID_ARGUMENT", text),
        ("INVALID_ARGUMENT", "x")
    ));
    assert!(ends(
        get,
        ("INVALID_ARGUMENT", "IP queries"),
        ("INVALID_ARGUMENT", "x")
    ));
    assert!(ends(
        profile,
        ("INVALID_ARGUMENT", text),
        ("INVALID_ARGUMENT", "x")
    ));
    let open = verdict(
        get,
        ended("OK", ""),
        &json!(null),
        &Decided::default(),
        entries(&[&[]]),
    );
    assert!(is_different(&open));
}

#[test]
fn profiles_are_compared_by_the_last_message_and_without_a_kind() {
    let recorded = json!({"profile_ref": {"resource": {"group": "g", "kind": "ServiceProfile"}}});
    let ours = json!({"profile_ref": {"resource": {"group": "g"}}});
    let other = json!({"profile_ref": {"resource": {"group": "h"}}});
    let first = std::slice::from_ref(&other);
    let (recorded, ours) = (std::slice::from_ref(&recorded), std::slice::from_ref(&ours));
    assert_eq!(profile(&[recorded], &json!(null), &[ours]), Verdict::Equal);
    let twice = [first, ours].concat();
    assert_eq!(
        profile(&[recorded], &json!(null), &[&twice]),
        Verdict::Equal
    );
    assert!(is_different(&profile(&[recorded], &json!(null), &[first])));
    assert!(is_different(&profile(&[recorded], &json!(null), &[&[]])));
    assert!(is_different(&profile(&[&[]], &json!(null), &[ours])));
}

#[test]
fn what_is_expected_overrides_the_recording_at_the_end() {
    let (old, new) = (add(&[endpoint(1, "a")]), add(&[endpoint(2, "a")]));
    let log: &[&[Value]] = &[&[old.clone()], &[], &[]];
    let expected = json!({"final": {"chart": [endpoint(2, "a")]}, "final_addrs": ["10.0.0.2:80"]});
    let moved = [new.clone(), remove(1)];
    assert_eq!(get(log, &expected, &[&[old.clone()], &moved, &[]]), right());
    assert_eq!(get(log, &expected, &[&[old.clone()], &[], &moved]), right());
    for wrong in [
        vec![vec![old.clone()], vec![], vec![]],
        vec![vec![old.clone()], vec![none(true)], moved.to_vec()],
        vec![
            vec![old.clone()],
            vec![],
            vec![add(&[endpoint(2, "b")]), remove(1)],
        ],
    ] {
        let wrong: Vec<&[Value]> = wrong.iter().map(Vec::as_slice).collect();
        let verdict = get(log, &expected, &wrong);
        assert!(is_different(&verdict), "{verdict}");
    }
}

#[test]
fn an_expected_step_is_due_at_that_step() {
    let (a, b) = (add(&[endpoint(1, "a")]), add(&[endpoint(2, "a")]));
    let log: &[&[Value]] = &[&[a.clone()], &[remove(1)], &[a.clone(), b.clone()]];
    let expected = json!({"after_step_2_addrs": ["10.0.0.1:80", "10.0.0.2:80"]});
    assert_eq!(
        get(log, &expected, &[&[a.clone()], &[b.clone()], &[]]),
        right()
    );
    let verdict = get(
        log,
        &expected,
        &[&[a.clone()], &[remove(1)], &[a.clone(), b]],
    );
    assert!(is_different(&verdict), "{verdict}");
    // Of the right addresses, but never recorded so.
    let verdict = get(
        log,
        &expected,
        &[&[a.clone()], &[add(&[endpoint(2, "c")])], &[a]],
    );
    assert!(is_different(&verdict), "{verdict}");
}

#[test]
fn an_empty_first_set_must_be_said() {
    let expected = json!({"first_after_step_1": {"no_endpoints": {"exists": true}}});
    assert_eq!(get(&[&[]], &expected, &[&[none(true)]]), Verdict::Equal);
    assert!(is_different(&get(&[&[]], &expected, &[&[]])));
    let expected = json!({"final": {"chart": [], "plain": []}});
    assert_eq!(get(&[&[]], &expected, &[&[none(true)]]), Verdict::Equal);
    assert!(is_different(&get(&[&[]], &expected, &[&[]])));
}

#[test]
fn a_part_is_overridden_and_the_rest_compared() {
    let recorded = endpoint(1, "a");
    let mut opaque = recorded.clone();
    opaque["protocol_hint"] = json!({"opaque": {}});
    let mut moved = opaque.clone();
    moved["metric_labels"]["zone"] = json!("b");
    let log: &[&[Value]] = &[&[add(&[recorded.clone()])]];
    let expected = json!({"opaque_addrs": ["10.0.0.1:80"]});
    assert_eq!(get(log, &expected, &[&[add(&[opaque.clone()])]]), right());
    assert!(is_different(&get(
        log,
        &expected,
        &[&[add(&[recorded.clone()])]]
    )));
    assert!(is_different(&get(log, &expected, &[&[add(&[moved])]])));
    let expected = json!({"opaque_addrs": []});
    let log: &[&[Value]] = &[&[add(&[opaque.clone()])]];
    assert_eq!(get(log, &expected, &[&[add(&[recorded])]]), right());
    assert!(is_different(&get(log, &expected, &[&[add(&[opaque])]])));
}

#[test]
fn labels_identities_and_overrides_are_parts() {
    let with = |pointer: &str, value: Value| {
        let mut endpoint = endpoint(1, "a");
        endpoint[pointer] = value;
        add(&[endpoint])
    };
    let log: &[&[Value]] = &[&[add(&[endpoint(1, "a")])]];
    let uri = with(
        "tls_identity",
        json!({"uri_like_identity": {"uri": "spiffe://a"}}),
    );
    let dns = with("tls_identity", json!({"dns_like_identity": {"name": "id"}}));
    let authority = with(
        "authority_override",
        json!({"authority_override": "web:80"}),
    );
    let mut labelled = add(&[endpoint(1, "a")]);
    labelled["add"]["metric_labels"] = json!({"namespace": "shop"});
    for (expected, ours) in [
        (json!({"final_uri_identity": "spiffe://a"}), uri),
        (json!({"after_step_1_dns_identity": "id"}), dns),
        (
            json!({"after_step_1_authority_override": "web:80"}),
            authority,
        ),
        (
            json!({"after_step_1_set_labels": {"namespace": "shop"}}),
            labelled,
        ),
    ] {
        assert_eq!(get(log, &expected, &[&[ours]]), right());
        assert!(is_different(&get(log, &expected, log)), "{expected}");
    }
}

#[test]
fn fields_of_a_profile_are_overridden() {
    let recorded = json!({"fully_qualified_name": "x", "endpoint": {"weight": 1, "metric_labels": {"pod": "a"}}});
    let log: &[&[Value]] = &[std::slice::from_ref(&recorded)];
    let with = |key: &str, value: Value| {
        let mut profile = recorded.clone();
        profile[key] = value;
        profile
    };
    let routes = json!([{"metrics_labels": {"route": "r"}}]);
    let other = json!({"weight": 1, "metric_labels": {"pod": "b", "zone": ""}});
    for (expected, ours) in [
        (
            json!({"final_profile": {"opaque_protocol": true}}),
            with("opaque_protocol", json!(true)),
        ),
        (
            json!({"after_step_1": {"endpoint_metric_labels": {}}}),
            with("endpoint", json!({"weight": 1})),
        ),
        (
            json!({"after_step_1": {"endpoint_metric_labels": {"pod": "b"}}}),
            with("endpoint", other),
        ),
        (json!({"after_step_1_route": "r"}), with("routes", routes)),
        (json!({"final_profile_empty": true}), json!({})),
    ] {
        assert_eq!(
            profile(log, &expected, &[std::slice::from_ref(&ours)]),
            right(),
            "{expected}"
        );
        assert!(is_different(&profile(log, &expected, log)), "{expected}");
    }
    let fresh = json!({"fully_qualified_name": "y"});
    let expected =
        json!({"final_profile_nonempty": true, "fresh_controller_profile": {"chart": fresh}});
    let empty: &[&[Value]] = &[&[json!({})]];
    assert_eq!(profile(empty, &expected, &[&[fresh]]), right());
    assert!(is_different(&profile(empty, &expected, &[&[recorded]])));
    assert!(is_different(&profile(empty, &expected, empty)));
}

#[test]
fn silence_is_replaced_by_the_default_profile() {
    let default = json!({
        "fully_qualified_name": "web.shop.svc.cluster.local",
        "parent_ref": {"resource": {
            "group": "core", "kind": "Service", "name": "web", "namespace": "shop", "port": 80,
        }},
        "profile_ref": {"resource": {"group": "linkerd.io", "name": "web", "namespace": "shop"}},
        "retry_budget": {"min_retries_per_second": 10, "retry_ratio": 0.2, "ttl": "10s"},
    });
    let mut routed = default.clone();
    routed["routes"] = json!([{}]);
    let expected = json!({"if_silent": "default_profile"});
    assert_eq!(
        profile(&[&[]], &expected, &[std::slice::from_ref(&default)]),
        right()
    );
    assert!(is_different(&profile(&[&[]], &expected, &[&[]])));
    assert!(is_different(&profile(
        &[&[]],
        &expected,
        &[std::slice::from_ref(&routed)]
    )));
    let log: &[&[Value]] = &[std::slice::from_ref(&routed)];
    assert_eq!(profile(log, &expected, log), Verdict::Equal);
    assert!(is_different(&profile(log, &expected, &[&[default]])));
}

#[test]
fn a_process_that_lives_is_right() {
    let expected = json!({"end_code": "NOT_FOUND", "must_not_crash": true});
    let judge = |ours| {
        let log = ended("UNAVAILABLE", "");
        verdict(
            Method::GetProfile,
            log,
            &expected,
            &Decided::default(),
            ours,
        )
    };
    assert_eq!(judge(ended("NOT_FOUND", "x")), right());
    assert!(is_different(&judge(ended("UNAVAILABLE", ""))));
    let open = json!({"state": "open", "must_not_crash": true});
    let log = ended("UNAVAILABLE", "");
    let ours = entries(&[&[]]);
    assert_eq!(
        verdict(Method::Get, log, &open, &Decided::default(), ours),
        right()
    );
}

#[test]
fn a_decision_of_ours_is_whole_and_due() {
    let decided = |answer: &str| {
        let head = "scenario: 001-x, stream: s, steps: [1], instance: chart, reason: ours";
        Decided::read(&format!("[{{{head}, answer: {answer}}}]")).unwrap()
    };
    let judge = |decided: &Decided, ours| {
        verdict(Method::Get, entries(&[&[]]), &json!(null), decided, ours)
    };
    let ours = || Verdict::RightWhereRecordingWrong("ours".to_owned());
    let set = decided("{set: [{addr: 10.0.0.1:80, weight: 1}]}");
    let told = |weight: u32| {
        entries(&[&[add(&[
            json!({"addr": endpoint(1, "a")["addr"], "weight": weight}),
        ])]])
    };
    assert_eq!(judge(&set, told(1)), ours());
    assert!(is_different(&judge(&set, told(2))));
    assert!(is_different(&judge(&set, entries(&[&[]]))));
    let end = decided("{end: NOT_FOUND}");
    assert_eq!(judge(&end, ended("NOT_FOUND", "")), ours());
    assert!(is_different(&judge(&end, entries(&[&[]]))));
}

#[test]
fn a_bad_decision_is_refused() {
    let error = Decided::read("[{scenario: x, steam: s}]")
        .unwrap_err()
        .to_string();
    let begin =
        "error: line 1 column 16: unknown field `steam`, expected one of scenario, stream, ";
    assert!(error.starts_with(begin), "{error}");
}

#[test]
fn what_is_right_for_one_stream_is_right_for_another_that_asks_the_same() {
    let (old, new) = (
        json!({"fully_qualified_name": "a"}),
        json!({"fully_qualified_name": "b"}),
    );
    let recorded = |path: &str| {
        json!({
            "method": "GetProfile", "path": path, "state": "open",
            "log": [{"after_step": 1, "messages": [{"message": old, "summary": ""}]}],
        })
    };
    let streams = json!({"named": recorded(PATH), "same": recorded(PATH), "other": recorded("x")});
    let keys = json!({"named": {"final_profile": {"fully_qualified_name": "b"}}});
    let file = json!({"quirk": "A", "spec": "A1", "note": "the note", "streams": keys});
    let scenario = Scenario {
        name: "001-x".into(),
        objects: vec![],
        script: crate::yaml::read("{scenario: x, rules: A1, about: x, steps: []}").unwrap(),
        recordings: [(
            Instance::Chart,
            serde_json::from_value(json!({"streams": streams})).unwrap(),
        )]
        .into(),
        expected: Some(Expected::try_from(&file).unwrap()),
    };
    let ours = entries(&[&[new]]);
    let seen = ["named", "same", "other"].map(|name| (name.to_owned(), ours.clone()));
    let verdicts = compare(
        &scenario,
        Instance::Chart,
        &seen.into(),
        &Decided::default(),
    );
    assert_eq!(
        (&verdicts["named"], &verdicts["same"]),
        (&right(), &right())
    );
    assert!(is_different(&verdicts["other"]));
}
