//! Service profiles.

use lockstep_model::{
    Condition, DstOverride, Ratio, RequestMatch, ResponseClass, RetryBudget, Route,
    ServiceProfileRecord, StatusRange,
};
use std::sync::Arc;

use super::*;

const NAME: &str = "web.shop.svc.cluster.local";

fn object(spec: Value) -> Value {
    json!({"metadata": {"name": NAME, "namespace": "shop"}, "spec": spec})
}

fn profile(spec: Value) -> (ServiceProfileRecord, Vec<String>) {
    let converted = convert(FactKind::ServiceProfile, &object(spec));
    assert_eq!(
        converted.key,
        FactKey::named(FactKind::ServiceProfile, "shop", NAME)
    );
    let skipped = skipped(&converted);
    match converted.fact {
        Fact::ServiceProfile(record) => (Arc::unwrap_or_clone(record), skipped),
        other => panic!("not a profile: {other:?}"),
    }
}

fn invalid(spec: Value) -> String {
    let unusable = refusal(FactKind::ServiceProfile, object(spec));
    let key = FactKey::named(FactKind::ServiceProfile, "shop", NAME);
    assert_eq!((unusable.key(), unusable.label()), (Some(&key), "invalid"));
    let text = unusable.to_string();
    let beginning = format!("serviceprofiles shop/{NAME} is invalid: ");
    text.strip_prefix(&beginning).unwrap().to_owned()
}

fn request(condition: Value) -> Condition<RequestMatch> {
    let (record, skipped) = profile(json!({"routes": [{"condition": condition}]}));
    assert_eq!(skipped, [""; 0]);
    record.routes.into_iter().next().unwrap().condition
}

fn response(condition: Value) -> Condition<StatusRange> {
    let classes = json!([{"condition": condition}]);
    let route = json!({"condition": {"method": "GET"}, "responseClasses": classes});
    let (record, _) = profile(json!({"routes": [route]}));
    let mut classes = record.routes.into_iter().flat_map(|it| it.response_classes);
    classes.next().unwrap().condition
}

fn method(name: &str) -> Condition<RequestMatch> {
    Condition::Is(RequestMatch::Method(name.into()))
}

fn path(regex: &str) -> Condition<RequestMatch> {
    Condition::Is(RequestMatch::PathRegex(regex.into()))
}

fn status(min: u32, max: u32) -> Condition<StatusRange> {
    Condition::Is(StatusRange { min, max })
}

fn not<Leaf>(inner: Condition<Leaf>) -> Condition<Leaf> {
    Condition::Not(Box::new(inner))
}

#[test]
fn a_profile_tells_all() {
    let (record, skipped) = profile(json!({
        "routes": [
            {"name": "get", "condition": {"method": "GET"}, "isRetryable": true, "timeout": "1.5s",
             "responseClasses": [{"condition": {"status": {"min": 500, "max": 599}},
                                  "isFailure": true}]},
            {"name": "rest", "condition": {"pathRegex": "/.*"}}],
        "retryBudget": {"retryRatio": 0.2, "minRetriesPerSecond": 10, "ttl": "1m30s"},
        "dstOverrides": [{"authority": "a.shop.svc.cluster.local:80", "weight": "500m"},
                         {"authority": "b.", "weight": 1}],
        "opaquePorts": ["80"],
    }));
    let expected = ServiceProfileRecord {
        routes: vec![
            Route {
                name: "get".into(),
                condition: method("GET"),
                response_classes: vec![ResponseClass {
                    condition: status(500, 599),
                    is_failure: true,
                }],
                is_retryable: true,
                timeout_ns: Some(1_500_000_000),
            },
            Route {
                name: "rest".into(),
                condition: path("/.*"),
                response_classes: vec![],
                is_retryable: false,
                timeout_ns: None,
            },
        ],
        retry_budget: Some(RetryBudget {
            retry_ratio: Ratio::new(0.2),
            min_retries_per_second: 10,
            ttl_ns: Some(90_000_000_000),
        }),
        dst_overrides: vec![
            DstOverride {
                authority: "a.shop.svc.cluster.local:80".into(),
                weight: 5_000,
            },
            DstOverride {
                authority: "b.".into(),
                weight: 10_000,
            },
        ],
    };
    assert_eq!((record, skipped), (expected, vec![]));
}

