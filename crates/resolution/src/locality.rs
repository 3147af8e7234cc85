//! Which endpoints are near enough: traffic policy, hints for nodes and zones, and families.

use lockstep_model::{
    AddressFamily, Endpoint, EndpointTarget, InternalTraffic, NodeName, PodId, Settings,
    SliceRecord, Target, Text,
};
use lockstep_state::State;
use std::collections::BTreeSet;

use crate::Client;

/// One endpoint that may be told, with the port it listens on.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Candidate<'state> {
    pub(crate) slice: &'state SliceRecord,
    pub(crate) endpoint: &'state Endpoint,
    pub(crate) port: u16,
}

impl<'state> Candidate<'state> {
    fn pod(&self) -> Option<&'state PodId> {
        match &self.endpoint.target {
            EndpointTarget::Pod(workload) => Some(&workload.pod),
            EndpointTarget::Address | EndpointTarget::External(_) => None,
        }
    }

    fn is_on(&self, node: &NodeName) -> bool {
        match &self.endpoint.target {
            EndpointTarget::Pod(workload) => workload.node.as_ref() == Some(node),
            EndpointTarget::Address | EndpointTarget::External(_) => false,
        }
    }
}

/// Where a client is, as far as the endpoints of one target depend on it: two
/// clients in one place are told the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Its node, if the service's traffic policy asks for it or hints for nodes count.
    pub node: Option<NodeName>,
    /// The zone of its node, if known.
    pub zone: Option<Text>,
}

impl Place {
    /// Where `client` is for a target.
    #[must_use]
    pub fn of(state: &State, target: &Target, client: &Client) -> Self {
        let content = state.content();
        let service = content.service(&target.service);
        let is_local = service.is_some_and(|it| it.internal_traffic == InternalTraffic::Local);
        let is_hinted = content.settings().is_some_and(|it| it.node_hints);
        let node = client.node.as_ref();
        Self {
            node: node.filter(|_| is_local || is_hinted).cloned(),
            zone: node.and_then(|node| content.zone(node)).cloned(),
        }
    }
}

/// The candidates that a client in `place` should use.
///
/// A local traffic policy leaves those on the client's node, nothing else and
/// without a way back. Otherwise hints for nodes count, then hints for zones: if every
/// candidate has them, the client's own is known, and one of them is meant for it.
pub(crate) fn near<'state>(
    policy: InternalTraffic,
    place: &Place,
    candidates: Vec<Candidate<'state>>,
) -> Vec<Candidate<'state>> {
    let Place { node, zone } = place;
    match policy {
        InternalTraffic::Local => {
            let is_near = |it: &Candidate<'state>| node.as_ref().is_some_and(|node| it.is_on(node));
            candidates.into_iter().filter(is_near).collect()
        }
        InternalTraffic::Cluster => {
            let by_node = |it: &Candidate<'state>| hint(&it.endpoint.hint_nodes, node.as_ref());
            let by_zone = |it: &Candidate<'state>| hint(&it.endpoint.hint_zones, zone.as_ref());
            if hints_count(&candidates, by_node) {
                meant(candidates, by_node)
            } else if hints_count(&candidates, by_zone) {
                meant(candidates, by_zone)
            } else {
                candidates
            }
        }
    }
}

/// What the hints of one candidate say to one client.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Hinted {
    /// There are none.
    Nobody,
    /// It is meant for others.
    Others,
    /// It is meant for the client.
    Client,
}

fn hint(hints: &[Text], own: Option<&Text>) -> Hinted {
    match own {
        _ if hints.is_empty() => Hinted::Nobody,
        Some(own) if hints.contains(own) => Hinted::Client,
        Some(_) | None => Hinted::Others,
    }
}

fn hints_count<'state>(
    candidates: &[Candidate<'state>],
    hint: impl Fn(&Candidate<'state>) -> Hinted,
) -> bool {
    let mut is_meant = false;
    for candidate in candidates {
        match hint(candidate) {
            Hinted::Nobody => return false,
            Hinted::Others => {}
            Hinted::Client => is_meant = true,
        }
    }
    is_meant
}

fn meant<'state>(
    candidates: Vec<Candidate<'state>>,
    hint: impl Fn(&Candidate<'state>) -> Hinted,
) -> Vec<Candidate<'state>> {
    let is_meant = |it: &Candidate<'state>| hint(it) == Hinted::Client;
    candidates.into_iter().filter(is_meant).collect()
}

/// Leaves one family of each pod that has two: IPv6 where it is enabled. An
/// address without a pod says nothing of a second one, so it stays; so does an external
/// workload's, as clients know it.
pub(crate) fn one_family<'state>(
    settings: &Settings,
    candidates: Vec<Candidate<'state>>,
) -> Vec<Candidate<'state>> {
    let of_family = |family: AddressFamily| {
        let pods = candidates
            .iter()
            .filter(move |it| it.slice.family == family);
        pods.filter_map(Candidate::pod)
    };
    let dual: BTreeSet<PodId> = if settings.ipv6 {
        of_family(AddressFamily::V6).cloned().collect()
    } else {
        BTreeSet::new()
    };
    let stays = |candidate: &Candidate<'state>| match (candidate.slice.family, candidate.pod()) {
        (_, None) => true,
        (AddressFamily::V6, Some(_)) => settings.ipv6,
        (AddressFamily::V4, Some(pod)) => !dual.contains(pod),
    };
    candidates.into_iter().filter(stays).collect()
}
