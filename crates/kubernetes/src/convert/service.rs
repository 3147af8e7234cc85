//! Service -> ports, addresses, policy, other clusters.

use k8s_openapi::{
    api::core::v1::{Service, ServiceSpec},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use lockstep_model::{
    Fact, FactKind, InternalTraffic, PortSet, RemoteDiscovery, ServiceKind, ServicePort,
    ServiceRecord,
};
use serde::Deserialize;
use std::net::IpAddr;

use super::{
    Converted, Skipped, Unusable,
    address::ip,
    metadata::{annotation, key},
    port_list::{OPAQUE_PORTS, port, port_list},
};

/// Label and annotation: the cluster that has the endpoints, or several.
const REMOTE_DISCOVERY: &str = "multicluster.linkerd.io/remote-discovery";
const REMOTE_SERVICE: &str = "multicluster.linkerd.io/remote-service";
const LOCAL_DISCOVERY: &str = "multicluster.linkerd.io/local-discovery";

/// What is read of a Service. Nothing is read of its status, so nothing in it shall hide
/// the Service: an API server takes and gives conditions without a time, which the type
/// demands.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WithoutStatus {
    metadata: Option<ObjectMeta>,
    spec: Option<ServiceSpec>,
}

impl From<WithoutStatus> for Service {
    fn from(WithoutStatus { metadata, spec }: WithoutStatus) -> Self {
        Self {
            metadata: metadata.unwrap_or_default(),
            spec,
            status: None,
        }
    }
}

pub(super) fn convert(service: &Service) -> Result<Converted, Unusable> {
    let key = key(FactKind::Service, &service.metadata)?;
    let nothing = ServiceSpec::default();
    let spec = service.spec.as_ref().unwrap_or(&nothing);
    let mut skipped = Vec::new();
    let ports = ports(spec, &mut skipped);
    let record = ServiceRecord {
        kind: match spec.type_.as_deref() {
            Some("ExternalName") => ServiceKind::ExternalName,
            Some(_) | None => ServiceKind::Endpoints,
        },
        cluster_ips: cluster_ips(spec, &mut skipped),
        internal_traffic: match spec.internal_traffic_policy.as_deref() {
            Some("Local") => InternalTraffic::Local,
            Some(_) | None => InternalTraffic::Cluster,
        },
        opaque_ports: opaque_ports(service, &ports, &mut skipped),
        ports,
        remote: remote(service),
        is_federated: is_federated(service),
    };
    Ok(Converted {
        key,
        fact: Fact::Service(record),
        skipped,
    })
}

fn ports(spec: &ServiceSpec, skipped: &mut Vec<Skipped>) -> Vec<ServicePort> {
    let declared = spec.ports.iter().flatten();
    let ports = declared.filter_map(|declared| {
        Some(ServicePort {
            port: port("spec.ports", declared.port, skipped)?,
            name: declared.name.as_deref().unwrap_or_default().into(),
        })
    });
    ports.collect()
}

/// `clusterIPs`, else `clusterIP`: both are `None` or empty for a headless service.
fn cluster_ips(spec: &ServiceSpec, skipped: &mut Vec<Skipped>) -> Vec<IpAddr> {
    let many = spec.cluster_ips.as_deref().unwrap_or_default();
    let texts = if many.is_empty() {
        spec.cluster_ip.as_slice()
    } else {
        many
    };
    let addresses = texts
        .iter()
        .filter(|text| !matches!(text.as_str(), "" | "None"));
    addresses
        .filter_map(|text| ip("spec.clusterIPs", text, skipped))
        .collect()
}

fn remote(service: &Service) -> Option<RemoteDiscovery> {
    let labels = service.metadata.labels.as_ref()?;
    // An empty label is a label: only its absence leaves the service unnamed.
    Some(RemoteDiscovery {
        cluster: labels.get(REMOTE_DISCOVERY)?.as_str().into(),
        service: labels.get(REMOTE_SERVICE).map(|it| it.as_str().into()),
    })
}

fn is_federated(service: &Service) -> bool {
    let metadata = &service.metadata;
    [REMOTE_DISCOVERY, LOCAL_DISCOVERY]
        .into_iter()
        .any(|name| annotation(metadata, name).is_some())
}

/// A name is the name of a service port, and means its number.
fn opaque_ports(
    service: &Service,
    ports: &[ServicePort],
    skipped: &mut Vec<Skipped>,
) -> Option<PortSet> {
    let text = annotation(&service.metadata, OPAQUE_PORTS)?;
    let named = ports
        .iter()
        .filter(|port| !port.name.is_empty())
        .map(|port| (&*port.name, port.port))
        .collect();
    Some(port_list(OPAQUE_PORTS, text, &named, skipped))
}
