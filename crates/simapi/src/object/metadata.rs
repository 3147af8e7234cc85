//! Reading and writing `metadata` of an untyped object.

use serde_json::{Map, Value};

/// The `metadata` object, if it is one.
pub(crate) fn of(object: &Value) -> Option<&Map<String, Value>> {
    object.get("metadata")?.as_object()
}

/// A text field of `metadata`; empty when absent or no text.
pub(crate) fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    of(object)
        .and_then(|metadata| metadata.get(field)?.as_str())
        .unwrap_or_default()
}

/// Sets one field of `metadata`, which is made when missing.
pub(crate) fn set(object: &mut Value, field: &str, value: Value) {
    if let Some(metadata) = entry(object) {
        metadata.insert(field.to_owned(), value);
    }
}

/// Sets one field to what it is in `source`, absence included.
pub(crate) fn copy(object: &mut Value, source: &Value, field: &str) {
    let value = of(source).and_then(|metadata| metadata.get(field)).cloned();
    match value {
        Some(value) => set(object, field, value),
        None => remove(object, field),
    }
}

/// Removes one field of `metadata`.
pub(crate) fn remove(object: &mut Value, field: &str) {
    if let Some(metadata) = entry(object) {
        metadata.remove(field);
    }
}

/// Adds one to `metadata.generation`; an absent one counts as 0.
pub(crate) fn bump_generation(object: &mut Value) {
    let held = of(object)
        .and_then(|metadata| metadata.get("generation")?.as_u64())
        .unwrap_or(0);
    set(object, "generation", held.saturating_add(1).into());
}

/// Whether `metadata.finalizers` holds any.
pub(crate) fn has_finalizers(object: &Value) -> bool {
    of(object)
        .and_then(|metadata| metadata.get("finalizers")?.as_array())
        .is_some_and(|finalizers| !finalizers.is_empty())
}

fn entry(object: &mut Value) -> Option<&mut Map<String, Value>> {
    let metadata = object
        .as_object_mut()?
        .entry("metadata")
        .or_insert_with(|| Map::new().into());
    if metadata.is_null() {
        *metadata = Map::new().into();
    }
    metadata.as_object_mut()
}
