//! EndpointSlice -> service, ports, endpoints.

mod endpoint;

use k8s_openapi::api::discovery::v1::EndpointSlice;
use lockstep_model::{
    AddressFamily, Fact, FactKey, FactKind, Mirror, ServiceId, SliceFact, SlicePort,
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

pub(super) fn convert(slice: &EndpointSlice) -> Result<Converted, Unusable> {
    let key = key(FactKind::EndpointSlice, &slice.metadata)?;
    let family = family(slice, &key)?;
    let service = service(slice, &key)?;
    let mut skipped = Vec::new();
    let ports = ports(slice, &mut skipped);
    let endpoints = slice.endpoints.iter().flatten();
    let endpoints = endpoints
        .filter_map(|each| endpoint::convert(each, family, &mut skipped))
        .collect();
    let fact = SliceFact {
        service,
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
fn service(slice: &EndpointSlice, key: &FactKey) -> Result<ServiceId, Unusable> {
    let owners = slice.metadata.owner_references.iter().flatten();
    let owner = || {
        let mut services = owners.filter(|owner| owner.kind == "Service");
        given(services.next().map(|owner| owner.name.as_str())).map(Into::into)
    };
    let name = label(&slice.metadata, SERVICE_NAME).or_else(owner);
    let name = name.ok_or_else(|| Unusable::NoService { key: key.clone() })?;
    Ok(ServiceId {
        namespace: key.namespace.clone(),
        name,
    })
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
