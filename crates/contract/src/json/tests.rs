use super::{profile::profile, *};
use linkerd2_proxy_api::{
    destination::{
        self as api, DestinationProfile, RetryBudget, protocol_hint::Protocol,
        tls_identity::Strategy,
    },
    http_types::{HttpMethod, http_method},
    meta,
};
use serde_json::json;

fn seconds(seconds: i64, nanos: i32) -> prost_types::Duration {
    prost_types::Duration { seconds, nanos }
}

fn at(text: &str) -> Option<TcpAddress> {
    text.parse::<SocketAddr>().ok().map(TcpAddress::from)
}

fn whole_endpoint() -> WeightedAddr {
    let name = || api::tls_identity::DnsLikeIdentity { name: "id".into() };
    WeightedAddr {
        addr: at("10.1.28.2:9090"),
        weight: 10_000,
        metric_labels: [("zone".to_owned(), String::new())].into(),
        tls_identity: Some(TlsIdentity {
            strategy: Some(Strategy::DnsLikeIdentity(name())),
            server_name: Some(name()),
        }),
        protocol_hint: Some(ProtocolHint {
            protocol: Some(Protocol::H2(protocol_hint::H2 {})),
            opaque_transport: Some(protocol_hint::OpaqueTransport { inbound_port: 4143 }),
        }),
        authority_override: Some(api::AuthorityOverride {
            authority_override: "web:80".into(),
        }),
        http2: Some(Http2ClientParams {
            keep_alive: Some(http2_client_params::KeepAlive {
                interval: Some(seconds(10, 0)),
                timeout: Some(seconds(3, 0)),
                while_idle: true,
            }),
            flow_control: Some(http2_client_params::FlowControl {
                initial_connection_window_size: 1,
                initial_stream_window_size: 2,
                adaptive_flow_control: true,
            }),
            internals: Some(http2_client_params::Internals::default()),
        }),
        resource_ref: Some(meta::Metadata { kind: None }),
    }
}

#[test]
fn an_add_is_written_whole_and_sorted() {
    let whole = whole_endpoint();
    let bare = WeightedAddr {
        addr: at("10.1.28.1:9090"),
        tls_identity: Some(TlsIdentity {
            strategy: Some(Strategy::UriLikeIdentity(
                api::tls_identity::UriLikeIdentity {
                    uri: "spiffe://a/b".into(),
                },
            )),
            server_name: None,
        }),
        protocol_hint: Some(ProtocolHint::default()),
        ..WeightedAddr::default()
    };
    let set = WeightedAddrSet {
        addrs: vec![whole, bare],
        metric_labels: [("service".to_owned(), "web".to_owned())].into(),
    };
    let message = Update {
        update: Some(update::Update::Add(set)),
    };
    let name = json!({"name": "id"});
    let expected = json!({"add": {
        "addrs": [
            {
                "addr": {"ip": {"ipv4": 167_844_865}, "port": 9090},
                "tls_identity": {"uri_like_identity": {"uri": "spiffe://a/b"}},
                "protocol_hint": {},
            },
            {
                "addr": {"ip": {"ipv4": 167_844_866}, "port": 9090},
                "weight": 10_000,
                "metric_labels": {"zone": ""},
                "tls_identity": {"dns_like_identity": name, "server_name": name},
                "protocol_hint": {"h2": {}, "opaque_transport": {"inbound_port": 4143}},
                "authority_override": {"authority_override": "web:80"},
                "http2": {
                    "keep_alive": {"interval": "10s", "timeout": "3s", "while_idle": true},
                    "flow_control": {
                        "initial_connection_window_size": 1,
                        "initial_stream_window_size": 2,
                        "adaptive_flow_control": true,
                    },
                    "internals": {},
                },
                "resource_ref": {},
            },
        ],
        "metric_labels": {"service": "web"},
    }});
    assert_eq!(update(&message), expected);
}

#[test]
fn the_other_updates_are_written() {
    let message = |update| super::update(&Update { update });
    let addrs = ["[fd00:10:1:1c::2]:80", "10.0.0.1:0"].map(|it| at(it).unwrap());
    let gone = update::Update::Remove(AddrSet {
        addrs: addrs.into(),
    });
    let v6 = json!({"first": "18230571360315310108", "last": "2"});
    let expected = json!({"remove": {"addrs": [
        {"ip": {"ipv4": 167_772_161}},
        {"ip": {"ipv6": v6}, "port": 80},
    ]}});
    assert_eq!(message(Some(gone)), expected);
    let none = |exists| Some(update::Update::NoEndpoints(NoEndpoints { exists }));
    assert_eq!(
        message(none(true)),
        json!({"no_endpoints": {"exists": true}})
    );
    assert_eq!(message(none(false)), json!({"no_endpoints": {}}));
    assert_eq!(message(None), json!({}));
}

