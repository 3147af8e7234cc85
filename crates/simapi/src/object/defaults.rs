//! What the real server fills in, as far as clients of endpoints see it.
//!
//! Fields of the wrong type are left alone: that is `validate`'s business, and
//! the programmatic handle may store such objects on purpose.

use serde_json::{Map, Value, json};

use super::{cluster_address, metadata};
use crate::kind::{Kind, StatusRule};
use crate::refusal::{Cause, Refusal};
use crate::store::Store;

/// Fills in `object`, which is about to replace `old`.
pub(crate) fn fill(
    store: &mut Store,
    kind: &'static Kind,
    object: &mut Value,
    old: Option<&Value>,
) -> Result<(), Refusal> {
    match kind.kind {
        "Service" => service(store, kind, object, old)?,
        "EndpointSlice" => endpoint_slice(object),
        "Pod" => pod(object),
        "Namespace" => namespace(object),
        _ => {}
    }
    Ok(())
}

/// The status of an object that was just created without one.
pub(crate) fn first_status(kind: &Kind) -> Option<Value> {
    match (kind.kind, kind.status) {
        ("Service", _) => Some(json!({"loadBalancer": {}})),
        ("Pod", _) => Some(json!({"phase": "Pending"})),
        ("Namespace", _) => Some(json!({"phase": "Active"})),
        (_, StatusRule::Plain | StatusRule::Subresource | StatusRule::SubresourceOrCreate) => None,
    }
}

/// Refuses a new Service whose address another one has.
pub(crate) fn address_is_free(
    store: &Store,
    kind: &'static Kind,
    object: &Value,
) -> Result<(), Refusal> {
    let given = object
        .pointer("/spec/clusterIP")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if kind.kind != "Service" || matches!(given, "" | "None") {
        return Ok(());
    }
    if !cluster_address::is_taken(store, kind, given) {
        return Ok(());
    }
    let detail = format!("failed to allocate IP {given}: provided IP is already allocated");
    let cause = Cause::invalid("spec.clusterIPs", &json!([given]), &detail);
    Err(Refusal::invalid(
        kind,
        metadata::text(object, "name"),
        &[cause],
    ))
}

fn service(
    store: &mut Store,
    kind: &'static Kind,
    object: &mut Value,
    old: Option<&Value>,
) -> Result<(), Refusal> {
    let name = metadata::text(object, "name").to_owned();
    let Some(spec) = fields(object, "spec") else {
        return Ok(());
    };
    default(spec, "type", "ClusterIP");
    default(spec, "sessionAffinity", "None");
    for port in items(spec, "ports") {
        default(port, "protocol", "TCP");
        if let Some(number) = port.get("port").cloned() {
            default(port, "targetPort", number);
        }
    }
    let service_type = spec
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    if service_type == "ExternalName" {
        return Ok(());
    }
    default(spec, "internalTrafficPolicy", "Cluster");
    let old_spec = old
        .and_then(|old| old.get("spec"))
        .and_then(Value::as_object);
    cluster_ip(store, kind, spec, (&name, old_spec))?;
    if matches!(service_type.as_str(), "NodePort" | "LoadBalancer") {
        default(spec, "externalTrafficPolicy", "Cluster");
        node_ports(store, spec, old_spec);
    }
    if service_type == "LoadBalancer" {
        default(spec, "allocateLoadBalancerNodePorts", true);
    }
    Ok(())
}

fn cluster_ip(
    store: &mut Store,
    kind: &'static Kind,
    spec: &mut Map<String, Value>,
    (name, old): (&str, Option<&Map<String, Value>>),
) -> Result<(), Refusal> {
    let of = |spec: &Map<String, Value>| {
        spec.get("clusterIP")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned()
    };
    let (given, held) = (of(spec), old.map(of).unwrap_or_default());
    let address = match (given.as_str(), held.as_str()) {
        ("", "") => cluster_address::allocate(store, kind)?,
        ("", held) => held.to_owned(),
        (_, "") => given,
        (given, held) if given != held => {
            let detail = "may not change once set";
            let cause = Cause::invalid("spec.clusterIPs[0]", &json!([given]), detail);
            return Err(Refusal::invalid(kind, name, &[cause]));
        }
        (_, _) => given,
    };
    spec.insert("clusterIP".to_owned(), address.as_str().into());
    let held = old.and_then(|old| old.get("clusterIPs"));
    let held = held.filter(|held| held.get(0).and_then(Value::as_str) == Some(&address));
    default(
        spec,
        "clusterIPs",
        held.cloned().unwrap_or_else(|| json!([address])),
    );
    families(store, kind, spec);
    Ok(())
}

