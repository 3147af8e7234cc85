//! Pod -> owner, identity, addresses, labels, ports.

mod containers;

use k8s_openapi::api::core::v1::{Pod, PodSpec, PodStatus};
use lockstep_model::{Fact, FactKind, PodAddresses, PodFact, PodPhase, PortRules};
use std::net::IpAddr;

use super::{
    Converted, Skipped, Unusable,
    address::ip,
    metadata::{annotation, given, key, label, labels, single_owner},
    port_list::{NamedPorts, OPAQUE_PORTS, SKIP_INBOUND_PORTS, port_list},
};

const CONTROL_PLANE: &str = "linkerd.io/control-plane-ns";
const TEMPLATE_HASH: &str = "pod-template-hash";
const DEFAULT_SERVICE_ACCOUNT: &str = "default";

pub(super) fn convert(pod: &Pod) -> Result<Converted, Unusable> {
    let key = key(FactKind::Pod, &pod.metadata)?;
    let nothing = (PodSpec::default(), PodStatus::default());
    let spec = pod.spec.as_ref().unwrap_or(&nothing.0);
    let status = pod.status.as_ref().unwrap_or(&nothing.1);
    let metadata = &pod.metadata;
    let mut skipped = Vec::new();
    let fact = PodFact {
        uid: metadata.uid.as_deref().unwrap_or_default().into(),
        owner: single_owner(metadata),
        node: given(spec.node_name.as_deref()).map(Into::into),
        service_account: given(spec.service_account_name.as_deref())
            .unwrap_or(DEFAULT_SERVICE_ACCOUNT)
            .into(),
        control_plane: label(metadata, CONTROL_PLANE),
        template_hash: label(metadata, TEMPLATE_HASH),
        rules: rules(pod, spec, &mut skipped),
        addresses: addresses(spec, status, &mut skipped),
        phase: phase(status),
        terminating: metadata.deletion_timestamp.is_some(),
        labels: labels(metadata),
        ports: containers::ports_with_names(spec),
    };
    Ok(Converted {
        key,
        fact: Fact::Pod(fact),
        skipped,
    })
}

fn rules(pod: &Pod, spec: &PodSpec, skipped: &mut Vec<Skipped>) -> PortRules {
    let skip_inbound = annotation(&pod.metadata, SKIP_INBOUND_PORTS)
        .map(|text| port_list(SKIP_INBOUND_PORTS, text, &NamedPorts::new(), skipped));
    let opaque = annotation(&pod.metadata, OPAQUE_PORTS)
        .map(|text| port_list(OPAQUE_PORTS, text, &containers::named_ports(spec), skipped));
    PortRules {
        skip_inbound: skip_inbound.unwrap_or_default(),
        opaque,
        listeners: containers::listeners(spec, skipped),
    }
}

fn addresses(spec: &PodSpec, status: &PodStatus, skipped: &mut Vec<Skipped>) -> PodAddresses {
    let pod_ips: Vec<&str> = status.pod_ips.iter().flatten().map(|ip| &*ip.ip).collect();
    let host_ips: Vec<&str> = status.host_ips.iter().flatten().map(|ip| &*ip.ip).collect();
    PodAddresses {
        ips: ips("status.podIPs", &pod_ips, status.pod_ip.as_deref(), skipped),
        host_ips: ips(
            "status.hostIPs",
            &host_ips,
            status.host_ip.as_deref(),
            skipped,
        ),
        host_ports: containers::host_ports(spec, skipped),
        host_network: spec.host_network.unwrap_or(false),
    }
}

/// The list, or the single address if the list is empty.
fn ips(
    field: &'static str,
    many: &[&str],
    one: Option<&str>,
    skipped: &mut Vec<Skipped>,
) -> Vec<IpAddr> {
    let texts = if many.is_empty() {
        one.as_slice()
    } else {
        many
    };
    let texts = texts.iter().filter(|text| !text.is_empty());
    texts.filter_map(|text| ip(field, text, skipped)).collect()
}

fn phase(status: &PodStatus) -> PodPhase {
    match status.phase.as_deref() {
        Some("Succeeded" | "Failed") => PodPhase::Finished,
        Some("Running") => PodPhase::Running,
        Some(_) | None => PodPhase::Pending,
    }
}
