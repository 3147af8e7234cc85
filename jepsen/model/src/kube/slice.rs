//! EndpointSlices, joined with the workloads that they name (A7).

use serde_json::Value;
use std::{collections::BTreeMap, net::IpAddr, sync::Arc};

use super::{
    Cluster, Kind, ObjectKey,
    json::{annotation, filled, label, list, port, text},
};
use crate::{
    Behind, Endpoint, External, Family, Mirror, Name, Pod, Readiness, Slice, SlicePort, Text,
};

/// The workloads that were described already.
#[derive(Default)]
pub(super) struct Workloads {
    pods: BTreeMap<Name, Arc<Pod>>,
    externals: BTreeMap<Name, Arc<External>>,
}

impl Cluster {
    /// What a slice says; none if it belongs to no service or has no IP addresses.
    pub(super) fn slice(
        &self,
        name: &Name,
        object: &Value,
        known: &mut Workloads,
    ) -> Option<Slice> {
        let family = match text(object, "/addressType")? {
            "IPv4" => Family::V4,
            "IPv6" => Family::V6,
            _ => return None,
        };
        let (service, labelled) = service_of(object)?;
        let ports = list(object, "/ports").filter_map(|each| {
            let name = text(each, "/name").unwrap_or_default().into();
            port(each, "/port").map(|port| SlicePort { name, port })
        });
        let endpoints = list(object, "/endpoints");
        let endpoints = endpoints.flat_map(|each| self.endpoints(&name.namespace, each, known));
        Some(Slice {
            service: Name::new(&name.namespace, service),
            family,
            ports: ports.collect(),
            endpoints: endpoints.collect(),
            mirror: mirror(object),
            labelled,
        })
    }

    /// The endpoints of one item: one for each address, but of a pod's addresses only the last.
    fn endpoints(&self, namespace: &Text, item: &Value, known: &mut Workloads) -> Vec<Endpoint> {
        let Some(behind) = self.behind(namespace, item, known) else {
            return Vec::new();
        };
        let ips = list(item, "/addresses").filter_map(Value::as_str);
        let mut ips: Vec<IpAddr> = ips.filter_map(|ip| ip.parse().ok()).collect();
        if let Behind::Pod(_) = behind {
            ips = ips.split_off(ips.len().saturating_sub(1));
        }
        let hints = |place: &str| {
            list(item, place)
                .filter_map(|each| filled(each, "/name"))
                .collect()
        };
        let endpoint = |ip| Endpoint {
            ip,
            readiness: readiness(item),
            hostname: filled(item, "/hostname"),
            zone: filled(item, "/zone"),
            hint_zones: hints("/hints/forZones"),
            hint_nodes: hints("/hints/forNodes"),
            behind: behind.clone(),
        };
        ips.into_iter().map(endpoint).collect()
    }

    /// What stands behind an item; none if the item is to be passed over (A7.4, A7.6).
    fn behind(&self, namespace: &Text, item: &Value, known: &mut Workloads) -> Option<Behind> {
        // A reference that names nothing is none: recorded, though no document says so.
        let target = item.get("targetRef");
        let Some(target) = target.filter(|target| text(target, "/kind").is_some()) else {
            return Some(Behind::Nothing);
        };
        let name = text(target, "/name")?;
        match text(target, "/kind")? {
            "Pod" => {
                let name = Name::new(text(target, "/namespace")?, name);
                let pod = self.object(&key(Kind::Pod, &name))?;
                // A pod of the same name with another uid is another pod.
                let uid = text(target, "/uid").filter(|uid| !uid.is_empty());
                if uid.is_some() && uid != text(pod, "/metadata/uid") {
                    return None;
                }
                let pods = &mut known.pods;
                let joined = pods
                    .entry(name.clone())
                    .or_insert_with(|| self.pod(&name, pod).into());
                Some(Behind::Pod(joined.clone()))
            }
            "ExternalWorkload" => {
                let name = Name::new(namespace, name);
                let workload = self.object(&key(Kind::ExternalWorkload, &name))?;
                let joined = known.externals.entry(name.clone());
                let joined = joined.or_insert_with(|| self.external(&name, workload).into());
                Some(Behind::External(joined.clone()))
            }
            _ => None,
        }
    }
}

fn key(kind: Kind, name: &Name) -> ObjectKey {
    ObjectKey::new(kind, &name.namespace, &name.name)
}

/// A7.1: the service of a slice, and whether its label names it.
pub(super) fn service_of(slice: &Value) -> Option<(&str, bool)> {
    let labelled = label(slice, "kubernetes.io/service-name").filter(|name| !name.is_empty());
    let mut owners = list(slice, "/metadata/ownerReferences");
    labelled.map(|name| (name, true)).or_else(|| {
        let owner = owners.find(|owner| text(owner, "/kind") == Some("Service"));
        owner
            .and_then(|owner| text(owner, "/name"))
            .map(|name| (name, false))
    })
}

/// A7.3.
pub(super) fn readiness(item: &Value) -> Readiness {
    let is = |condition: &str| item.pointer(condition).and_then(Value::as_bool);
    let leaving =
        is("/conditions/serving") == Some(true) && is("/conditions/terminating") == Some(true);
    match is("/conditions/ready") {
        Some(true) | None => Readiness::Ready,
        Some(false) if leaving => Readiness::Leaving,
        Some(false) => Readiness::Unready,
    }
}

fn mirror(slice: &Value) -> Mirror {
    let gateway = annotation(slice, "mirror.linkerd.io/remote-gateway-identity");
    Mirror {
        gateway_identity: gateway.filter(|text| !text.is_empty()).map(Into::into),
        remote_service: annotation(slice, "mirror.linkerd.io/remote-svc-fq-name").map(Into::into),
        cluster: label(slice, "mirror.linkerd.io/cluster-name").map(Into::into),
    }
}
