//! A slice joined with its service, what stands behind its addresses, and their owners.

use lockstep_model::{
    Endpoint, EndpointFact, EndpointTarget, NodeName, PodFact, PodId, PodPhase, Readiness,
    SLICE_BYTES_MAX, Settings, SliceFact, SliceId, SliceRecord, TargetRef, Text,
};
use lockstep_state::codec;
use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
    slice::from_ref,
    sync::Arc,
};

use crate::{external, known::Known, pods, rivals};

/// What answers say of a slice; `None` when it can show no endpoint.
pub(crate) fn record(id: &SliceId, known: Known<'_>) -> Option<SliceRecord> {
    let slice = known.facts.slice(id)?;
    // A slice outlives its service for a moment: nothing may come back in it. A service
    // that became an alias is still there: streams that are open keep what its slices
    // say, as from the controller that clients know, and new ones are refused.
    known.facts.service(&slice.service)?;
    let joining = Joining {
        newer: rivals::newer_words(id, slice, known),
        known,
    };
    let endpoints = joining.endpoints(slice);
    (!endpoints.is_empty()).then(|| SliceRecord {
        service: slice.service.clone(),
        named_by: slice.named_by,
        family: slice.family,
        ports: slice.ports.clone(),
        endpoints,
        mirror: slice.mirror.clone(),
    })
}

/// What the endpoints of one slice are joined with.
struct Joining<'a> {
    known: Known<'a>,
    /// What newer slices of the same service say of the same pods.
    newer: BTreeMap<&'a PodId, Readiness>,
}

// === impl Joining ===

impl Joining<'_> {
    /// In the order of the object, each once, and no more than fit into an entry of the log.
    fn endpoints(&self, slice: &SliceFact) -> Vec<Endpoint> {
        let mut seen = BTreeSet::new();
        let head_bytes = codec::size(&(&slice.ports, &slice.mirror));
        let mut room = SLICE_BYTES_MAX.saturating_sub(head_bytes);
        slice
            .endpoints
            .iter()
            .flat_map(|endpoint| self.join(endpoint))
            .filter(|endpoint| seen.insert(endpoint.clone()))
            .filter(|endpoint| take(&mut room, codec::size(endpoint)))
            .collect()
    }

    fn join(&self, endpoint: &EndpointFact) -> Vec<Endpoint> {
        let Some((readiness, target)) = self.shown(endpoint) else {
            return Vec::new();
        };
        addresses(endpoint)
            .iter()
            .map(|ip| Endpoint {
                ip: *ip,
                hostname: endpoint.hostname.clone(),
                readiness,
                zone: zone(endpoint),
                hint_zones: endpoint.hint_zones.clone(),
                hint_nodes: self.hint_nodes(endpoint),
                target: target.clone(),
            })
            .collect()
    }

    /// None while they do not count: then they shall change nothing.
    fn hint_nodes(&self, endpoint: &EndpointFact) -> Vec<NodeName> {
        if self.known.settings.node_hints {
            endpoint.hint_nodes.clone()
        } else {
            Vec::new()
        }
    }

    /// How an endpoint shows and what is behind it; `None` also while that is not known, or
    /// is another pod of the same name: its identity would be wrong.
    fn shown(&self, endpoint: &EndpointFact) -> Option<(Readiness, EndpointTarget)> {
        let Known {
            facts, settings, ..
        } = self.known;
        match &endpoint.target {
            TargetRef::Address => {
                let readiness = serves(endpoint.readiness, settings)?;
                Some((readiness, EndpointTarget::Address))
            }
            TargetRef::External(id) => {
                let fact = facts.external_workload(id)?;
                let readiness = serves(endpoint.readiness, settings)?;
                let workload = external::workload(id, fact, facts);
                Some((readiness, EndpointTarget::External(Arc::new(workload))))
            }
            TargetRef::Pod { pod: id, uid } => {
                let pod = facts.pod_meant(id, uid.as_ref())?;
                let readiness = self.readiness_of_pod(endpoint, id, pod)?;
                let workload = pods::workload(id, pod, facts);
                Some((readiness, EndpointTarget::Pod(Arc::new(workload))))
            }
        }
    }

    /// An endpoint that takes no traffic is kept for its DNS name only, and only while its
    /// pod may still become ready: nothing but a pod has a DNS name of its own that resolves
    /// before it is ready.
    fn readiness_of_pod(
        &self,
        endpoint: &EndpointFact,
        id: &PodId,
        pod: &PodFact,
    ) -> Option<Readiness> {
        let own = endpoint.readiness;
        let readiness = self.newer.get(id).map_or(own, |newer| own.max(*newer));
        let comes = match pod.phase {
            PodPhase::Pending | PodPhase::Running => true,
            PodPhase::Finished => false,
        };
        let for_its_name = endpoint.hostname.is_some() && comes;
        serves(readiness, self.known.settings)
            // A finished pod is no last resort: its address may be another's by now.
            .filter(|readiness| comes || *readiness == Readiness::Ready)
            .or_else(|| for_its_name.then_some(Readiness::Unready))
    }
}

/// How an endpoint takes traffic, if it does.
fn serves(readiness: Readiness, settings: &Settings) -> Option<Readiness> {
    match readiness {
        Readiness::Ready => Some(readiness),
        Readiness::Leaving => settings.serve_terminating.then_some(readiness),
        Readiness::Unready => None,
    }
}

fn addresses(endpoint: &EndpointFact) -> &[IpAddr] {
    match &endpoint.target {
        TargetRef::Address | TargetRef::External(_) => &endpoint.addresses,
        // A pod has one address in a family. Kubernetes gives no meaning to
        // more; Linkerd, and so what its clients know, takes the last.
        TargetRef::Pod { .. } => endpoint.addresses.last().map(from_ref).unwrap_or_default(),
    }
}

fn zone(endpoint: &EndpointFact) -> Option<Text> {
    match &endpoint.target {
        TargetRef::Address => None,
        TargetRef::Pod { .. } | TargetRef::External(_) => endpoint.zone.clone(),
    }
}

/// Takes `bytes` of the room; all or nothing.
fn take(room: &mut usize, bytes: usize) -> bool {
    let left = room.checked_sub(bytes);
    *room = left.unwrap_or(*room);
    left.is_some()
}

#[cfg(test)]
mod tests;
