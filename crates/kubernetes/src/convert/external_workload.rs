//! ExternalWorkload -> owner, identity, addresses, ports.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use lockstep_model::{ExternalWorkloadFact, Fact, FactKey, NamedPort};
use serde_json::Value;
use std::net::IpAddr;

use super::{
    Converted, Skipped, Unusable,
    address::ip,
    field::{Fault, Field},
    metadata::{annotation, labels, single_owner},
    port_list::{OPAQUE_PORTS, port, port_list},
};

pub(super) fn convert(
    key: FactKey,
    metadata: &ObjectMeta,
    object: &Value,
) -> Result<Converted, Unusable> {
    let mut skipped = Vec::new();
    match fact(metadata, object, &mut skipped) {
        Ok(fact) => Ok(Converted {
            key,
            fact: Fact::ExternalWorkload(fact),
            skipped,
        }),
        Err(fault) => Err(Unusable::invalid(key, fault)),
    }
}

fn fact(
    metadata: &ObjectMeta,
    object: &Value,
    skipped: &mut Vec<Skipped>,
) -> Result<ExternalWorkloadFact, Fault> {
    let object = Field::root(object);
    let spec = object.member("spec")?;
    let ips = ips(&spec.member("workloadIPs")?, skipped)?;
    let ports = ports(&spec.member("ports")?, skipped)?;
    // The oldest version of the kind spells it the other way.
    let (current, oldest) = (spec.member("meshTLS")?, spec.member("meshTls")?);
    let mesh = if current.is_given() { current } else { oldest };
    let opaque = annotation(metadata, OPAQUE_PORTS).map(|text| {
        let named = ports.iter().filter(|port| !port.name.is_empty());
        let named = named.map(|port| (&*port.name, port.port)).collect();
        port_list(OPAQUE_PORTS, text, &named, skipped)
    });
    Ok(ExternalWorkloadFact {
        owner: single_owner(metadata),
        labels: labels(metadata),
        ips,
        identity: mesh.member("identity")?.text()?.into(),
        server_name: mesh.member("serverName")?.text()?.into(),
        opaque,
        ports,
    })
}

fn ips(list: &Field<'_>, skipped: &mut Vec<Skipped>) -> Result<Vec<IpAddr>, Fault> {
    let mut ips = Vec::new();
    for each in list.items()? {
        let text = each.member("ip")?.text()?;
        ips.extend(ip("spec.workloadIPs", text, skipped));
    }
    Ok(ips)
}

/// Whatever their protocol: it plays no part where ports are looked up.
fn ports(list: &Field<'_>, skipped: &mut Vec<Skipped>) -> Result<Vec<NamedPort>, Fault> {
    let mut ports = Vec::new();
    for each in list.items()? {
        let number = each.member("port")?.whole()?;
        let Some(port) = port("spec.ports", number, skipped) else {
            continue;
        };
        ports.push(NamedPort {
            name: each.member("name")?.text()?.into(),
            port,
            host_port: None,
        });
    }
    Ok(ports)
}
