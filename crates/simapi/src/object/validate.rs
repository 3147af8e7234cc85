//! What the real server would refuse in an object, as far as our tests care.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde_json::Value;

use super::metadata;
use crate::kind::{Kind, Origin};
use crate::refusal::{Cause, Refusal};

const LABEL_RULE: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric \
    characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  \
    or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN_RULE: &str = "a lowercase RFC 1123 subdomain must consist of lower case \
    alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character \
    (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const PORT_RULE: &str = "must be between 1 and 65535, inclusive";

/// Most addresses of one endpoint; Source: `discovery/validation`.
const ADDRESSES_MAX: usize = 100;
/// Most endpoints of one slice; Source: `discovery/validation`.
const ENDPOINTS_MAX: usize = 1_000;

/// Refuses a body that could not be decoded as an object of this kind.
pub(crate) fn shape(kind: &Kind, body: &Value) -> Result<(), Refusal> {
    let expected = kind.kind;
    let given = body.get("kind").and_then(Value::as_str).unwrap_or(expected);
    let expected_version = kind.api_version();
    let version = body
        .get("apiVersion")
        .and_then(Value::as_str)
        .unwrap_or(&expected_version);
    let unfit = |why: String| {
        Err(Refusal::bad_request(format!(
            "{given} in version {version:?} cannot be handled as a {expected}{why}"
        )))
    };
    if !body.is_object() {
        return unfit(format!(
            ": json: cannot unmarshal {} into an object",
            name_of_type(body)
        ));
    }
    if version != expected_version {
        return unfit(format!(
            ": no kind {given:?} is registered for version {version:?}"
        ));
    }
    if given != expected {
        return unfit(String::new());
    }
    // The schema of a custom kind judges its spec, after decoding.
    let is_decoded = |field: &str| field != "spec" || kind.origin == Origin::BuiltIn;
    for (field, suffix) in [
        ("metadata", "ObjectMeta"),
        ("spec", "Spec"),
        ("status", "Status"),
    ] {
        match body.get(field) {
            None | Some(Value::Null | Value::Object(_)) => {}
            Some(_) if !is_decoded(field) => {}
            Some(other) => {
                let found = name_of_type(other);
                let owner = if field == "metadata" { "" } else { expected };
                let text = format!(
                    ": json: cannot unmarshal {found} into Go struct field {expected}.{field} of \
                     type {}.{owner}{suffix}",
                    kind.version
                );
                return unfit(text);
            }
        }
    }
    Ok(())
}

/// Refuses an object whose fields break the rules of its kind.
pub(crate) fn content(kind: &Kind, object: &Value) -> Result<(), Refusal> {
    let mut causes = Vec::new();
    let name = metadata::text(object, "name");
    causes.extend(name_cause(kind, name));
    if kind.origin == Origin::Custom {
        causes.extend(spec_cause(object));
    }
    match kind.kind {
        "Service" => service(object, &mut causes),
        "EndpointSlice" => endpoint_slice(object, &mut causes),
        "Pod" if is_empty_list(object.pointer("/spec/containers")) => {
            causes.push(Cause::required("spec.containers", ""));
        }
        _ => {}
    }
    if causes.is_empty() {
        Ok(())
    } else {
        Err(Refusal::invalid(kind, name, &causes))
    }
}

fn name_cause(kind: &Kind, name: &str) -> Option<Cause> {
    if name.is_empty() {
        let detail = "name or generateName is required";
        return Some(Cause::required("metadata.name", detail));
    }
    let is_label = |text: &str| {
        let ok = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let edge = |c: char| c != '-';
        text.chars().all(ok) && text.starts_with(edge) && text.ends_with(edge)
    };
    let value = Value::from(name);
    let invalid = |detail: &str| Some(Cause::invalid("metadata.name", &value, detail));
    match kind.kind {
        "Service" | "Namespace" if name.len() > 63 => invalid("must be no more than 63 bytes"),
        "Service" | "Namespace" if !is_label(name) => invalid(LABEL_RULE),
        _ if name.len() > 253 => invalid("must be no more than 253 bytes"),
        _ if !name.split('.').all(is_label) => invalid(SUBDOMAIN_RULE),
        _ => None,
    }
}

/// All that the definitions of custom kinds have in common.
fn spec_cause(object: &Value) -> Option<Cause> {
    let kind_of_value = match object.get("spec")? {
        Value::Null | Value::Object(_) => return None,
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
    };
    Some(Cause::not_of_type("spec", kind_of_value))
}

