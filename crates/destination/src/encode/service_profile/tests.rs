use super::*;
use linkerd2_proxy_api::destination::{request_match, response_match};
use lockstep_model::{Condition, Ratio, RequestMatch, ServiceId, ServiceProfileId, StatusRange};
use std::sync::Arc;

fn service(chosen: Option<ServiceProfileRecord>) -> ServiceProfile {
    ServiceProfile {
        name: "web.shop.svc.cluster.local".into(),
        service: ServiceId::named("shop", "web"),
        port: 80,
        opaque: false,
        chosen: chosen.map(|record| ChosenProfile {
            id: ServiceProfileId::named("cart", "web.shop.svc.cluster.local"),
            record: Arc::new(record),
        }),
    }
}

fn said(record: ServiceProfileRecord) -> api::DestinationProfile {
    message(&service(Some(record)))
}

fn path_route(timeout_ns: Option<i64>, response_classes: Vec<ResponseClass>) -> Route {
    Route {
        name: "/a".into(),
        condition: Condition::Is(RequestMatch::PathRegex("/a".into())),
        response_classes,
        is_retryable: true,
        timeout_ns,
    }
}

#[test]
fn a_service_profile_changes_only_what_it_says() {
    let plain = message(&service(None));
    let nothing = said(ServiceProfileRecord::default());
    let resource = meta::Resource {
        group: "linkerd.io".into(),
        kind: "ServiceProfile".into(),
        name: "web.shop.svc.cluster.local".into(),
        namespace: "cart".into(),
        ..meta::Resource::default()
    };
    let expected = api::DestinationProfile {
        profile_ref: Some(reference(resource)),
        ..plain
    };
    assert_eq!(nothing, expected);
}

#[test]
fn routes_are_said_in_order_with_all_fields() {
    let failure = ResponseClass {
        condition: Condition::Is(StatusRange { min: 500, max: 0 }),
        is_failure: true,
    };
    let second = Route {
        name: "".into(),
        is_retryable: false,
        ..path_route(None, Vec::new())
    };
    let record = ServiceProfileRecord {
        routes: vec![path_route(Some(1), vec![failure]), second],
        ..ServiceProfileRecord::default()
    };
    let condition = || {
        Some(api::RequestMatch {
            r#match: Some(request_match::Match::Path(api::PathMatch {
                regex: "/a".into(),
            })),
        })
    };
    let status = response_match::Match::Status(api::HttpStatusRange { min: 500, max: 0 });
    let labels = |name: &str| [("route".to_owned(), name.to_owned())].into();
    let first = api::Route {
        condition: condition(),
        response_classes: vec![api::ResponseClass {
            condition: Some(api::ResponseMatch {
                r#match: Some(status),
            }),
            is_failure: true,
        }],
        metrics_labels: labels("/a"),
        is_retryable: true,
        timeout: Some(prost_types::Duration {
            seconds: 0,
            nanos: 1,
        }),
    };
    let second = api::Route {
        condition: condition(),
        metrics_labels: labels(""),
        ..api::Route::default()
    };
    assert_eq!(said(record).routes, [first, second]);
}

#[test]
fn durations_have_one_sign() {
    for (nanoseconds, seconds, nanos) in [
        (200_000_000, 0, 200_000_000),
        (90_000_000_000, 90, 0),
        (1_500_000_000, 1, 500_000_000),
        (-5_000_000_000, -5, 0),
        (-1_500_000_000, -1, -500_000_000),
        (i64::MAX, 9_223_372_036, 854_775_807),
        (i64::MIN, -9_223_372_036, -854_775_808),
    ] {
        let expected = prost_types::Duration { seconds, nanos };
        assert_eq!(duration(nanoseconds), expected, "{nanoseconds}");
    }
}

#[test]
fn a_budget_replaces_the_default_one_whole() {
    let budget = |ttl_ns| RetryBudget {
        retry_ratio: Ratio::new(0.5),
        min_retries_per_second: 0,
        ttl_ns,
    };
    for (ttl_ns, ttl) in [
        (None, None),
        (
            Some(500_000_000),
            Some(prost_types::Duration {
                seconds: 0,
                nanos: 500_000_000,
            }),
        ),
    ] {
        let record = ServiceProfileRecord {
            retry_budget: Some(budget(ttl_ns)),
            ..ServiceProfileRecord::default()
        };
        let expected = api::RetryBudget {
            retry_ratio: 0.5,
            min_retries_per_second: 0,
            ttl,
        };
        assert_eq!(said(record).retry_budget, Some(expected));
    }
}

#[test]
fn an_override_without_a_port_gets_the_one_asked_for() {
    for (authority, expected) in [
        (
            "web-2.shop.svc.cluster.local",
            "web-2.shop.svc.cluster.local:80",
        ),
        ("web-2:8080", "web-2:8080"),
        ("web-2:0", "web-2:0"),
        ("web-2:http", "web-2:http"),
        ("web-2:", "web-2:"),
        (":8080", ":8080"),
        ("web-2.", "web-2.:80"),
        ("web-2.:8080", "web-2.:8080"),
        ("10.1.0.1", "10.1.0.1:80"),
        ("10.1.0.1:8080", "10.1.0.1:8080"),
        ("fd00::1", "[fd00::1]:80"),
        ("[fd00::1]:8080", "[fd00::1]:8080"),
        ("[fd00::1]", "[[fd00::1]]:80"),
        ("[web-2]:8080", "[web-2]:8080"),
        ("[web-2:8080", "[[web-2:8080]:80"),
        ("web]-2:8080", "[web]-2:8080]:80"),
        ("web-2:80]", "[web-2:80]]:80"),
        ("[a]b:8080", "[[a]b:8080]:80"),
        ("[a]]:8080", "[[a]]:8080]:80"),
        ("", ":80"),
    ] {
        let record = ServiceProfileRecord {
            dst_overrides: vec![DstOverride {
                authority: authority.into(),
                weight: 0,
            }],
            ..ServiceProfileRecord::default()
        };
        let expected = api::WeightedDst {
            authority: expected.to_owned(),
            weight: 0,
            backend_ref: None,
        };
        assert_eq!(said(record).dst_overrides, [expected]);
    }
}
