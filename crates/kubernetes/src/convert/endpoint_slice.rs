//! EndpointSlice -> service, ports, endpoints.

mod endpoint;

use k8s_openapi::api::discovery::v1::EndpointSlice;
use lockstep_model::{
    AddressFamily, EndpointFact, Fact, FactKey, FactKind, Mirror, NamedBy, SLICE_ENDPOINTS_MAX,
    ServiceId, SliceFact, SlicePort, Text,
};

use super::{
    Converted, Skipped, Unusable,
    metadata::{annotation, given, key, label},
    port_list::port,
};

const SERVICE_NAME: &str = "kubernetes.io/service-name";
const GATEWAY_IDENTITY: &str = "mirror.linkerd.io/remote-gateway-identity";
const REMOTE_SERVICE: &str = "mirror.linkerd.io/remote-svc-fq-name";
const CLUSTER_NAME: &str = "mirror.linkerd.io/cluster-name";

/// The most addresses of one slice: twenty for each of its endpoints.
const ADDRESSES_MAX: usize = 20 * SLICE_ENDPOINTS_MAX;

pub(super) fn convert(slice: &EndpointSlice) -> Result<Converted, Unusable> {
    let key = key(FactKind::EndpointSlice, &slice.metadata)?;
    let family = family(slice, &key)?;
    let (name, named_by) = service(slice, &key)?;
    let mut skipped = Vec::new();
    let ports = ports(slice, &mut skipped);
    let endpoints = slice.endpoints.iter().flatten();
    let endpoints = endpoints
        .filter_map(|each| endpoint::convert(each, &key.namespace, family, &mut skipped))
        .collect();
    let endpoints = bounded(endpoints, &mut skipped);
    let fact = SliceFact {
        service: ServiceId {
            namespace: key.namespace.clone(),
            name,
        },
        named_by,
        created_s: created_s(slice),
        family,
        ports,
        endpoints,
        mirror: mirror(slice),
    };
    Ok(Converted {
        key,
        fact: Fact::Slice(fact),
        skipped,
    })
}

/// Short texts of long addresses could make a fact that fits into no entry of the log.
fn bounded(mut endpoints: Vec<EndpointFact>, skipped: &mut Vec<Skipped>) -> Vec<EndpointFact> {
    let (mut room, mut left_out) = (ADDRESSES_MAX, 0);
    for endpoint in &mut endpoints {
        left_out += endpoint.addresses.len().saturating_sub(room);
        endpoint.addresses.truncate(room);
        room -= endpoint.addresses.len();
    }
    if left_out > 0 {
        skipped.push(Skipped::Addresses {
            left_out,
            allowed: ADDRESSES_MAX,
        });
    }
    endpoints
}

fn family(slice: &EndpointSlice, key: &FactKey) -> Result<AddressFamily, Unusable> {
    match slice.address_type.as_str() {
        "IPv4" => Ok(AddressFamily::V4),
        "IPv6" => Ok(AddressFamily::V6),
        other => Err(Unusable::AddressType {
            key: key.clone(),
            found: other.to_owned(),
        }),
    }
}

/// By label, else by the first owner of kind Service.
fn service(slice: &EndpointSlice, key: &FactKey) -> Result<(Text, NamedBy), Unusable> {
    if let Some(name) = label(&slice.metadata, SERVICE_NAME) {
        return Ok((name, NamedBy::Label));
    }
    let owners = slice.metadata.owner_references.iter().flatten();
    let mut services = owners.filter(|owner| owner.kind == "Service");
    let name = given(services.next().map(|owner| owner.name.as_str()));
    let name = name.ok_or_else(|| Unusable::NoService { key: key.clone() })?;
    Ok((name.into(), NamedBy::Owner))
}

fn created_s(slice: &EndpointSlice) -> i64 {
    let created = slice.metadata.creation_timestamp.as_ref();
    created.map_or(0, |created| created.0.as_second())
}

/// A port without a number means "all ports" and matches nothing.
fn ports(slice: &EndpointSlice, skipped: &mut Vec<Skipped>) -> Vec<SlicePort> {
    let declared = slice.ports.iter().flatten();
    let ports = declared.filter_map(|declared| {
        Some(SlicePort {
            name: declared.name.as_deref().unwrap_or_default().into(),
            port: port("ports", declared.port?, skipped)?,
        })
    });
    ports.collect()
}

fn mirror(slice: &EndpointSlice) -> Mirror {
    let metadata = &slice.metadata;
    Mirror {
        gateway_identity: given(annotation(metadata, GATEWAY_IDENTITY)).map(Into::into),
        remote_service: annotation(metadata, REMOTE_SERVICE).map(Into::into),
        cluster: label(metadata, CLUSTER_NAME),
    }
}
