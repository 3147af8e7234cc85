//! Pods and external workloads, joined with their owners and Servers.

use serde_json::Value;

use super::{
    Cluster, Kind,
    json::{annotation, filled, label, list, listen_port, port, text},
    owner::single_owner,
    server::NamedPort,
};
use crate::{External, Listeners, Name, Owner, Pod, Ports};

const OPAQUE: &str = "config.linkerd.io/opaque-ports";
const SKIPPED: &str = "config.linkerd.io/skip-inbound-ports";

/// The inbound port of an external workload that names none (A8.8).
const EXTERNAL_INBOUND: u16 = 4143;

impl Cluster {
    /// What is said of a pod.
    pub(super) fn pod(&self, name: &Name, object: &Value) -> Pod {
        let ports: Vec<NamedPort> = containers(object)
            .flat_map(|container| list(container, "/ports"))
            .filter_map(NamedPort::of_container)
            .collect();
        Pod {
            name: name.clone(),
            owner: self.owner_of_pod(name, object),
            node: filled(object, "/spec/nodeName"),
            service_account: filled(object, "/spec/serviceAccountName")
                .unwrap_or_else(|| "default".into()),
            control_plane: label(object, "linkerd.io/control-plane-ns")
                .filter(|text| !text.is_empty())
                .map(Into::into),
            template_hash: label(object, "pod-template-hash")
                .filter(|text| !text.is_empty())
                .map(Into::into),
            // A5.3: numbers and ranges only.
            skipped: Ports::of_annotation(annotation(object, SKIPPED).unwrap_or_default(), |_| {
                None
            }),
            opaque: opaque(object, &ports),
            opaque_by_server: self.opaque_by_server(Kind::Pod, name, object, &ports),
            listeners: listeners(object),
        }
    }

    /// What is said of an external workload.
    pub(super) fn external(&self, name: &Name, object: &Value) -> External {
        let ports: Vec<NamedPort> = list(object, "/spec/ports")
            .filter_map(NamedPort::of_external)
            .collect();
        let inbound = ports.iter().find(|port| port.name == "linkerd-proxy");
        External {
            name: name.clone(),
            owner: single_owner(object).map(|(kind, name)| Owner {
                label: kind.to_lowercase().into(),
                name: name.into(),
            }),
            identity: text(object, "/spec/meshTLS/identity")
                .unwrap_or_default()
                .into(),
            server_name: text(object, "/spec/meshTLS/serverName")
                .unwrap_or_default()
                .into(),
            inbound: inbound.map_or(EXTERNAL_INBOUND, |port| port.number),
            opaque: opaque(object, &ports),
            opaque_by_server: self.opaque_by_server(Kind::ExternalWorkload, name, object, &ports),
        }
    }
}

/// A5.4: init containers, then the others.
fn containers(pod: &Value) -> impl Iterator<Item = &Value> {
    list(pod, "/spec/initContainers").chain(list(pod, "/spec/containers"))
}

/// A13.1: names stand for ports of the workload.
fn opaque(object: &Value, ports: &[NamedPort]) -> Option<Ports> {
    let named = |name: &str| {
        let port = ports.iter().find(|port| port.name == name);
        port.map(|port| port.number)
    };
    annotation(object, OPAQUE).map(|text| Ports::of_annotation(text, named))
}

/// A5.5.
fn listeners(pod: &Value) -> Listeners {
    let proxy = containers(pod).find(|each| text(each, "/name") == Some("linkerd-proxy"));
    let listens = |variable: &str| {
        let mut variables = list(proxy?, "/env");
        let found = variables.find(|each| text(each, "/name") == Some(variable))?;
        listen_port(text(found, "/value")?)
    };
    Listeners {
        inbound: listens("LINKERD2_PROXY_INBOUND_LISTEN_ADDR"),
        admin: listens("LINKERD2_PROXY_ADMIN_LISTEN_ADDR"),
        control: listens("LINKERD2_PROXY_CONTROL_LISTEN_ADDR"),
    }
}

// === impl NamedPort ===

impl NamedPort {
    fn of_container(object: &Value) -> Option<Self> {
        Some(Self {
            name: text(object, "/name").unwrap_or_default().to_owned(),
            number: port(object, "/containerPort")?,
            host: port(object, "/hostPort"),
        })
    }

    fn of_external(object: &Value) -> Option<Self> {
        Some(Self {
            name: text(object, "/name").unwrap_or_default().to_owned(),
            number: port(object, "/port")?,
            host: None,
        })
    }
}