#[test]
fn a_profile_may_say_nothing_and_its_opaque_ports_never_count() {
    for spec in [
        json!(null),
        json!({}),
        json!({"routes": null, "retryBudget": null, "dstOverrides": null}),
        json!({"opaquePorts": ["80"]}),
        json!({"opaquePorts": {"80": {}}}),
        json!({"opaquePorts": 80}),
    ] {
        assert_eq!(profile(spec), (ServiceProfileRecord::default(), vec![]));
    }
}

#[test]
fn request_conditions_are_taken_in_a_fixed_order() {
    for (condition, expected) in [
        (json!({"method": "brew"}), method("BREW")),
        (json!({"all": []}), Condition::All(vec![])),
        (json!({"any": []}), Condition::Any(vec![])),
        (json!({"not": {"method": "get"}}), not(method("GET"))),
        (
            json!({"all": [{"not": {"method": "GET"}}, {"pathRegex": "/x"}]}),
            Condition::All(vec![not(method("GET")), path("/x")]),
        ),
        (
            json!({"pathRegex": "/c", "not": {"any": [{"method": "PUT"}]}, "method": "HEAD",
                   "any": [{"method": "GET"}], "all": [{"pathRegex": "/a"}], "zzz": 1}),
            Condition::All(vec![
                Condition::All(vec![path("/a")]),
                Condition::Any(vec![method("GET")]),
                method("HEAD"),
                not(Condition::Any(vec![method("PUT")])),
                path("/c"),
            ]),
        ),
    ] {
        assert_eq!(request(condition), expected);
    }
}

#[test]
fn response_conditions_are_taken_in_a_fixed_order() {
    for (condition, expected) in [
        (json!({"status": {}}), status(0, 0)),
        (json!({"status": {"min": 400}}), status(400, 0)),
        (json!({"status": {"max": 299, "min": null}}), status(0, 299)),
        (
            json!({"status": {"min": 100, "max": 599}}),
            status(100, 599),
        ),
        (
            json!({"status": {"min": 404, "max": 404}}),
            status(404, 404),
        ),
        (json!({"all": []}), Condition::All(vec![])),
        (
            json!({"not": {"status": {"min": 403}}, "status": {"min": 402},
                   "any": [{"status": {"min": 401}}], "all": [{"status": {"min": 400}}]}),
            Condition::All(vec![
                Condition::All(vec![status(400, 0)]),
                Condition::Any(vec![status(401, 0)]),
                status(402, 0),
                not(status(403, 0)),
            ]),
        ),
    ] {
        assert_eq!(response(condition), expected);
    }
}

#[test]
fn a_timeout_is_a_duration_or_none() {
    for (timeout, expected, is_named) in [
        (json!("200ms"), Some(200_000_000), false),
        (json!("-5s"), Some(-5_000_000_000), false),
        (json!("0s"), None, false),
        (json!(""), None, false),
        (json!(null), None, false),
        (json!("10"), None, true),
        (json!("bad"), None, true),
    ] {
        let route = json!({"condition": {"all": []}, "timeout": timeout});
        let (record, skipped) = profile(json!({"routes": [route]}));
        assert_eq!(record.routes[0].timeout_ns, expected, "{timeout}");
        let text = format!(
            "spec.routes[0].timeout: `{}` is skipped: \
             it is not a duration such as `200ms`, `10s` or `1m30s`",
            timeout.as_str().unwrap_or_default()
        );
        assert_eq!(skipped, if is_named { vec![text] } else { vec![] });
    }
}

#[test]
fn a_budget_is_read_with_its_zeros() {
    let budget = |budget: Value| {
        profile(json!({"retryBudget": budget}))
            .0
            .retry_budget
            .unwrap()
    };
    let found = budget(json!({"ttl": "0s"}));
    let zero = RetryBudget {
        retry_ratio: Ratio::new(0.0),
        min_retries_per_second: 0,
        ttl_ns: None,
    };
    assert_eq!(found, zero);
    let found =
        budget(json!({"retryRatio": 2, "minRetriesPerSecond": 4_294_967_295_u32, "ttl": "-1h"}));
    let large = RetryBudget {
        retry_ratio: Ratio::new(2.0),
        min_retries_per_second: u32::MAX,
        ttl_ns: Some(-3_600_000_000_000),
    };
    assert_eq!(found, large);
}