/// Fills in the address families and the second address that they ask for.
fn families(store: &mut Store, kind: &'static Kind, spec: &mut Map<String, Value>) {
    let has_selector = |spec: &Map<String, Value>| {
        let selector = spec.get("selector").and_then(Value::as_object);
        selector.is_some_and(|selector| !selector.is_empty())
    };
    let addresses = spec.get("clusterIPs").and_then(Value::as_array).cloned();
    let addresses = addresses.unwrap_or_default();
    let is_headless = addresses.first().and_then(Value::as_str) == Some("None");
    // Whoever writes its endpoints may write them in both families.
    let is_unbound = is_headless && !has_selector(spec);
    default(
        spec,
        "ipFamilyPolicy",
        if is_unbound {
            "RequireDualStack"
        } else {
            "SingleStack"
        },
    );
    let is_dual = spec.get("ipFamilyPolicy").and_then(Value::as_str) != Some("SingleStack");
    let first = match addresses.first().and_then(Value::as_str) {
        Some(address) if address.contains(':') => "IPv6",
        Some(_) | None => "IPv4",
    };
    let second = if first == "IPv4" { "IPv6" } else { "IPv4" };
    let all = if is_dual {
        json!([first, second])
    } else {
        json!([first])
    };
    default(spec, "ipFamilies", all);
    let wants_second = is_dual && !is_headless && addresses.len() == 1 && first == "IPv4";
    if wants_second {
        let address = cluster_address::allocate_v6(store, kind);
        spec.insert("clusterIPs".to_owned(), json!([addresses.first(), address]));
    }
}

fn node_ports(store: &mut Store, spec: &mut Map<String, Value>, old: Option<&Map<String, Value>>) {
    let old_ports = old
        .and_then(|old| old.get("ports"))
        .and_then(Value::as_array);
    for port in items(spec, "ports") {
        let is_same = |old: &&Value| {
            old.get("port") == port.get("port") && old.get("protocol") == port.get("protocol")
        };
        let held = old_ports
            .and_then(|ports| ports.iter().find(is_same))
            .and_then(|old| old.get("nodePort"));
        let number = match held {
            Some(held) => held.clone(),
            None => cluster_address::node_port(store).into(),
        };
        default(port, "nodePort", number);
    }
}

fn endpoint_slice(object: &mut Value) {
    let Some(slice) = object.as_object_mut() else {
        return;
    };
    // The real server writes both fields always, and an empty list as null.
    for field in ["endpoints", "ports"] {
        let list = slice.entry(field).or_insert(Value::Null);
        if list.as_array().is_some_and(Vec::is_empty) {
            *list = Value::Null;
        }
    }
    for endpoint in items(slice, "endpoints") {
        default(endpoint, "conditions", json!({}));
    }
    for port in items(slice, "ports") {
        default(port, "name", "");
        default(port, "protocol", "TCP");
    }
}

fn pod(object: &mut Value) {
    let Some(spec) = fields(object, "spec") else {
        return;
    };
    default(spec, "restartPolicy", "Always");
    default(spec, "terminationGracePeriodSeconds", 30);
    for container in items(spec, "containers") {
        for port in items(container, "ports") {
            default(port, "protocol", "TCP");
        }
    }
}

fn namespace(object: &mut Value) {
    let name = metadata::text(object, "name").to_owned();
    let Some(metadata) = fields(object, "metadata") else {
        return;
    };
    let labels = metadata.entry("labels").or_insert_with(|| json!({}));
    if let Some(labels) = labels.as_object_mut() {
        default(labels, "kubernetes.io/metadata.name", name);
    }
}

/// The object at `field`, if it is one.
fn fields<'a>(object: &'a mut Value, field: &str) -> Option<&'a mut Map<String, Value>> {
    object.get_mut(field)?.as_object_mut()
}

/// The objects in the list at `field`.
fn items<'a>(
    object: &'a mut Map<String, Value>,
    field: &str,
) -> impl Iterator<Item = &'a mut Map<String, Value>> {
    let list = object.get_mut(field).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}

/// Sets a field that is missing, null or an empty text.
fn default(object: &mut Map<String, Value>, field: &str, value: impl Into<Value>) {
    let held = object.entry(field).or_insert(Value::Null);
    if held.is_null() || held.as_str() == Some("") {
        *held = value.into();
    }
}
