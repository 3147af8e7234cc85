//! A slice joined with its service, its pods and their owners.

use lockstep_model::{
    Endpoint, EndpointFact, EndpointTarget, PodFact, PodId, PodPhase, SLICE_BYTES_MAX, SliceFact,
    SliceId, SliceRecord, TargetRef, Text, Workload,
};
use lockstep_state::codec;
use std::{collections::BTreeSet, net::IpAddr, sync::Arc};

use crate::{facts::Facts, pods};

/// What answers say of a slice; `None` when it can show no endpoint.
pub(crate) fn record(id: &SliceId, facts: &Facts) -> Option<SliceRecord> {
    let slice = facts.slice(id)?;
    // A slice outlives its service for a moment: nothing may come back in it. A service
    // that became an alias is still there: streams that are open keep what its slices
    // say, as from the controller that clients know, and new ones are refused.
    facts.service(&slice.service)?;
    let endpoints = endpoints(slice, facts);
    (!endpoints.is_empty()).then(|| SliceRecord {
        service: slice.service.clone(),
        family: slice.family,
        ports: slice.ports.clone(),
        endpoints,
        mirror: slice.mirror.clone(),
    })
}

/// In the order of the object, each once, and no more than fit into an entry of the log.
fn endpoints(slice: &SliceFact, facts: &Facts) -> Vec<Endpoint> {
    let mut seen = BTreeSet::new();
    let head_bytes = codec::size(&(&slice.ports, &slice.mirror));
    let mut room = SLICE_BYTES_MAX.saturating_sub(head_bytes);
    slice
        .endpoints
        .iter()
        .flat_map(|endpoint| join(endpoint, facts))
        .filter(|endpoint| seen.insert(endpoint.clone()))
        .filter(|endpoint| take(&mut room, codec::size(endpoint)))
        .collect()
}

/// Takes `bytes` of the room; all or nothing.
fn take(room: &mut usize, bytes: usize) -> bool {
    let left = room.checked_sub(bytes);
    *room = left.unwrap_or(*room);
    left.is_some()
}

fn join(endpoint: &EndpointFact, facts: &Facts) -> Vec<Endpoint> {
    match &endpoint.target {
        TargetRef::Address if endpoint.ready => endpoint
            .addresses
            .iter()
            .map(|ip| joined(endpoint, *ip, None))
            .collect(),
        // Only a pod has a DNS name of its own that resolves before it is ready.
        TargetRef::Address => Vec::new(),
        // A pod has one address in a family. Kubernetes gives no meaning to
        // more; Linkerd, and so what its clients know, takes the last.
        TargetRef::Pod { pod, uid } => endpoint
            .addresses
            .last()
            .zip(workload(endpoint, pod, uid.as_ref(), facts))
            .map(|(ip, workload)| joined(endpoint, *ip, Some(Arc::new(workload))))
            .into_iter()
            .collect(),
    }
}

/// The pod behind an endpoint that can show; `None` also while the pod is not
/// known, or is another one of the same name: its identity would be wrong.
fn workload(
    endpoint: &EndpointFact,
    id: &PodId,
    uid: Option<&Text>,
    facts: &Facts,
) -> Option<Workload> {
    let pod = facts.pod(id)?;
    let same = uid.is_none_or(|uid| *uid == pod.uid);
    (same && shows(endpoint, pod)).then(|| pods::workload(id, pod, facts))
}

/// An endpoint that takes no traffic is kept for its DNS name only, and only
/// while it may still become ready.
fn shows(endpoint: &EndpointFact, pod: &PodFact) -> bool {
    let comes = match pod.phase {
        PodPhase::Pending | PodPhase::Running => true,
        PodPhase::Finished => false,
    };
    endpoint.ready || (endpoint.hostname.is_some() && comes)
}

fn joined(endpoint: &EndpointFact, ip: IpAddr, workload: Option<Arc<Workload>>) -> Endpoint {
    Endpoint {
        ip,
        hostname: endpoint.hostname.clone(),
        ready: endpoint.ready,
        zone: workload.as_ref().and(endpoint.zone.clone()),
        hint_zones: endpoint.hint_zones.clone(),
        target: workload.map_or(EndpointTarget::Address, EndpointTarget::Pod),
    }
}

#[cfg(test)]
mod tests;
