//! External workloads as they are found by address, and as endpoints speak of them.

use lockstep_model::{
    EXTERNAL_INBOUND_PORT, ExternalWorkload, ExternalWorkloadFact, ExternalWorkloadId,
    ExternalWorkloadRecord, NamedPort,
};
use std::{collections::BTreeSet, sync::Arc};

use crate::{facts::Facts, servers};

/// The name of the port on which the proxy of an external workload listens.
const PROXY_PORT: &str = "linkerd-proxy";

/// What lookups by address say of an external workload; `None` for one that none can find.
pub(crate) fn record(id: &ExternalWorkloadId, facts: &Facts) -> Option<ExternalWorkloadRecord> {
    let fact = facts.external_workload(id)?;
    let findable = !fact.ips.is_empty() && !fact.ports.is_empty();
    findable.then(|| ExternalWorkloadRecord {
        workload: Arc::new(workload(id, fact, facts)),
        ips: sorted(fact.ips.iter().copied()),
        ports: sorted(fact.ports.iter().map(|port| port.port)),
    })
}

/// What an endpoint says of the external workload behind it.
pub(crate) fn workload(
    id: &ExternalWorkloadId,
    fact: &ExternalWorkloadFact,
    facts: &Facts,
) -> ExternalWorkload {
    ExternalWorkload {
        id: id.clone(),
        owner: fact.owner.clone(),
        identity: fact.identity.clone(),
        server_name: fact.server_name.clone(),
        inbound_port: inbound_port(&fact.ports),
        opaque: fact.opaque.clone(),
        opaque_by_server: servers::ports_of_external(&id.namespace, fact, facts),
    }
}

fn inbound_port(ports: &[NamedPort]) -> u16 {
    let named = ports.iter().find(|port| &*port.name == PROXY_PORT);
    named.map_or(EXTERNAL_INBOUND_PORT, |port| port.port)
}

/// Sorted, each once.
fn sorted<T: Ord>(each: impl Iterator<Item = T>) -> Vec<T> {
    let set: BTreeSet<T> = each.collect();
    set.into_iter().collect()
}
