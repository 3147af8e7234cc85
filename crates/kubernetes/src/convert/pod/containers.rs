//! What a pod's containers say: names of ports, host ports, where the proxy listens.

use k8s_openapi::api::core::v1::{Container, ContainerPort, PodSpec};
use lockstep_model::{Listeners, NamedPort};
use std::{collections::BTreeSet, net::SocketAddr};

use crate::convert::{
    Skipped,
    metadata::given,
    port_list::{NamedPorts, port},
};

const PROXY: &str = "linkerd-proxy";
const INBOUND: &str = "LINKERD2_PROXY_INBOUND_LISTEN_ADDR";
const ADMIN: &str = "LINKERD2_PROXY_ADMIN_LISTEN_ADDR";
const CONTROL: &str = "LINKERD2_PROXY_CONTROL_LISTEN_ADDR";

/// Init containers count and come first: a native sidecar is one.
fn containers(spec: &PodSpec) -> impl Iterator<Item = &Container> {
    let init = spec.init_containers.iter().flatten();
    init.chain(&spec.containers)
}

fn ports(spec: &PodSpec) -> impl Iterator<Item = &ContainerPort> {
    containers(spec).flat_map(|container| container.ports.iter().flatten())
}

/// Every port of the pod that has a name; of two with the same name, the last.
pub(super) fn named_ports(spec: &PodSpec) -> NamedPorts<'_> {
    let named = ports(spec).filter_map(|port| {
        let number = u16::try_from(port.container_port).ok()?;
        Some((port.name.as_deref()?, number))
    });
    named.collect()
}

/// The same with their host ports, each as often as it is declared.
pub(super) fn ports_with_names(spec: &PodSpec) -> Vec<NamedPort> {
    let named = ports(spec).filter_map(|port| {
        Some(NamedPort {
            name: given(port.name.as_deref())?.into(),
            port: number(port.container_port)?,
            host_port: host_port(spec, port).and_then(number),
        })
    });
    named.collect()
}

fn number(number: i32) -> Option<u16> {
    u16::try_from(number).ok().filter(|port| *port != 0)
}

/// Every port that the pod takes on its node, sorted.
pub(super) fn host_ports(spec: &PodSpec, skipped: &mut Vec<Skipped>) -> Vec<u16> {
    let numbers = ports(spec).filter_map(|port| host_port(spec, port));
    let sorted: BTreeSet<u16> = numbers
        .filter_map(|number| port("hostPort", number, skipped))
        .collect();
    sorted.into_iter().collect()
}

/// The port that a container's port takes on its node. In the network of the node it is
/// the same one: an API server writes so into the object, and a manifest need not.
fn host_port(spec: &PodSpec, port: &ContainerPort) -> Option<i32> {
    // Zero is how Go writes "none".
    let given = port.host_port.filter(|number| *number != 0);
    let is_on_host = spec.host_network == Some(true);
    given.or_else(|| (is_on_host && port.container_port != 0).then_some(port.container_port))
}

/// Where the pod's proxy listens, if it has one.
pub(super) fn listeners(spec: &PodSpec, skipped: &mut Vec<Skipped>) -> Listeners {
    let Some(proxy) = containers(spec).find(|container| container.name == PROXY) else {
        return Listeners::default();
    };
    Listeners {
        inbound: listener(proxy, INBOUND, skipped),
        admin: listener(proxy, ADMIN, skipped),
        control: listener(proxy, CONTROL, skipped),
    }
}

fn listener(proxy: &Container, variable: &'static str, skipped: &mut Vec<Skipped>) -> Option<u16> {
    let env = proxy.env.iter().flatten();
    let found = env.into_iter().find(|env| env.name == variable)?;
    let literal = found.value.as_deref().unwrap_or_default();
    let port = literal.parse().ok().map(|addr: SocketAddr| addr.port());
    if port.is_none() {
        skipped.push(Skipped::Listener { variable });
    }
    port
}
