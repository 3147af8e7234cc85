//! One endpoint of a slice.

use k8s_openapi::api::{core::v1::ObjectReference, discovery::v1::Endpoint};
use lockstep_model::{AddressFamily, EndpointFact, PodId, TargetRef, Text};
use std::net::IpAddr;

use crate::convert::{Skipped, metadata::given};

/// The endpoint; `None` if it refers to something that no pod can be.
pub(super) fn convert(
    endpoint: &Endpoint,
    family: AddressFamily,
    skipped: &mut Vec<Skipped>,
) -> Option<EndpointFact> {
    let target = target(endpoint.target_ref.as_ref(), skipped)?;
    let conditions = endpoint.conditions.as_ref();
    Some(EndpointFact {
        addresses: addresses(endpoint, family, skipped),
        ready: conditions.and_then(|all| all.ready).unwrap_or(true),
        hostname: given(endpoint.hostname.as_deref()).map(Into::into),
        zone: given(endpoint.zone.as_deref()).map(Into::into),
        hint_zones: hint_zones(endpoint),
        target,
    })
}

/// An absent reference and an empty one both mean "no object". A pod without a namespace
/// is no pod, not one beside the slice: the controller that clients know passes it over,
/// and every controller that writes slices names the namespace.
fn target(reference: Option<&ObjectReference>, skipped: &mut Vec<Skipped>) -> Option<TargetRef> {
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
    let parsed = endpoint.addresses.iter().filter_map(|text| {
        let address = address(text, family);
        if address.is_none() {
            skipped.push(Skipped::Address {
                field: "endpoints.addresses",
                text: text.clone(),
                expected: match family {
                    AddressFamily::V4 => "an IPv4 address",
                    AddressFamily::V6 => "an IPv6 address",
                },
            });
        }
        address
    });
    parsed.collect()
}

fn address(text: &str, family: AddressFamily) -> Option<IpAddr> {
    match family {
        AddressFamily::V4 => text.parse().ok().map(IpAddr::V4),
        AddressFamily::V6 => text.parse().ok().map(IpAddr::V6),
    }
}

fn hint_zones(endpoint: &Endpoint) -> Vec<Text> {
    let hints = endpoint.hints.as_ref();
    let zones = hints
        .and_then(|hints| hints.for_zones.as_deref())
        .unwrap_or_default();
    let mut names: Vec<Text> = zones.iter().map(|zone| zone.name.as_str().into()).collect();
    names.sort_unstable();
    names
}
