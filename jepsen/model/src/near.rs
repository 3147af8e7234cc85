//! Which endpoints a client may use, by where they are (A10, A7.10).

use std::{collections::BTreeSet, net::IpAddr};

use crate::{Behind, Content, Endpoint, Name, Service, Settings, Slice, Text, Traffic};

/// One endpoint that may be told, with what it depends on.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) slice: &'a Slice,
    pub(crate) endpoint: &'a Endpoint,
    /// The port that the endpoint listens on.
    pub(crate) port: u16,
}

/// Where a client is.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) node: &'a str,
    pub(crate) zone: Option<&'a Text>,
}

// === impl Place ===

impl<'a> Place<'a> {
    pub(crate) fn of(content: &'a Content, node: &'a str) -> Self {
        Self {
            node,
            zone: content.zone(node),
        }
    }
}

/// What is left for a client at a place, of candidates that passed the hostname filter.
pub(crate) fn near<'a>(
    settings: &Settings,
    service: &Service,
    place: Place<'_>,
    candidates: Vec<Candidate<'a>>,
) -> Vec<Candidate<'a>> {
    let near = match service.traffic {
        Traffic::Local => on_node(place.node, candidates),
        Traffic::Cluster => hinted(settings, place, candidates),
    };
    one_family(settings, near)
}

/// A10.4: no fallback, and an unknown node yields nothing.
fn on_node<'a>(node: &str, candidates: Vec<Candidate<'a>>) -> Vec<Candidate<'a>> {
    let there = |candidate: &Candidate<'_>| match &candidate.endpoint.behind {
        Behind::Pod(pod) => !node.is_empty() && pod.node.as_deref() == Some(node),
        Behind::Nothing | Behind::External(_) => false,
    };
    candidates.into_iter().filter(there).collect()
}

/// A10.5, and hints for nodes before it if they are on.
fn hinted<'a>(
    settings: &Settings,
    place: Place<'_>,
    candidates: Vec<Candidate<'a>>,
) -> Vec<Candidate<'a>> {
    if settings.node_hints && !place.node.is_empty() {
        let nodes = |endpoint: &'a Endpoint| endpoint.hint_nodes.as_slice();
        if let Some(chosen) = meant_for(&candidates, place.node, nodes) {
            return chosen;
        }
    }
    let zones = |endpoint: &'a Endpoint| endpoint.hint_zones.as_slice();
    let chosen = place
        .zone
        .and_then(|zone| meant_for(&candidates, zone, zones));
    chosen.unwrap_or(candidates)
}

/// The candidates hinted for one place; none if one has no hints, or none is meant for it.
fn meant_for<'a>(
    candidates: &[Candidate<'a>],
    place: &str,
    hints: impl Fn(&'a Endpoint) -> &'a [Text],
) -> Option<Vec<Candidate<'a>>> {
    let complete = candidates
        .iter()
        .all(|candidate| !hints(candidate.endpoint).is_empty());
    let for_it = candidates.iter().copied().filter(|candidate| {
        hints(candidate.endpoint)
            .iter()
            .any(|hint| hint.as_ref() == place)
    });
    let chosen: Vec<_> = for_it.collect();
    (complete && !chosen.is_empty()).then_some(chosen)
}

/// A7.10: for pods only.
fn one_family<'a>(settings: &Settings, candidates: Vec<Candidate<'a>>) -> Vec<Candidate<'a>> {
    let both: BTreeSet<&Name> = candidates
        .iter()
        .filter(|candidate| candidate.endpoint.ip.is_ipv6())
        .filter_map(pod)
        .collect();
    let keep = |candidate: &Candidate<'_>| match (pod(candidate), candidate.endpoint.ip) {
        (None, _) => true,
        (Some(_), IpAddr::V6(_)) => settings.ipv6,
        (Some(name), IpAddr::V4(_)) => !settings.ipv6 || !both.contains(name),
    };
    candidates
        .iter()
        .copied()
        .filter(|each| keep(each))
        .collect()
}

fn pod<'a>(candidate: &Candidate<'a>) -> Option<&'a Name> {
    match &candidate.endpoint.behind {
        Behind::Pod(pod) => Some(&pod.name),
        Behind::Nothing | Behind::External(_) => None,
    }
}
