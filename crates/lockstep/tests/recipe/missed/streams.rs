//! The streams whose answers depend on what is missed, and what comes on them.

use linkerd2_proxy_api::destination::{
    DestinationProfile, GetDestination, destination_client::DestinationClient,
};
use serde_json::json;
use tokio::time::timeout;
use tonic::{Streaming, transport::Channel};

use super::{
    super::{both::Both, listener::Said, objects::service_profile, scene::Scene, stage::Sides},
    PROFILED,
    furniture::addresses,
};
use crate::harness::PATIENCE;

/// What the deletion of one object does to the stream of its service.
struct Stream {
    service: &'static str,
    at_first: &'static [u8],
    afterwards: Said,
    both: Both,
}

pub struct Streams {
    alpha: Both,
    each: Vec<Stream>,
    profiles: [Streaming<DestinationProfile>; 2],
}

impl Streams {
    pub async fn open(scene: &Scene<'_>, alpha: &Scene<'_>, sides: &Sides) -> Self {
        let removed = |last| Said::Removed([scene.at(last)].into());
        let added = |last| Said::Added([scene.at(last)].into());
        let mut each = Vec::new();
        for (service, at_first, afterwards) in [
            ("pods", &[1, 2][..], removed(2)),
            ("guarded", &[10, 11, 12, 13, 14], added(12)),
            ("zoned", &[20], added(21)),
            ("owned", &[30], added(30)),
            ("worked", &[31], added(31)),
            ("dropped", &[40], removed(40)),
            ("vms", &[50], removed(50)),
        ] {
            let token = json!({ "ns": scene.name, "nodeName": scene.node_name() }).to_string();
            let opened = Both::open(sides, &scene.path(service), &token).await;
            let mut stream = Stream {
                service,
                at_first,
                afterwards,
                both: opened.unwrap(),
            };
            let set = stream.at_first.iter().map(|last| scene.at(*last));
            stream.both.hear(&Said::Added(set.collect())).await;
            each.push(stream);
        }
        let mut large = alpha.open(sides, "alpha").await;
        let all = (1..=3).flat_map(addresses).collect();
        large.hear(&Said::Added(all)).await;
        let mut profiles = [
            profile(&sides.leader, scene).await,
            profile(&sides.follower, scene).await,
        ];
        assert_routes(&mut profiles, &["all"]).await;
        Self {
            alpha: large,
            each,
            profiles,
        }
    }

    /// One message for each deletion.
    pub async fn hear_what_was_missed(&mut self, scene: &Scene<'_>) {
        self.alpha
            .hear(&Said::Removed(addresses(2).collect()))
            .await;
        assert_eq!(
            self.alpha.leader.addresses().map(|set| set.len()),
            Some(200)
        );
        for stream in &mut self.each {
            stream.both.hear(&stream.afterwards).await;
        }
        assert_routes(&mut self.profiles, &[]).await;
        self.assert_what_was_added(scene);
    }

    /// The endpoints that were told again are told with what is true now.
    fn assert_what_was_added(&self, scene: &Scene<'_>) {
        let of = |service: &str| {
            let stream = self.each.iter().find(|it| it.service == service);
            &stream.unwrap().both.leader
        };
        for last in 10..15 {
            let is_opaque = of("guarded").is_opaque(scene.at(last));
            assert_eq!(is_opaque, Some(last != 12), "{last}");
        }
        for (service, last, gone, label) in [
            ("owned", 30, "deployment", ("replicaset", "set")),
            ("worked", 31, "cronjob", ("k8s_job", "job")),
        ] {
            let held = of(service).held().unwrap();
            let labels = &held[&scene.at(last)].endpoint.metric_labels;
            assert!(!labels.contains_key(gone), "{labels:?}");
            assert_eq!(labels.get(label.0).map(String::as_str), Some(label.1));
        }
    }

    /// What changes next is what is heard next.
    pub async fn hear_nothing_else(&mut self, scene: &Scene<'_>, alpha: &Scene<'_>) {
        scene.put(service_profile(PROFILED)).await;
        assert_routes(&mut self.profiles, &["all"]).await;
        alpha.nothing_else(&mut self.alpha, "alpha").await;
        for stream in &mut self.each {
            if stream.service == "dropped" {
                scene.stage.settled().await;
                scene.service("dropped").await;
                stream.both.hear(&Said::Added([scene.at(40)].into())).await;
            }
            scene.nothing_else(&mut stream.both, stream.service).await;
        }
    }
}

async fn profile(channel: &Channel, scene: &Scene<'_>) -> Streaming<DestinationProfile> {
    let asks = GetDestination {
        scheme: "k8s".to_owned(),
        path: scene.path("profiled"),
        context_token: json!({ "ns": scene.name }).to_string(),
    };
    let opened = DestinationClient::new(channel.clone())
        .get_profile(asks)
        .await;
    opened.unwrap().into_inner()
}

/// The next message of each has a route for each of these conditions.
async fn assert_routes(profiles: &mut [Streaming<DestinationProfile>; 2], names: &[&str]) {
    for stream in profiles {
        let message = timeout(PATIENCE, stream.message()).await.unwrap();
        let profile = message.unwrap().unwrap();
        let routes = profile.routes.iter();
        let told: Vec<&str> = routes
            .filter_map(|route| route.metrics_labels.get("route").map(String::as_str))
            .collect();
        assert_eq!(told, names);
    }
}
