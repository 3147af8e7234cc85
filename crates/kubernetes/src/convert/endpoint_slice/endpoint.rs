//! One endpoint of a slice.

use k8s_openapi::api::{
    core::v1::ObjectReference,
    discovery::v1::{Endpoint, EndpointConditions},
};
use lockstep_model::{
    AddressFamily, EndpointFact, ExternalWorkloadId, PodId, Readiness, TargetRef, Text,
};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::convert::{Skipped, address::address, metadata::given};

/// The endpoint of a slice in `slice_namespace`; `None` if it refers to something that is
/// not known.
pub(super) fn convert(
    endpoint: &Endpoint,
    slice_namespace: &Text,
    family: AddressFamily,
    skipped: &mut Vec<Skipped>,
) -> Option<EndpointFact> {
    let target = target(endpoint.target_ref.as_ref(), slice_namespace, skipped)?;
    let hints = endpoint.hints.as_ref();
    let zones = hints.and_then(|hints| hints.for_zones.as_deref());
    let nodes = hints.and_then(|hints| hints.for_nodes.as_deref());
    Some(EndpointFact {
        addresses: addresses(endpoint, family, skipped),
        readiness: endpoint
            .conditions
            .as_ref()
            .map_or(Readiness::Ready, readiness),
        hostname: given(endpoint.hostname.as_deref()).map(Into::into),
        zone: given(endpoint.zone.as_deref()).map(Into::into),
        hint_zones: sorted(zones.unwrap_or_default().iter().map(|zone| &*zone.name)),
        hint_nodes: sorted(nodes.unwrap_or_default().iter().map(|node| &*node.name)),
        target,
    })
}

/// The last two count only together: what serves without terminating is not ready for a
/// reason.
fn readiness(conditions: &EndpointConditions) -> Readiness {
    let serves = conditions.serving == Some(true);
    let terminates = conditions.terminating == Some(true);
    match conditions.ready {
        Some(true) | None => Readiness::Ready,
        Some(false) if serves && terminates => Readiness::Leaving,
        Some(false) => Readiness::Unready,
    }
}

/// An absent reference and an empty one both mean "no object". A pod without a namespace
/// is no pod, not one beside the slice: the controller that clients know passes it over,
/// and every controller that writes slices names the namespace.
fn target(
    reference: Option<&ObjectReference>,
    slice_namespace: &Text,
    skipped: &mut Vec<Skipped>,
) -> Option<TargetRef> {
    let Some(reference) = reference else {
        return Some(TargetRef::Address);
    };
    let name = given(reference.name.as_deref());
    let namespace = given(reference.namespace.as_deref());
    match (given(reference.kind.as_deref()), name, namespace) {
        (None, _, _) => Some(TargetRef::Address),
        (Some("Pod"), Some(name), Some(namespace)) => Some(TargetRef::Pod {
            pod: PodId::named(namespace, name),
            uid: given(reference.uid.as_deref()).map(Into::into),
        }),
        (Some("Pod"), Some(name), None) => {
            skipped.push(Skipped::TargetNamespace {
                pod: name.to_owned(),
            });
            None
        }
        (Some("ExternalWorkload"), Some(name), _) => {
            Some(TargetRef::External(ExternalWorkloadId {
                namespace: slice_namespace.clone(),
                name: name.into(),
            }))
        }
        (Some(kind), name, _) => {
            skipped.push(Skipped::Target {
                kind: kind.to_owned(),
                name: name.unwrap_or_default().to_owned(),
            });
            None
        }
    }
}

fn addresses(
    endpoint: &Endpoint,
    family: AddressFamily,
    skipped: &mut Vec<Skipped>,
) -> Vec<IpAddr> {
    const FIELD: &str = "endpoints.addresses";
    let texts = endpoint.addresses.iter();
    let parsed = texts.filter_map(|text| match family {
        AddressFamily::V4 => address::<Ipv4Addr>(FIELD, text, "an IPv4 address", skipped),
        AddressFamily::V6 => address::<Ipv6Addr>(FIELD, text, "an IPv6 address", skipped),
    });
    parsed.collect()
}

fn sorted<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Text> {
    let mut names: Vec<Text> = names.map(Into::into).collect();
    names.sort_unstable();
    names
}
