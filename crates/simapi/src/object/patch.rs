//! The three kinds of patch.
//!
//! A merge patch is RFC 7396. A strategic merge patch also merges some lists
//! by key and knows directives; the lists are those our clients patch. A
//! server-side apply is treated as a merge patch: this server keeps no field
//! owners, so an applied field is only removed when it is set to null.

use serde_json::{Map, Value};

/// A change of an object, not yet applied.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Patch {
    Merge(Value),
    Strategic(Value),
    /// As `Merge`, and creates what is not there.
    Apply(Value),
}

/// Lists that a strategic merge patch merges, and the field they merge by.
const MERGE_KEYS: &[(&str, &str)] = &[
    ("spec.ports", "port"),
    ("spec.containers", "name"),
    ("spec.initContainers", "name"),
    ("spec.volumes", "name"),
    ("spec.template.spec.containers", "name"),
    ("spec.template.spec.initContainers", "name"),
    ("spec.template.spec.volumes", "name"),
    ("status.conditions", "type"),
    ("status.addresses", "type"),
    ("status.podIPs", "ip"),
    ("metadata.ownerReferences", "uid"),
];

// === impl Patch ===

impl Patch {
    /// The object after the patch.
    pub(crate) fn applied_to(&self, object: &Value) -> Value {
        let mut result = object.clone();
        match self {
            Self::Merge(body) | Self::Apply(body) => merge(&mut result, body),
            Self::Strategic(body) => merge_strategic(&mut result, body, ""),
        }
        result
    }
}

/// RFC 7396.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Map::new().into();
    }
    let Some(target) = target.as_object_mut() else {
        return;
    };
    for (field, value) in patch {
        if value.is_null() {
            target.remove(field);
        } else {
            merge(target.entry(field.clone()).or_insert(Value::Null), value);
        }
    }
}

fn merge_strategic(target: &mut Value, patch: &Value, path: &str) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Map::new().into();
    }
    let Some(target) = target.as_object_mut() else {
        return;
    };
    if patch.get("$patch").and_then(Value::as_str) == Some("replace") {
        target.clear();
    }
    for (field, value) in patch {
        if let Some(list) = field.strip_prefix("$deleteFromPrimitiveList/") {
            remove_items(target.get_mut(list), value);
        } else if field.starts_with('$') {
            // The other directives only order or restate what is merged anyway.
        } else if value.is_null() {
            target.remove(field);
        } else {
            let path = if path.is_empty() {
                field.clone()
            } else {
                format!("{path}.{field}")
            };
            let held = target.entry(field.clone()).or_insert(Value::Null);
            merge_field(held, value, &path);
        }
    }
}

fn merge_field(held: &mut Value, value: &Value, path: &str) {
    let key = MERGE_KEYS
        .iter()
        .find(|(list, _)| *list == path)
        .map(|(_, key)| *key);
    match (key, held.as_array_mut(), value.as_array()) {
        (Some(key), Some(list), Some(patches)) => merge_list(list, patches, (path, key)),
        _ => merge_strategic(held, value, path),
    }
}

fn merge_list(list: &mut Vec<Value>, patches: &[Value], (path, key): (&str, &str)) {
    for patch in patches {
        let directive = patch.get("$patch").and_then(Value::as_str);
        if directive == Some("replace") {
            list.clear();
            continue;
        }
        let place = list.iter().position(|item| item.get(key) == patch.get(key));
        match (directive, place) {
            (Some("delete"), _) => list.retain(|item| item.get(key) != patch.get(key)),
            (_, Some(place)) => {
                if let Some(item) = list.get_mut(place) {
                    merge_strategic(item, patch, path);
                }
            }
            (_, None) => list.push(patch.clone()),
        }
    }
}

fn remove_items(list: Option<&mut Value>, unwanted: &Value) {
    let unwanted = unwanted.as_array().map(Vec::as_slice).unwrap_or_default();
    if let Some(list) = list.and_then(Value::as_array_mut) {
        list.retain(|item| !unwanted.contains(item));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_merge_patch_sets_removes_and_replaces_lists() {
        let object = json!({"a": {"b": 1, "c": 2}, "l": [1, 2]});
        let patch = Patch::Merge(json!({"a": {"b": null, "d": 3}, "l": [3], "n": {"x": null}}));
        assert_eq!(
            patch.applied_to(&object),
            json!({"a": {"c": 2, "d": 3}, "l": [3], "n": {}})
        );
    }

    #[test]
    fn a_strategic_patch_merges_ports_by_number() {
        let object = json!({"spec": {"ports": [
            {"port": 80, "name": "http"}, {"port": 81, "name": "old"},
        ]}});
        let patch = Patch::Strategic(json!({"spec": {
            "$setElementOrder/ports": [{"port": 80}, {"port": 82}],
            "ports": [
                {"port": 80, "targetPort": 8080},
                {"port": 82, "name": "new"},
                {"port": 81, "$patch": "delete"},
            ],
        }}));
        let ports = json!([
            {"port": 80, "name": "http", "targetPort": 8080}, {"port": 82, "name": "new"},
        ]);
        assert_eq!(patch.applied_to(&object), json!({"spec": {"ports": ports}}));
    }

    #[test]
    fn a_strategic_patch_replaces_other_lists_and_obeys_directives() {
        let object =
            json!({"endpoints": [1], "metadata": {"finalizers": ["a", "b"]}, "x": {"y": 1}});
        let patch = Patch::Strategic(json!({
            "endpoints": [2],
            "metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]},
            "x": {"$patch": "replace", "z": 2},
        }));
        let expected = json!({"endpoints": [2], "metadata": {"finalizers": ["b"]}, "x": {"z": 2}});
        assert_eq!(patch.applied_to(&object), expected);
    }
}
