//! Servers, as far as they make ports opaque (A13.3, A13.4).

use serde_json::Value;

use super::{
    Cluster, Kind,
    json::{label, list, port, text},
};
use crate::{Name, Ports};

/// A port of a workload, perhaps without a name.
pub(super) struct NamedPort {
    pub(super) name: String,
    pub(super) number: u16,
    pub(super) host: Option<u16>,
}

impl Cluster {
    /// The ports of a workload that the Servers of its namespace make opaque.
    pub(super) fn opaque_by_server(
        &self,
        kind: Kind,
        name: &Name,
        workload: &Value,
        ports: &[NamedPort],
    ) -> Ports {
        let selector = match kind {
            Kind::ExternalWorkload => "/spec/externalWorkloadSelector",
            Kind::Pod
            | Kind::Node
            | Kind::ReplicaSet
            | Kind::Job
            | Kind::Service
            | Kind::EndpointSlice
            | Kind::Server => "/spec/podSelector",
        };
        let servers = self.of_namespace(Kind::Server, &name.namespace);
        let opaque = servers.filter(|server| {
            let chosen = server.pointer(selector).filter(|chosen| !chosen.is_null());
            text(server, "/spec/proxyProtocol") == Some("opaque")
                && chosen.is_some_and(|chosen| selects(chosen, workload))
        });
        opaque
            .flat_map(|server| made_opaque(server, ports))
            .collect()
    }
}

fn made_opaque(server: &Value, ports: &[NamedPort]) -> Vec<u16> {
    if let Some(number) = port(server, "/spec/port") {
        return vec![number];
    }
    let name = text(server, "/spec/port").unwrap_or_default();
    let named = ports
        .iter()
        .filter(|port| !name.is_empty() && port.name == name);
    named
        .flat_map(|port| std::iter::once(port.number).chain(port.host))
        .collect()
}

/// Whether a label selector chooses an object; one without requirements chooses all.
fn selects(selector: &Value, object: &Value) -> bool {
    let equal = selector.pointer("/matchLabels").and_then(Value::as_object);
    let mut equal = equal.into_iter().flatten();
    equal.all(|(key, value)| label(object, key) == value.as_str())
        && list(selector, "/matchExpressions").all(|each| holds(each, object))
}

fn holds(requirement: &Value, object: &Value) -> bool {
    let value = text(requirement, "/key").and_then(|key| label(object, key));
    let listed = || {
        let mut values = list(requirement, "/values").filter_map(Value::as_str);
        value.is_some_and(|value| values.any(|each| each == value))
    };
    match text(requirement, "/operator") {
        Some("In") => listed(),
        Some("NotIn") => !listed(),
        Some("Exists") => value.is_some(),
        Some("DoesNotExist") => value.is_none(),
        Some(_) | None => false,
    }
}
