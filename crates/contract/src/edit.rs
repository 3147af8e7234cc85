//! What can happen to the objects of a cluster.

use serde::Deserialize;
use serde_json::{Map, Value};

/// One change to a cluster's objects.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Edit {
    /// Creates an object, or replaces it whole.
    Apply(Value),
    /// Merges into an object as an API server does (RFC 7396).
    Patch(Patch),
    /// Deletes an object, or marks it as being deleted.
    Delete(Delete),
    /// The source lists a kind anew, as after a watch that could not go on: the kind's name,
    /// such as `Pod`.
    Relist(String),
}

/// A JSON merge patch of one object.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patch {
    /// The kind of the object, such as `Pod`.
    pub kind: String,
    /// Its namespace; empty for a Node.
    #[serde(default)]
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// What to merge; `null` takes a field away.
    pub merge: Value,
}

/// A deletion.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Delete {
    /// The kind of the object, such as `Pod`.
    pub kind: String,
    /// Its namespace; empty for a Node.
    #[serde(default)]
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// With 0 seconds the object goes at once; with more it gets a deletion timestamp and
    /// stays, as long as nobody finishes it.
    #[serde(default)]
    pub grace: u64,
    /// The watch was away and does not tell of it: the object is missing from the next list.
    #[serde(default)]
    pub unseen: bool,
}

/// Merges `patch` into `object`, as RFC 7396 has it.
pub fn merge(object: &mut Value, patch: &Value) {
    let Value::Object(fields) = patch else {
        object.clone_from(patch);
        return;
    };
    if !object.is_object() {
        *object = Value::Object(Map::new());
    }
    if let Value::Object(known) = object {
        for (key, value) in fields {
            match value {
                Value::Null => drop(known.remove(key)),
                _ => merge(known.entry(key.clone()).or_insert(Value::Null), value),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_patch_merges_replaces_and_removes() {
        for (object, patch, merged) in [
            (
                json!({"a": {"b": 1}}),
                json!({"a": {"c": 2}}),
                json!({"a": {"b": 1, "c": 2}}),
            ),
            (json!({"a": [1, 2]}), json!({"a": [3]}), json!({"a": [3]})),
            (json!({"a": 1, "b": 2}), json!({"a": null}), json!({"b": 2})),
            (
                json!({"a": 1}),
                json!({"a": {"b": {"c": null, "d": 1}}}),
                json!({"a": {"b": {"d": 1}}}),
            ),
        ] {
            let mut object = object;
            merge(&mut object, &patch);
            assert_eq!(object, merged);
        }
    }

    #[test]
    fn a_misspelt_edit_is_refused() {
        let read = |text| crate::yaml::read::<Edit>(text).unwrap_err().to_string();
        let error = read("delete: {kind: Pod, nmae: web}");
        let begin =
            "error: line 1 column 21: unknown field `nmae`, expected one of kind, namespace";
        assert!(error.starts_with(begin), "{error}");
        let error = read("remove: {kind: Pod}");
        let begin =
            "error: line 1 column 1: unknown variant `remove`, expected one of apply, patch";
        assert!(error.starts_with(begin), "{error}");
    }
}
