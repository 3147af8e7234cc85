//! Which endpoints are near enough: traffic policy, zone hints, and families.

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
            EndpointTarget::Address => None,
        }
    }

    fn is_on(&self, node: &NodeName) -> bool {
        match &self.endpoint.target {
            EndpointTarget::Pod(workload) => workload.node.as_ref() == Some(node),
            EndpointTarget::Address => false,
        }
    }
}

/// Where a client is, as far as the endpoints of one target depend on it: two
/// clients in one place are told the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// Its node, if the service's traffic policy asks for it.
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
        let policy = service.map(|service| service.internal_traffic);
        let zone = client.node.as_ref().and_then(|node| content.zone(node));
        Self {
            node: match policy {
                Some(InternalTraffic::Local) => client.node.clone(),
                Some(InternalTraffic::Cluster) | None => None,
            },
            zone: zone.cloned(),
        }
    }
}

/// The candidates that a client in `place` should use.
///
/// A local traffic policy leaves those on the client's node, nothing else and
/// without a way back. Otherwise zone hints count if every candidate has them,
/// the client's zone is known, and one of them is meant for it.
pub(crate) fn near<'state>(
    policy: InternalTraffic,
    place: &Place,
    candidates: Vec<Candidate<'state>>,
) -> Vec<Candidate<'state>> {
    match policy {
        InternalTraffic::Local => candidates
            .into_iter()
            .filter(|candidate| {
                place
                    .node
                    .as_ref()
                    .is_some_and(|node| candidate.is_on(node))
            })
            .collect(),
        InternalTraffic::Cluster => hinted(place.zone.as_ref(), candidates),
    }
}

fn hinted<'state>(
    zone: Option<&Text>,
    candidates: Vec<Candidate<'state>>,
) -> Vec<Candidate<'state>> {
    let hints = |candidate: &Candidate<'state>| &candidate.endpoint.hint_zones;
    let Some(zone) = zone else {
        return candidates;
    };
    if candidates
        .iter()
        .any(|candidate| hints(candidate).is_empty())
    {
        return candidates;
    }
    let meant = |candidate: &Candidate<'state>| hints(candidate).contains(zone);
    if candidates.iter().any(meant) {
        candidates.into_iter().filter(meant).collect()
    } else {
        candidates
    }
}

/// Leaves one family of each pod that has two: IPv6 where it is enabled. An
/// address without a pod says nothing of a second one, so it stays.
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