#[test]
fn durations_have_as_many_decimals_as_the_mapping_says() {
    for (value, text) in [
        (seconds(0, 0), "0s"),
        (seconds(10, 0), "10s"),
        (seconds(0, 200_000_000), "0.200s"),
        (seconds(1, 1_000), "1.000001s"),
        (seconds(1, 1), "1.000000001s"),
        (seconds(-5, 0), "-5s"),
        (seconds(0, -500_000_000), "-0.500s"),
    ] {
        assert_eq!(duration(&value), json!(text));
    }
}

fn written_route() -> Value {
    json!({
        "condition": {"all": {"matches": [
            {"method": {"registered": "GET"}},
            {"method": {"unregistered": "BREW"}},
            {"method": {"registered": 99}},
            {"not": {"path": {"regex": "/a"}}},
            {"any": {}},
        ]}},
        "response_classes": [{
            "condition": {"any": {"matches": [{"not": {"status": {"min": 500}}}, {"all": {}}]}},
            "is_failure": true,
        }],
        "metrics_labels": {"route": "r"},
        "is_retryable": true,
        "timeout": "0.200s",
    })
}

fn whole_route() -> api::Route {
    use api::{RequestMatch, ResponseMatch, request_match, response_match};
    let request = |it| RequestMatch { r#match: Some(it) };
    let response = |it| ResponseMatch { r#match: Some(it) };
    let method = |it| {
        request(request_match::Match::Method(HttpMethod {
            r#type: Some(it),
        }))
    };
    let path = api::PathMatch { regex: "/a".into() };
    let status = |min, max| {
        response(response_match::Match::Status(api::HttpStatusRange {
            min,
            max,
        }))
    };
    let not = request_match::Match::Not(Box::new(request(request_match::Match::Path(path))));
    let all = request_match::Match::All(request_match::Seq {
        matches: vec![
            method(http_method::Type::Registered(0)),
            method(http_method::Type::Unregistered("BREW".into())),
            method(http_method::Type::Registered(99)),
            request(not),
            request(request_match::Match::Any(request_match::Seq {
                matches: vec![],
            })),
        ],
    });
    let any = response_match::Match::Any(response_match::Seq {
        matches: vec![
            response(response_match::Match::Not(Box::new(status(500, 0)))),
            response(response_match::Match::All(response_match::Seq {
                matches: vec![],
            })),
        ],
    });
    api::Route {
        condition: Some(request(all)),
        response_classes: vec![api::ResponseClass {
            condition: Some(response(any)),
            is_failure: true,
        }],
        metrics_labels: [("route".to_owned(), "r".to_owned())].into(),
        is_retryable: true,
        timeout: Some(seconds(0, 200_000_000)),
    }
}

#[test]
fn a_profile_is_written_whole() {
    let resource = meta::Resource {
        group: "core".into(),
        kind: "Service".into(),
        name: "web".into(),
        namespace: "shop".into(),
        section: "s".into(),
        port: 80,
    };
    let reference = |kind| Some(meta::Metadata { kind: Some(kind) });
    let message = DestinationProfile {
        fully_qualified_name: "web.shop.svc.cluster.local".into(),
        opaque_protocol: true,
        routes: vec![whole_route()],
        retry_budget: Some(RetryBudget {
            retry_ratio: 0.2,
            min_retries_per_second: 10,
            ttl: Some(seconds(10, 0)),
        }),
        dst_overrides: vec![api::WeightedDst {
            authority: "a:80".into(),
            weight: 0,
            backend_ref: None,
        }],
        endpoint: Some(WeightedAddr::default()),
        parent_ref: reference(meta::metadata::Kind::Resource(resource)),
        profile_ref: reference(meta::metadata::Kind::Default("d".into())),
    };
    let expected = json!({
        "fully_qualified_name": "web.shop.svc.cluster.local",
        "opaque_protocol": true,
        "routes": [written_route()],
        "retry_budget": {"retry_ratio": 0.2, "min_retries_per_second": 10, "ttl": "10s"},
        "dst_overrides": [{"authority": "a:80"}],
        "endpoint": {},
        "parent_ref": {"resource": {
            "group": "core", "kind": "Service", "name": "web", "namespace": "shop",
            "section": "s", "port": 80,
        }},
        "profile_ref": {"default": "d"},
    });
    assert_eq!(profile(&message), expected);
    assert_eq!(profile(&DestinationProfile::default()), json!({}));
}