#[test]
fn weights_are_ten_thousandths_rounded_up() {
    for (weight, expected) in [
        (json!("500m"), 5_000),
        (json!("1"), 10_000),
        (json!("100u"), 10),
        (json!("1m"), 10),
        (json!("1k"), 10_000_000),
        (json!(" 2 "), 20_000),
        (json!("0"), 0),
        (json!(null), 0),
        (json!(3), 30_000),
        (json!(0.5), 5_000),
        (json!("429496729m"), 4_294_967_290),
    ] {
        let (record, skipped) = profile(json!({"dstOverrides": [{"weight": weight}]}));
        let only = DstOverride {
            authority: "".into(),
            weight: expected,
        };
        assert_eq!(
            (record.dst_overrides, skipped),
            (vec![only], vec![]),
            "{weight}"
        );
    }
}

#[test]
fn weights_that_cannot_be_told_are_cut_or_skipped_and_named() {
    let (record, skipped) = profile(json!({"dstOverrides": [
        {"authority": "a", "weight": "-1"}, {"authority": "b", "weight": "1Ei"},
        {"authority": "c", "weight": 429_496.73}]}));
    let weights: Vec<_> = record
        .dst_overrides
        .iter()
        .map(|it| (&*it.authority, it.weight))
        .collect();
    assert_eq!(weights, [("b", u32::MAX), ("c", u32::MAX)]);
    assert_eq!(
        skipped,
        [
            "spec.dstOverrides[0].weight: the destination is skipped: its weight `-1` is below zero",
            "spec.dstOverrides[1].weight: `1Ei` is cut to 429496.7295: larger weights cannot be told",
            "spec.dstOverrides[2].weight: `429496.73` is cut to 429496.7295: \
             larger weights cannot be told",
        ],
    );
}

const TRUTH: &str = "must be true or false";

/// Each text that says what is wrong with an object, which is known and says nothing.
fn assert_invalid(cases: Vec<(Value, &str, &str)>) {
    for (spec, place, reason) in cases {
        assert_eq!(invalid(spec), format!("{place}: {reason}"));
    }
}

#[test]
fn a_route_that_is_none_is_named_by_its_place() {
    let condition = "must have one of all, any, method, not, pathRegex";
    let route = |route: Value| json!({"routes": [{"condition": {"all": []}}, route]});
    let with = |name: &str, value: Value| route(json!({"condition": {"all": []}, name: value}));
    assert_invalid(vec![
        (json!([]), "spec", "must be an object"),
        (json!({"routes": {}}), "spec.routes", "must be a list"),
        (
            json!({"routes": [null]}),
            "spec.routes[0].condition",
            condition,
        ),
        (
            json!({"routes": [5]}),
            "spec.routes[0]",
            "must be an object",
        ),
        (route(json!({})), "spec.routes[1].condition", condition),
        (
            with("isRetryable", json!("yes")),
            "spec.routes[1].isRetryable",
            TRUTH,
        ),
        (
            with("timeout", json!(10)),
            "spec.routes[1].timeout",
            "must be a text",
        ),
        (
            with("name", json!(10)),
            "spec.routes[1].name",
            "must be a text",
        ),
    ]);
}

#[test]
fn a_request_condition_that_is_none_is_named_by_its_place() {
    let reason = "must have one of all, any, method, not, pathRegex";
    let object = "must be an object";
    for (condition, place, reason) in [
        (json!({}), "", reason),
        (json!({"zzz": 1}), "", reason),
        (
            json!({"method": "", "pathRegex": "", "all": null}),
            "",
            reason,
        ),
        (json!([]), "", object),
        (json!({"method": 5}), ".method", "must be a text"),
        (json!({"all": {}}), ".all", "must be a list"),
        (json!({"all": [{}]}), ".all[0]", reason),
        (json!({"any": [{"method": "GET"}, null]}), ".any[1]", reason),
        (json!({"any": [{"zzz": 1}]}), ".any[0]", reason),
        (
            json!({"all": [{"method": 5}]}),
            ".all[0].method",
            "must be a text",
        ),
        (json!({"not": [{"method": "GET"}]}), ".not", object),
        (json!({"not": {}}), ".not", reason),
    ] {
        let spec = json!({"routes": [{"condition": condition}]});
        let expected = format!("spec.routes[0].condition{place}: {reason}");
        assert_eq!(invalid(spec), expected);
    }
}

