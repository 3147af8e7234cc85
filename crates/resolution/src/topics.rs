//! Which parts of the state an answer depends on: when to look again.

use lockstep_model::{Host, NodeName, PodId, ServiceId, Target};
use lockstep_state::{Changed, State};
use std::net::IpAddr;

use crate::{Client, Question, profile::pods_named};

/// A part of the state.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// A service and the endpoints behind it.
    Service(ServiceId),
    /// Whoever has an address.
    Address(IpAddr),
    /// A pod.
    Pod(PodId),
    /// The zone of a node.
    Node(NodeName),
}

/// What the endpoints of a target depend on, for one client.
#[must_use]
pub fn topics_of_get(target: &Target, client: &Client) -> Vec<Topic> {
    let service = Topic::Service(target.service.clone());
    let node = client.node.clone().map(Topic::Node);
    std::iter::once(service).chain(node).collect()
}

/// What a profile depends on, in this state: which pod a hostname stands for
/// may change, and the topics with it. Sorted.
#[must_use]
pub fn topics_of_profile(state: &State, question: &Question) -> Vec<Topic> {
    match &question.authority.host {
        Host::Ip(ip) => vec![Topic::Address(*ip)],
        Host::Service {
            service,
            hostname: None,
        } => vec![Topic::Service(service.clone())],
        Host::Service {
            service,
            hostname: Some(hostname),
        } => {
            let pods = pods_named(state.content(), service, hostname);
            let mut topics: Vec<Topic> = pods.cloned().map(Topic::Pod).collect();
            topics.push(Topic::Service(service.clone()));
            topics.sort_unstable();
            topics.dedup();
            topics
        }
    }
}

/// Whether a change makes what depends on `topic` look again.
#[must_use]
pub fn wakes(changed: &Changed, topic: &Topic) -> bool {
    changed.all
        || match topic {
            Topic::Service(service) => changed.services.contains(service),
            Topic::Address(ip) => changed.addresses.contains(ip),
            Topic::Pod(pod) => changed.pods.contains(pod),
            Topic::Node(node) => changed.nodes.contains(node),
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_wakes_what_it_names_and_nothing_else() {
        let ip: IpAddr = "10.1.2.3".parse().unwrap();
        let topics = [
            Topic::Service(ServiceId::named("shop", "web")),
            Topic::Address(ip),
            Topic::Pod(PodId::named("shop", "web")),
            Topic::Node("node-a".into()),
        ];
        let changes = [
            Changed {
                services: [ServiceId::named("shop", "web")].into(),
                ..Changed::default()
            },
            Changed {
                addresses: [ip].into(),
                ..Changed::default()
            },
            Changed {
                pods: [PodId::named("shop", "web")].into(),
                ..Changed::default()
            },
            Changed {
                nodes: ["node-a".into()].into(),
                ..Changed::default()
            },
        ];
        for (place, topic) in topics.iter().enumerate() {
            for (other, change) in changes.iter().enumerate() {
                assert_eq!(wakes(change, topic), place == other, "{topic:?}");
            }
            assert!(wakes(&Changed::everything(), topic));
            assert!(!wakes(&Changed::default(), topic));
        }
    }
}
