//! Pods as they are found by address, and as endpoints speak of them.

use lockstep_model::{PodAddresses, PodFact, PodId, PodPhase, PodRecord, Workload};
use std::sync::Arc;

use crate::{facts::Facts, owner, servers};

/// What lookups by address say of a pod; `None` for one that none can find.
pub(crate) fn record(id: &PodId, facts: &Facts) -> Option<PodRecord> {
    let pod = facts.pod(id)?;
    let findable = match pod.phase {
        PodPhase::Pending | PodPhase::Running => has_address(&pod.addresses),
        // Its addresses may be another pod's by now.
        PodPhase::Finished => false,
    };
    findable.then(|| PodRecord {
        workload: Arc::new(workload(id, pod, facts)),
        addresses: pod.addresses.clone(),
        phase: pod.phase,
        terminating: pod.terminating,
    })
}

/// What an endpoint says of the pod behind it.
pub(crate) fn workload(id: &PodId, pod: &PodFact, facts: &Facts) -> Workload {
    Workload {
        pod: id.clone(),
        owner: owner::resolve(id, pod, facts),
        node: pod.node.clone(),
        service_account: pod.service_account.clone(),
        control_plane: pod.control_plane.clone(),
        template_hash: pod.template_hash.clone(),
        rules: pod.rules.clone(),
        opaque_by_server: servers::ports_of_pod(&id.namespace, pod, facts),
    }
}

fn has_address(addresses: &PodAddresses) -> bool {
    let at_host = !addresses.host_ips.is_empty() && !addresses.host_ports.is_empty();
    at_host || !addresses.ips.is_empty()
}