#[test]
fn a_response_class_that_is_none_is_named_by_its_place() {
    let reason = "must have one of all, any, status, not";
    let code = "must be a status code (100 to 599), or 0 for no bound";
    let count = "must be a whole number from 0 to 4294967295";
    let status = |status: Value| json!({"condition": {"status": status}});
    let (min, max) = (".condition.status.min", ".condition.status.max");
    let inverted = status(json!({"min": 500, "max": 400}));
    for (class, place, reason) in [
        (json!(null), ".condition", reason),
        (json!({}), ".condition", reason),
        (json!({"condition": {}}), ".condition", reason),
        (
            json!({"condition": {"method": "GET"}}),
            ".condition",
            reason,
        ),
        (
            json!({"condition": {"all": [{}]}}),
            ".condition.all[0]",
            reason,
        ),
        (
            json!({"condition": {"all": []}, "isFailure": 1}),
            ".isFailure",
            TRUTH,
        ),
        (status(json!(500)), ".condition.status", "must be an object"),
        (status(json!({"min": 50, "max": 700})), min, code),
        (status(json!({"min": 100, "max": 600})), max, code),
        (status(json!({"min": -1})), min, count),
        (status(json!({"min": 200.5})), min, count),
        (status(json!({"min": "200"})), min, count),
        (inverted, ".condition.status", "max 400 is below min 500"),
    ] {
        let route = json!({"condition": {"all": []}, "responseClasses": [class]});
        let expected = format!("spec.routes[0].responseClasses[0]{place}: {reason}");
        assert_eq!(invalid(json!({"routes": [route]})), expected);
    }
}

#[test]
fn a_budget_or_an_override_that_is_none_is_named_by_its_place() {
    let budget = |name: &str, value: Value| {
        let mut budget = json!({"ttl": "1s"});
        budget[name] = value;
        json!({"retryBudget": budget})
    };
    let weight = |weight: Value| json!({"dstOverrides": [{}, {"weight": weight}]});
    let (ttl, duration) = (
        "spec.retryBudget.ttl",
        "must be a duration such as `200ms`, `10s` or `1m30s`",
    );
    let (ratio, number) = ("spec.retryBudget.retryRatio", "must be a number of 32 bits");
    let (least, count) = (
        "spec.retryBudget.minRetriesPerSecond",
        "must be a whole number from 0 to 4294967295",
    );
    let (share, quantity) = (
        "spec.dstOverrides[1].weight",
        "must be a quantity such as `500m`, `2` or `1k`",
    );
    let authority = json!({"dstOverrides": [{"authority": 5}]});
    assert_invalid(vec![
        (
            json!({"retryBudget": 5}),
            "spec.retryBudget",
            "must be an object",
        ),
        (json!({"retryBudget": {}}), ttl, duration),
        (budget("ttl", json!("soon")), ttl, duration),
        (budget("ttl", json!("10")), ttl, duration),
        (budget("retryRatio", json!("0.2")), ratio, number),
        (budget("retryRatio", json!(1e39)), ratio, number),
        (
            budget("minRetriesPerSecond", json!(4_294_967_296_u64)),
            least,
            count,
        ),
        (weight(json!("much")), share, quantity),
        (weight(json!("")), share, quantity),
        (weight(json!([])), share, "must be a number or a text"),
        (
            authority,
            "spec.dstOverrides[0].authority",
            "must be a text",
        ),
    ]);
}

