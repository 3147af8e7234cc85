//! Which ports Servers make opaque.
//!
//! Computed whole from all Servers of a namespace each time, so that one of two
//! that say the same can go without the port becoming another.

use lockstep_model::{
    ExternalWorkloadFact, Fact, FactKey, FactKind, LabelSelector, NamedPort, ObjectLabels, PodFact,
    PortRange, PortSet, ServerFact, ServerPort, Text,
};

use crate::facts::{Facts, key};

/// What pods and external workloads of a namespace refer to: all of its Servers at once.
/// No object has an empty name.
pub(crate) fn all_of(namespace: &Text) -> FactKey {
    key(FactKind::Server, namespace, &"".into())
}

/// What must be looked at when a Server changes from `old` to `new`, if it says
/// anything else of opaque ports.
pub(crate) fn touched(key: &FactKey, old: Option<&Fact>, new: Option<&Fact>) -> Option<FactKey> {
    (opaque(old) != opaque(new)).then(|| all_of(&key.namespace))
}

/// The Server that a fact is, if it makes ports opaque.
pub(crate) fn opaque(fact: Option<&Fact>) -> Option<&ServerFact> {
    match fact? {
        Fact::Server(server) => server.as_ref(),
        Fact::Node(_)
        | Fact::Owner(_)
        | Fact::Pod(_)
        | Fact::Service(_)
        | Fact::Slice(_)
        | Fact::ServiceProfile(_)
        | Fact::ExternalWorkload(_) => None,
    }
}

/// The ports of a pod that Servers of its namespace make opaque.
pub(crate) fn ports_of_pod(namespace: &Text, pod: &PodFact, facts: &Facts) -> PortSet {
    let chosen = facts
        .opaque_servers(namespace)
        .filter(|server| chooses(server.pods.as_ref(), &pod.labels));
    opaque_ports(chosen, &pod.ports)
}

/// The ports of an external workload that Servers of its namespace make opaque.
pub(crate) fn ports_of_external(
    namespace: &Text,
    workload: &ExternalWorkloadFact,
    facts: &Facts,
) -> PortSet {
    let chosen = facts
        .opaque_servers(namespace)
        .filter(|server| chooses(server.external_workloads.as_ref(), &workload.labels));
    opaque_ports(chosen, &workload.ports)
}

fn chooses(selector: Option<&LabelSelector>, labels: &ObjectLabels) -> bool {
    selector.is_some_and(|selector| selector.matches(labels))
}

fn opaque_ports<'a>(chosen: impl Iterator<Item = &'a ServerFact>, ports: &[NamedPort]) -> PortSet {
    chosen
        .flat_map(|server| numbers(&server.port, ports))
        .map(PortRange::single)
        .collect()
}

/// The numbers that the port of a Server has on a workload with these ports: an address
/// may name the container's port, or the host's that leads to it.
fn numbers(port: &ServerPort, ports: &[NamedPort]) -> Vec<u16> {
    match port {
        ServerPort::Number(number) => vec![*number],
        ServerPort::Name(name) => ports
            .iter()
            .filter(|port| !name.is_empty() && port.name == *name)
            .flat_map(|port| [Some(port.port), port.host_port])
            .flatten()
            .collect(),
    }
}
