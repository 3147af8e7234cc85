use super::*;
use linkerd2_proxy_api::meta;
use lockstep_model::{PodId, ServiceId};
use lockstep_resolution::{EndpointProfile, ServiceProfile};

fn at(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn address(ip: net::ip_address::Ip, port: u32) -> Option<net::TcpAddress> {
    Some(net::TcpAddress {
        ip: Some(net::IpAddress { ip: Some(ip) }),
        port,
    })
}

fn strings(pairs: &[(&str, &str)]) -> HashMap<String, String> {
    let owned = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    pairs.iter().map(owned).collect()
}

fn dns_like(name: &str) -> api::tls_identity::DnsLikeIdentity {
    api::tls_identity::DnsLikeIdentity { name: name.into() }
}

fn seconds(seconds: i64) -> Option<prost_types::Duration> {
    Some(prost_types::Duration { seconds, nanos: 0 })
}

/// A meshed pod with everything that can be said of one.
fn pod() -> Described {
    Described {
        weight: 100_000,
        labels: [("pod".into(), "web-1".into())].into(),
        identity: Some(Identity::Workload("web.id".into())),
        hint: Some(Hint {
            protocol: Some(HintedProtocol::H2),
            inbound_port: Some(4143),
        }),
        authority_override: Some("web.prod:80".into()),
        http2: Some(Http2Params {
            keep_alive: Some(KeepAlive {
                interval_ms: 10_000,
                timeout_ms: 3_500,
                while_idle: true,
            }),
        }),
    }
}

fn pod_message(addr: Option<net::TcpAddress>) -> api::WeightedAddr {
    api::WeightedAddr {
        addr,
        weight: 100_000,
        metric_labels: strings(&[("pod", "web-1")]),
        tls_identity: Some(api::TlsIdentity {
            server_name: Some(dns_like("web.id")),
            strategy: Some(api::tls_identity::Strategy::DnsLikeIdentity(dns_like(
                "web.id",
            ))),
        }),
        protocol_hint: Some(api::ProtocolHint {
            opaque_transport: Some(api::protocol_hint::OpaqueTransport { inbound_port: 4143 }),
            protocol: Some(api::protocol_hint::Protocol::H2(api::protocol_hint::H2 {})),
        }),
        authority_override: Some(api::AuthorityOverride {
            authority_override: "web.prod:80".into(),
        }),
        http2: Some(api::Http2ClientParams {
            flow_control: None,
            keep_alive: Some(api::http2_client_params::KeepAlive {
                interval: seconds(10),
                timeout: Some(prost_types::Duration {
                    seconds: 3,
                    nanos: 500_000_000,
                }),
                while_idle: true,
            }),
            internals: None,
        }),
        resource_ref: None,
    }
}

#[test]
fn an_add_carries_every_field() {
    let set = EndpointSet {
        labels: [("service".into(), "web".into())].into(),
        endpoints: [
            (at("10.1.2.3:8080"), pod().into()),
            (at("[fd00::1]:80"), Described::bare().into()),
        ]
        .into(),
    };
    let bare = api::WeightedAddr {
        addr: address(
            net::ip_address::Ip::Ipv6(net::IPv6 {
                first: 0xfd00_0000_0000_0000,
                last: 1,
            }),
            80,
        ),
        weight: 10_000,
        ..api::WeightedAddr::default()
    };
    let v4 = address(net::ip_address::Ip::Ipv4(0x0a01_0203), 8080);
    let expected = api::update::Update::Add(api::WeightedAddrSet {
        addrs: vec![pod_message(v4), bare],
        metric_labels: strings(&[("service", "web")]),
    });
    assert_eq!(update(&Update::Add(set)).update, Some(expected));
}

#[test]
fn a_remove_names_addresses_and_an_empty_set_says_so() {
    let gone = Update::Remove([at("10.1.2.3:8080")].into());
    let addrs = address(net::ip_address::Ip::Ipv4(0x0a01_0203), 8080);
    let expected = api::update::Update::Remove(api::AddrSet {
        addrs: addrs.into_iter().collect(),
    });
    assert_eq!(update(&gone).update, Some(expected));
    for exists in [true, false] {
        let expected = api::update::Update::NoEndpoints(api::NoEndpoints { exists });
        let said = update(&Update::NoEndpoints { exists });
        assert_eq!(said.update, Some(expected));
    }
}

#[test]
fn hints_differ_from_no_hint() {
    let hinted = |protocol, inbound_port| {
        let hint = Some(Hint {
            protocol,
            inbound_port,
        });
        let described = Described {
            hint,
            ..Described::bare()
        };
        weighted(at("10.1.2.3:80"), &described).protocol_hint
    };
    assert_eq!(hinted(None, None), Some(api::ProtocolHint::default()));
    let opaque = api::protocol_hint::Protocol::Opaque(api::protocol_hint::Opaque {});
    assert_eq!(
        hinted(Some(HintedProtocol::Opaque), None),
        Some(api::ProtocolHint {
            opaque_transport: None,
            protocol: Some(opaque),
        })
    );
    let bare = weighted(at("10.1.2.3:80"), &Described::bare());
    assert_eq!(bare.protocol_hint, None);
}

#[test]
fn a_gateway_has_an_identity_without_a_server_name() {
    let described = Described {
        identity: Some(Identity::Gateway("gw.east".into())),
        ..Described::bare()
    };
    let expected = api::TlsIdentity {
        server_name: None,
        strategy: Some(api::tls_identity::Strategy::DnsLikeIdentity(dns_like(
            "gw.east",
        ))),
    };
    let said = weighted(at("10.1.2.3:80"), &described);
    assert_eq!(said.tls_identity, Some(expected));
}

#[test]
fn an_external_workload_has_a_uri_and_a_server_name_even_an_empty_one() {
    for server_name in ["vm.example", ""] {
        let described = Described {
            identity: Some(Identity::External {
                uri: "spiffe://root.example/vm".into(),
                server_name: server_name.into(),
            }),
            ..Described::bare()
        };
        let expected = api::TlsIdentity {
            server_name: Some(dns_like(server_name)),
            strategy: Some(api::tls_identity::Strategy::UriLikeIdentity(
                api::tls_identity::UriLikeIdentity {
                    uri: "spiffe://root.example/vm".into(),
                },
            )),
        };
        let said = weighted(at("10.1.2.3:80"), &described);
        assert_eq!(said.tls_identity, Some(expected));
    }
}

#[test]
fn a_service_profile_refers_to_its_service() {
    let service = ServiceProfile {
        name: "web.shop.svc.cluster.local".into(),
        service: ServiceId::named("shop", "web"),
        port: 80,
        opaque: true,
        chosen: None,
    };
    let resource = |resource| {
        Some(meta::Metadata {
            kind: Some(meta::metadata::Kind::Resource(resource)),
        })
    };
    let expected = api::DestinationProfile {
        fully_qualified_name: "web.shop.svc.cluster.local".into(),
        opaque_protocol: true,
        routes: Vec::new(),
        retry_budget: Some(api::RetryBudget {
            retry_ratio: 0.2,
            min_retries_per_second: 10,
            ttl: seconds(10),
        }),
        dst_overrides: Vec::new(),
        endpoint: None,
        parent_ref: resource(meta::Resource {
            group: "core".into(),
            kind: "Service".into(),
            name: "web".into(),
            namespace: "shop".into(),
            section: String::new(),
            port: 80,
        }),
        profile_ref: resource(meta::Resource {
            group: "linkerd.io".into(),
            ..meta::Resource::default()
        }),
    };
    assert_eq!(profile(&Profile::Service(service)), expected);
}

#[test]
fn an_address_profile_has_an_endpoint_and_no_name() {
    let endpoint = Profile::Endpoint(EndpointProfile {
        address: at("10.1.2.3:8080"),
        pod: Some(PodId::named("shop", "web-1")),
        described: pod(),
        opaque: false,
    });
    let v4 = address(net::ip_address::Ip::Ipv4(0x0a01_0203), 8080);
    let expected = api::DestinationProfile {
        retry_budget: Some(service_profile::RETRY_BUDGET),
        endpoint: Some(pod_message(v4)),
        ..api::DestinationProfile::default()
    };
    assert_eq!(profile(&endpoint), expected);
    let undeclared = profile(&Profile::Undeclared);
    assert_eq!(undeclared, api::DestinationProfile::default());
}