#[test]
fn a_condition_may_be_nested_as_deep_as_proxies_read() {
    let nested = |levels: usize| {
        let innermost = json!({"method": "GET"});
        (1..levels).fold(innermost, |inner, _| json!({"not": inner}))
    };
    assert_eq!(request(nested(32)).check_depth(), Ok(()));
    let spec = |levels| json!({"routes": [{"condition": nested(levels)}]});
    let too_deep = "conditions are nested more than 32 levels deep";
    assert_eq!(
        invalid(spec(33)),
        format!("spec.routes[0].condition: {too_deep}")
    );
    for levels in [65, 100] {
        let found = invalid(spec(levels));
        assert!(found.ends_with(&format!(".not: {too_deep}")), "{found}");
    }
    let nots = "{\"not\":".repeat(10_000);
    let ends = "}".repeat(10_000);
    let text = object(json!({"routes": [{"condition": 5}]})).to_string();
    let text = text.replace('5', &format!("{nots}5{ends}"));
    assert_eq!(
        from_json(FactKind::ServiceProfile, &text)
            .unwrap_err()
            .to_string(),
        format!(
            "serviceprofiles shop/{NAME} is invalid: object: \
             recursion limit exceeded at line 1 column 962"
        ),
    );
}

/// Linkerd's admission check refuses a profile that is incomplete or has unknown members; the
/// controller that clients know uses it all the same, and so do we.
#[test]
fn what_admission_allows_and_what_it_refuses_for_its_form_is_used() {
    let both = json!({"method": "GET", "pathRegex": "/route-1"});
    let with = |object: &Value, name: &str, value: Value| {
        let mut object = object.clone();
        object[name] = value;
        object
    };
    let route = json!({"name": "name-1", "condition": both});
    let unknown = with(&both, "foo", json!("bar"));
    let unknown_and_not = with(&unknown, "not", json!({"method": "GET"}));
    let get_route_1 = || Condition::All(vec![method("GET"), path("/route-1")]);
    let expected = || Route {
        name: "name-1".into(),
        condition: get_route_1(),
        response_classes: vec![],
        is_retryable: false,
        timeout_ns: None,
    };
    for (case, route, expected) in [
        ("a valid one", route.clone(), expected()),
        (
            "an unknown member of a route",
            with(&route, "foo", json!("bar")),
            expected(),
        ),
        (
            "an unknown member of a condition",
            json!({"name": "name-1", "condition": unknown}),
            expected(),
        ),
        (
            "an unknown member beside a negation",
            json!({"name": "name-1", "condition": unknown_and_not}),
            Route {
                condition: Condition::All(vec![
                    method("GET"),
                    not(method("GET")),
                    path("/route-1"),
                ]),
                ..expected()
            },
        ),
        (
            "no name",
            json!({"condition": both}),
            Route {
                name: "".into(),
                ..expected()
            },
        ),
        (
            "a timeout",
            with(&route, "timeout", json!("1ns")),
            Route {
                timeout_ns: Some(1),
                ..expected()
            },
        ),
        (
            "a bad timeout",
            with(&route, "timeout", json!("one-second")),
            expected(),
        ),
    ] {
        let (record, _) = profile(json!({"foo": "bar", "routes": [route]}));
        assert_eq!(record.routes, [expected], "{case}");
    }
    let bad_name = json!({"metadata": {"name": "^.^", "namespace": "shop"}, "spec": {}});
    let converted = convert(FactKind::ServiceProfile, &bad_name);
    let key = FactKey::named(FactKind::ServiceProfile, "shop", "^.^");
    assert_eq!(converted.key, key);
}

