//! What a row does to the objects.

use lockstep_jepsen_model::{Cluster, Kind, ObjectKey};
use serde_json::{Map, Value};

pub(crate) fn yaml(text: &str) -> Value {
    let options = serde_saphyr::options! { strict_booleans: true };
    serde_saphyr::from_str_with_options(text, options).unwrap()
}

/// Objects as a list, or as a text of documents. Kinds that no answer depends on are refused by
/// the model, and passed over.
pub(crate) fn all(cluster: &mut Cluster, objects: &Value) {
    let options = serde_saphyr::options! { strict_booleans: true };
    let listed: Vec<Value> = match objects {
        Value::String(text) => serde_saphyr::from_multiple_with_options(text, options).unwrap(),
        Value::Array(list) => list.clone(),
        _ => Vec::new(),
    };
    for object in listed {
        drop(cluster.put(object.into()));
    }
}

/// One edit. A deletion that nobody sees waits for the list of its kind.
pub(crate) fn one(cluster: &mut Cluster, unseen: &mut Vec<ObjectKey>, edit: &Value) {
    let (verb, what) = edit.as_object().unwrap().iter().next().unwrap();
    match verb.as_str() {
        "apply" => {
            // Whoever sees the object again knows that it is not gone.
            if let Ok(key) = cluster.put(what.clone().into()) {
                unseen.retain(|gone| *gone != key);
            }
        }
        "patch" => patch(cluster, what),
        "delete" if what.get("grace").is_some() => {}
        "delete" if what["unseen"] == true => unseen.extend(key(what)),
        "delete" => {
            if let Some(key) = key(what) {
                cluster.delete(&key);
            }
        }
        "relist" => {
            let kind: Option<Kind> = serde_json::from_value(what.clone()).ok();
            for gone in unseen.iter().filter(|gone| Some(gone.kind) == kind) {
                cluster.delete(gone);
            }
            unseen.retain(|gone| Some(gone.kind) != kind);
        }
        verb => panic!("{verb}: {what}"),
    }
}

fn patch(cluster: &mut Cluster, what: &Value) {
    let Some(key) = key(what) else { return };
    let mut object = cluster.object(&key).cloned().unwrap();
    merge(&mut object, &what["merge"]);
    cluster.put(object.into()).unwrap();
}

/// A JSON merge patch (RFC 7386).
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(fields) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let target = target.as_object_mut().unwrap();
    for (name, value) in fields {
        if value.is_null() {
            target.remove(name);
        } else {
            merge(target.entry(name).or_insert(Value::Null), value);
        }
    }
}

/// None for a kind that no answer depends on.
fn key(what: &Value) -> Option<ObjectKey> {
    let kind: Kind = serde_json::from_value(what["kind"].clone()).ok()?;
    let namespace = what["namespace"].as_str().unwrap_or_default();
    Some(ObjectKey::new(
        kind,
        namespace,
        what["name"].as_str().unwrap(),
    ))
}
