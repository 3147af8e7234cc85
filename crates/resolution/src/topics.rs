//! Which parts of the state an answer depends on: when to look again.

use lockstep_model::{Host, NodeName, PodId, ServiceId, ServiceProfileId, Target};
use lockstep_state::{Changed, State};
use std::{collections::BTreeSet, net::IpAddr};

use crate::{Client, Question, chosen::candidates, profile::pods_named};

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
    /// A ServiceProfile, perhaps one that does not exist yet.
    ServiceProfile(ServiceProfileId),
}

/// What the endpoints of a target depend on, for one client; `contested` are the addresses
/// in the answer that several objects claim.
#[must_use]
pub fn topics_of_get(target: &Target, client: &Client, contested: &BTreeSet<IpAddr>) -> Vec<Topic> {
    let service = Topic::Service(target.service.clone());
    let node = client.node.clone().map(Topic::Node);
    let contested = contested.iter().copied().map(Topic::Address);
    std::iter::once(service)
        .chain(node)
        .chain(contested)
        .collect()
}

/// What a profile depends on, in this state: which pod a hostname stands for may change,
/// which service has an address, and the topics with it. Sorted.
#[must_use]
pub fn topics_of_profile(state: &State, question: &Question) -> Vec<Topic> {
    let topics: BTreeSet<Topic> = match &question.authority.host {
        Host::Ip(ip) => {
            let services = state.content().services_at(*ip);
            let profiles = services.flat_map(|(id, _)| profile_topics(state, question, id));
            profiles.chain([Topic::Address(*ip)]).collect()
        }
        Host::Service {
            service,
            hostname: None,
        } => {
            let profiles = profile_topics(state, question, service);
            profiles.chain([Topic::Service(service.clone())]).collect()
        }
        Host::Service {
            service,
            hostname: Some(hostname),
        } => {
            let pods = pods_named(state.content(), service, hostname);
            let pods = pods.cloned().map(Topic::Pod);
            pods.chain([Topic::Service(service.clone())]).collect()
        }
    };
    topics.into_iter().collect()
}

fn profile_topics(
    state: &State,
    question: &Question,
    service: &ServiceId,
) -> impl Iterator<Item = Topic> + use<> {
    // Before the first sync no domain is known; once it is, everything is looked at again.
    let settings = state.content().settings();
    let ids = settings.map(|settings| candidates(settings, question, service));
    ids.into_iter().flatten().map(Topic::ServiceProfile)
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
            Topic::ServiceProfile(id) => changed.service_profiles.contains(id),
        }
}

/// Every topic that a change is about; what depends on any of them looks again. Of a change
/// of everything that is everybody, so there is no list.
pub fn topics_of_change(changed: &Changed) -> impl Iterator<Item = Topic> {
    // By name, so that a new kind of change cannot be forgotten here.
    let Changed {
        services,
        addresses,
        pods,
        nodes,
        service_profiles,
        all: _,
    } = changed;
    let services = services.iter().cloned().map(Topic::Service);
    let addresses = addresses.iter().copied().map(Topic::Address);
    let pods = pods.iter().cloned().map(Topic::Pod);
    let nodes = nodes.iter().cloned().map(Topic::Node);
    let profiles = service_profiles.iter().cloned().map(Topic::ServiceProfile);
    services
        .chain(addresses)
        .chain(pods)
        .chain(nodes)
        .chain(profiles)
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
            Topic::ServiceProfile(ServiceProfileId::named("shop", "web")),
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
            Changed {
                service_profiles: [ServiceProfileId::named("shop", "web")].into(),
                ..Changed::default()
            },
        ];
        for (place, topic) in topics.iter().enumerate() {
            for (other, change) in changes.iter().enumerate() {
                assert_eq!(wakes(change, topic), place == other, "{topic:?}");
                let mut named = topics_of_change(change);
                assert_eq!(named.any(|it| it == *topic), place == other, "{topic:?}");
            }
            assert!(wakes(&Changed::everything(), topic));
            assert!(!wakes(&Changed::default(), topic));
        }
    }
}