#[test]
fn what_admission_allows_at_length_is_used() {
    let (record, skipped) = profile(json!({
        "retryBudget": {"minRetriesPerSecond": 5, "retryRatio": -0.2, "ttl": "10ms"},
        "routes": [{
            "name": "name-1",
            "condition": {
                "method": "GET",
                "pathRegex": "/route-1",
                "any": [
                    {"all": [{"method": "POST"}, {"pathRegex": "/authors/\\d+"}]},
                    {"all": [{"not": {"method": "DELETE"}}, {"pathRegex": "/info.txt"}]}]},
            "responseClasses": [{"condition": {
                "status": {"min": 500, "max": 599},
                "all": [{"status": {"min": 500, "max": 599}}, {"not": {"status": {"min": 503}}}]}}],
        }],
    }));
    let route = Route {
        name: "name-1".into(),
        condition: Condition::All(vec![
            Condition::Any(vec![
                Condition::All(vec![method("POST"), path("/authors/\\d+")]),
                Condition::All(vec![not(method("DELETE")), path("/info.txt")]),
            ]),
            method("GET"),
            path("/route-1"),
        ]),
        response_classes: vec![ResponseClass {
            condition: Condition::All(vec![
                Condition::All(vec![status(500, 599), not(status(503, 0))]),
                status(500, 599),
            ]),
            is_failure: false,
        }],
        is_retryable: false,
        timeout_ns: None,
    };
    let expected = ServiceProfileRecord {
        routes: vec![route],
        retry_budget: Some(RetryBudget {
            // The check refuses a ratio below zero, and nobody else does.
            retry_ratio: Ratio::new(-0.2),
            min_retries_per_second: 5,
            ttl_ns: Some(10_000_000),
        }),
        dst_overrides: vec![],
    };
    assert_eq!((record, skipped), (expected, vec![]));
}

#[test]
fn a_route_or_a_budget_that_admission_refuses_for_its_sense_is_invalid() {
    let reason = "must have one of all, any, method, not, pathRegex";
    let beside = |name: &str, each: Value| {
        let mut condition = json!({"method": "GET", "pathRegex": "/route-1"});
        condition[name] = each;
        json!({"name": "name-1", "condition": condition})
    };
    for (route, place) in [
        (json!(null), ""),
        (json!({"name": "name-1"}), ""),
        (json!({"name": "name-1", "condition": null}), ""),
        (json!({"name": "name-1", "condition": {"method": null}}), ""),
        (beside("all", json!([null])), ".all[0]"),
        (beside("any", json!([null])), ".any[0]"),
    ] {
        let expected = format!("spec.routes[0].condition{place}: {reason}");
        assert_eq!(invalid(json!({"routes": [route]})), expected);
    }
    let duration = "must be a duration such as `200ms`, `10s` or `1m30s`";
    let count = "must be a whole number from 0 to 4294967295";
    for (budget, member, reason) in [
        (json!({"retryRatio": 0.2}), "ttl", duration),
        (json!({"retryRatio": 0.2, "ttl": "foo"}), "ttl", duration),
        (
            json!({"minRetriesPerSecond": -5, "ttl": "10s"}),
            "minRetriesPerSecond",
            count,
        ),
    ] {
        let expected = format!("spec.retryBudget.{member}: {reason}");
        assert_eq!(invalid(json!({"retryBudget": budget})), expected);
    }
}

#[test]
fn a_response_class_that_admission_refuses_for_its_sense_is_invalid() {
    let reason = "must have one of all, any, status, not";
    let code = "must be a status code (100 to 599), or 0 for no bound";
    let count = "must be a whole number from 0 to 4294967295";
    let fine = || json!({"min": 500, "max": 599});
    let beside = |name: &str, each: Value| {
        let mut condition = json!({"status": fine()});
        condition[name] = each;
        json!({"condition": condition})
    };
    let not = |range: Value| {
        let each = json!([{"status": fine()}, {"not": {"status": range}}]);
        beside("all", each)
    };
    for (class, place, reason) in [
        (json!(null), "", reason),
        (json!({"condition": null}), "", reason),
        (beside("all", json!([{"status": null}])), ".all[0]", reason),
        (beside("all", json!([null])), ".all[0]", reason),
        (beside("any", json!([null])), ".any[0]", reason),
        (
            beside("status", json!({"min": 500, "max": 600})),
            ".status.max",
            code,
        ),
        (
            not(json!({"min": 300, "max": 200})),
            ".all[1].not.status",
            "max 200 is below min 300",
        ),
        (not(json!({"min": 1})), ".all[1].not.status.min", code),
        (not(json!({"min": false})), ".all[1].not.status.min", count),
    ] {
        let condition = json!({"method": "GET", "pathRegex": "/route-1"});
        let route = json!({"name": "a", "condition": condition, "responseClasses": [class]});
        let expected = format!("spec.routes[0].responseClasses[0].condition{place}: {reason}");
        assert_eq!(invalid(json!({"routes": [route]})), expected);
    }
}
