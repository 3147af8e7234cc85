//! The endpoints of a target, for one client.
//!
//! Recomputed from all current slices of the service every time: what an
//! earlier answer was plays no part, so no order of events can leave a stale
//! address or lose a good one.

use lockstep_model::{EndpointTarget, ServiceRecord, Settings, SliceRecord, Target, Text};
use lockstep_state::{Content, State};
use std::{collections::BTreeMap, net::SocketAddr, sync::Arc};

use crate::{
    Answer, Described, EndpointSet, Labels,
    labels::{common, of_slice, put},
    locality::{Candidate, Place, near, one_family},
};

/// How much more an endpoint in the client's zone weighs, where zones weigh.
const LOCAL_ZONE_FACTOR: u32 = 10;

/// What is true of a target for clients in one [`Place`].
///
/// Of two endpoints with the same address and port the first one counts, in
/// the order of the slices' names and of the endpoints in a slice.
#[must_use]
pub fn endpoints(state: &State, target: &Target, place: &Place) -> Answer {
    let content = state.content();
    let Some(settings) = content.settings().filter(|_| state.is_synced()) else {
        return Answer::Unknown;
    };
    let Some(service) = content.service(&target.service) else {
        return Answer::Absent;
    };
    let candidates = candidates(content, service, target);
    let candidates = near(service.internal_traffic, place, candidates);
    let candidates = one_family(settings, candidates);
    let said = |candidate: Candidate<'_>| describe(settings, place, target.port, candidate);
    Answer::Present(set(candidates, said).into())
}

fn candidates<'state>(
    content: &'state Content,
    service: &ServiceRecord,
    target: &Target,
) -> Vec<Candidate<'state>> {
    let mut candidates = Vec::new();
    for slice in content.slices_of(&target.service) {
        let Some(port) = port_in(slice, service, target.port) else {
            continue;
        };
        let asked = slice.endpoints.iter().filter(|endpoint| {
            endpoint.ready && (target.hostname.is_none() || endpoint.hostname == target.hostname)
        });
        candidates.extend(asked.map(|endpoint| Candidate {
            slice,
            endpoint,
            port,
        }));
    }
    candidates
}

/// The port that a slice's endpoints listen on for a requested port: matched
/// by the service port's name. A port that the service does not declare means
/// itself, on every slice that has ports at all.
fn port_in(slice: &SliceRecord, service: &ServiceRecord, requested: u16) -> Option<u16> {
    match service.port(requested) {
        Some(declared) => slice
            .ports
            .iter()
            .find(|port| port.name == declared.name)
            .map(|port| port.port),
        None => (!slice.ports.is_empty()).then_some(requested),
    }
}

fn describe(
    settings: &Settings,
    place: &Place,
    requested: u16,
    candidate: Candidate<'_>,
) -> Option<Described> {
    let Candidate {
        slice,
        endpoint,
        port,
    } = candidate;
    let mut described = match &endpoint.target {
        EndpointTarget::Pod(workload) => {
            let mut described = Described::pod(settings, workload, port)?;
            let zone = endpoint.zone.clone().unwrap_or_default();
            put(&mut described.labels, "zone", &zone);
            described
        }
        EndpointTarget::Address => Described::address(settings, slice, requested),
    };
    let locality = zone_locality(place.zone.as_ref(), endpoint.zone.as_ref());
    put(&mut described.labels, "zone_locality", &locality.into());
    if settings.zone_weights && locality == "local" {
        described.weight *= LOCAL_ZONE_FACTOR;
    }
    Some(described)
}

fn zone_locality(client: Option<&Text>, endpoint: Option<&Text>) -> &'static str {
    match (client, endpoint) {
        (Some(client), Some(endpoint)) if client == endpoint => "local",
        (Some(_), Some(_)) => "remote",
        (Some(_) | None, _) => "unknown",
    }
}

/// Joins what is said of the candidates. Labels of the slices that all of them
/// share go to the set, the others to the addresses.
fn set<'state>(
    candidates: Vec<Candidate<'state>>,
    said: impl Fn(Candidate<'state>) -> Option<Described>,
) -> EndpointSet {
    let mut slices: Vec<(&SliceRecord, Labels)> = Vec::new();
    let mut found: BTreeMap<SocketAddr, (usize, Described)> = BTreeMap::new();
    for candidate in candidates {
        let address = SocketAddr::new(candidate.endpoint.ip, candidate.port);
        if found.contains_key(&address) {
            continue;
        }
        let Some(described) = said(candidate) else {
            continue;
        };
        let last = slices.last().map(|(slice, _)| *slice);
        if !last.is_some_and(|last| std::ptr::eq(last, candidate.slice)) {
            slices.push((candidate.slice, of_slice(candidate.slice)));
        }
        found.insert(address, (slices.len() - 1, described));
    }
    let labels = common(slices.iter().map(|(_, labels)| labels));
    let complete = |(address, (place, mut described)): (SocketAddr, (usize, Described))| {
        let own = slices.get(place).into_iter().flat_map(|(_, own)| own);
        for (key, value) in own.filter(|(key, _)| !labels.contains_key(*key)) {
            described.labels.insert(key.clone(), value.clone());
        }
        (address, Arc::new(described))
    };
    let endpoints = found.into_iter().map(complete).collect();
    EndpointSet { labels, endpoints }
}