fn service(object: &Value, causes: &mut Vec<Cause>) {
    let spec = |field: &str| object.get("spec").and_then(|spec| spec.get(field));
    let is_headless = spec("clusterIP").and_then(Value::as_str) == Some("None");
    let is_external = spec("type").and_then(Value::as_str) == Some("ExternalName");
    let ports = spec("ports")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    if ports.is_empty() && !is_headless && !is_external {
        causes.push(Cause::required("spec.ports", ""));
    }
    for (index, port) in ports.iter().enumerate() {
        let field = format!("spec.ports[{index}]");
        let number = port.get("port").cloned().unwrap_or_else(|| 0.into());
        if !is_port(&number) {
            causes.push(Cause::invalid(&format!("{field}.port"), &number, PORT_RULE));
        }
        let target = port.get("targetPort").filter(|target| target.is_number());
        if let Some(target) = target.filter(|target| !is_port(target)) {
            causes.push(Cause::invalid(
                &format!("{field}.targetPort"),
                target,
                PORT_RULE,
            ));
        }
        let is_nameless = port
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .is_empty();
        if ports.len() > 1 && is_nameless {
            causes.push(Cause::required(&format!("{field}.name"), ""));
        }
    }
    let types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
    if let Some(given) = spec("type").filter(|given| !types.iter().any(|known| *given == known)) {
        causes.push(Cause::not_supported("spec.type", given, &types));
    }
}

fn endpoint_slice(object: &Value, causes: &mut Vec<Cause>) {
    let address_type = object
        .get("addressType")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let types = ["FQDN", "IPv4", "IPv6"];
    if address_type.is_empty() {
        causes.push(Cause::required("addressType", ""));
    } else if !types.contains(&address_type) {
        causes.push(Cause::not_supported(
            "addressType",
            &address_type.into(),
            &types,
        ));
    }
    let endpoints = object.get("endpoints").and_then(Value::as_array);
    let endpoints = endpoints.map(Vec::as_slice).unwrap_or_default();
    if endpoints.len() > ENDPOINTS_MAX {
        let message = format!("must have at most {ENDPOINTS_MAX} items");
        causes.push(Cause::invalid(
            "endpoints",
            &endpoints.len().into(),
            &message,
        ));
    }
    for (index, endpoint) in endpoints.iter().enumerate() {
        let field = format!("endpoints[{index}].addresses");
        let addresses = endpoint.get("addresses").and_then(Value::as_array);
        let addresses = addresses.map(Vec::as_slice).unwrap_or_default();
        if addresses.is_empty() {
            causes.push(Cause::required(&field, "must contain at least 1 address"));
        } else if addresses.len() > ADDRESSES_MAX {
            let message = format!("must have at most {ADDRESSES_MAX} items");
            causes.push(Cause::invalid(&field, &addresses.len().into(), &message));
        }
        for (place, address) in addresses.iter().enumerate() {
            if let Some(rule) = family_fault(address_type, address) {
                causes.push(Cause::invalid(&field, address, rule));
            }
            if let Some(rule) = range_fault(address) {
                causes.push(Cause::invalid(&format!("{field}[{place}]"), address, &rule));
            }
        }
    }
}

fn family_fault(address_type: &str, address: &Value) -> Option<&'static str> {
    let text = address.as_str().unwrap_or_default();
    match address_type {
        "IPv4" if text.parse::<Ipv4Addr>().is_err() => Some("must be an IPv4 address"),
        "IPv6" if text.parse::<Ipv6Addr>().is_err() => Some("must be an IPv6 address"),
        _ => None,
    }
}

/// Addresses that mean something else on every machine.
fn range_fault(address: &Value) -> Option<String> {
    let address: IpAddr = address.as_str()?.parse().ok()?;
    let (is_link_local, is_link_local_multicast) = match address {
        IpAddr::V4(v4) => (v4.is_link_local(), matches!(v4.octets(), [224, 0, 0, _])),
        IpAddr::V6(v6) => {
            let is_multicast = matches!(v6.octets(), [0xff, low, ..] if low & 0x0f == 2);
            (v6.is_unicast_link_local(), is_multicast)
        }
    };
    let range = if address.is_unspecified() {
        return Some(format!("may not be unspecified ({address})"));
    } else if address.is_loopback() {
        "loopback range (127.0.0.0/8, ::1/128)"
    } else if is_link_local {
        "link-local range (169.254.0.0/16, fe80::/10)"
    } else if is_link_local_multicast {
        "link-local multicast range (224.0.0.0/24, ff02::/10)"
    } else {
        return None;
    };
    Some(format!("may not be in the {range}"))
}

fn is_port(number: &Value) -> bool {
    number
        .as_u64()
        .is_some_and(|number| (1..=65_535).contains(&number))
}

fn is_empty_list(value: Option<&Value>) -> bool {
    value.and_then(Value::as_array).is_none_or(Vec::is_empty)
}

pub(crate) fn name_of_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
