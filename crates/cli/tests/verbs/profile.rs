//! `lockstep resolve --profile` against a replica on a real socket.
use crate::stage::{Destination, Printed, Step, lockstep, start_proxy_port};
use linkerd2_proxy_api::destination::{DestinationProfile, RetryBudget, WeightedAddr, WeightedDst};
use linkerd2_proxy_api::meta::{Metadata, Resource, metadata};
use linkerd2_proxy_api::net::TcpAddress;
use lockstep_cli::Exit;
use serde_json::json;
use std::net::IpAddr;

const WEB: &str = "web.shop.svc.cluster.local:80";

fn service_profile() -> DestinationProfile {
    let resource = Resource {
        group: "core".to_owned(),
        kind: "Service".to_owned(),
        name: "web".to_owned(),
        namespace: "shop".to_owned(),
        port: 80,
        ..Resource::default()
    };
    DestinationProfile {
        fully_qualified_name: "web.shop.svc.cluster.local".to_owned(),
        opaque_protocol: true,
        retry_budget: Some(RetryBudget {
            retry_ratio: 0.25,
            min_retries_per_second: 10,
            ttl: Some(prost_types::Duration {
                seconds: 1,
                nanos: 500_000_000,
            }),
        }),
        dst_overrides: vec![WeightedDst {
            authority: "web-2.shop.svc.cluster.local:80".to_owned(),
            weight: 5,
            backend_ref: None,
        }],
        parent_ref: Some(Metadata {
            kind: Some(metadata::Kind::Resource(resource)),
        }),
        profile_ref: Some(Metadata {
            kind: Some(metadata::Kind::Resource(Resource::default())),
        }),
        ..DestinationProfile::default()
    }
}

async fn asked(profile: &DestinationProfile, more: &[&str]) -> Printed {
    let destination = Destination::labelled(1, 7).with(WEB, &[vec![Step::say(7, profile)]]);
    let replica = start_proxy_port(destination).await;
    let mut arguments = vec!["resolve", WEB, "--profile", "--address", &replica.address];
    arguments.extend(more);
    lockstep(&arguments).await
}

const HEADING_END: &str = "replica-1 (0000000000000001)  digest 000000000007  fresh";

#[tokio::test]
async fn a_service_profile_is_a_list_of_properties() {
    let printed = asked(&service_profile(), &[]).await;
    assert_eq!(printed.exit, Exit::Yes);
    assert_eq!(
        printed.lines(),
        [
            format!("{WEB}  r7  service profile  {HEADING_END}").as_str(),
            "NAME       web.shop.svc.cluster.local",
            "OPAQUE     yes",
            "ROUTES     0",
            "RETRIES    25% more, at least 10 a second, counted over 1.500s",
            "OVERRIDES  web-2.shop.svc.cluster.local:80 weight 5",
            "PARENT     core/Service shop/web:80",
            "PROFILE    -",
            "ENDPOINT   -",
        ]
    );
}

#[tokio::test]
async fn a_service_profile_is_a_document() {
    let printed = asked(&service_profile(), &["-o", "json"]).await;
    assert_eq!(
        printed.json(),
        json!({
            "authority": WEB,
            "replica": "0000000000000001",
            "name": "replica-1",
            "history": "00000000000000000000000000000001",
            "revision": 7,
            "digest": "00000000000700000000000000000000",
            "stale": false,
            "age_ms": null,
            "source_stale": null,
            "fully_qualified_name": "web.shop.svc.cluster.local",
            "opaque_protocol": true,
            "routes": 0,
            "retry_budget": {"retry_ratio": 0.25, "min_retries_per_second": 10, "ttl_seconds": 1.5},
            "overrides": [{"authority": "web-2.shop.svc.cluster.local:80", "weight": 5}],
            "endpoint": null,
            "parent": "core/Service shop/web:80",
            "profile": null,
        })
    );
}

#[tokio::test]
async fn an_endpoint_profile_names_its_endpoint() {
    let ip = Some(IpAddr::from([10, 0, 0, 1]).into());
    let labels = [("namespace", "shop"), ("pod", "web-1")];
    let endpoint = WeightedAddr {
        addr: Some(TcpAddress { ip, port: 8080 }),
        weight: 10_000,
        metric_labels: labels
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .into(),
        ..WeightedAddr::default()
    };
    let profile = DestinationProfile {
        endpoint: Some(endpoint),
        ..DestinationProfile::default()
    };
    let printed = asked(&profile, &[]).await;
    let lines = printed.lines();
    assert_eq!(
        lines[0],
        format!("{WEB}  r7  endpoint profile  {HEADING_END}")
    );
    assert_eq!(
        lines[lines.len() - 3..],
        [
            "ENDPOINT   10.0.0.1:8080",
            "           weight 10000",
            "           namespace=shop,pod=web-1",
        ]
    );
}

#[tokio::test]
async fn an_empty_profile_is_explained() {
    let printed = asked(&DestinationProfile::default(), &[]).await;
    let heading =
        format!("{WEB}  r7  empty profile (the service does not declare this port)  {HEADING_END}");
    assert_eq!(printed.lines(), [heading]);
}
