//! Reads fields of JSON objects: what is missing or of another type is none.

use serde_json::Value;
use std::net::SocketAddr;

use crate::Text;

/// The text at a place such as `/spec/nodeName`.
pub(super) fn text<'a>(object: &'a Value, place: &str) -> Option<&'a str> {
    object.pointer(place).and_then(Value::as_str)
}

/// The text at a place, if there is one and it is not empty.
pub(super) fn filled(object: &Value, place: &str) -> Option<Text> {
    text(object, place)
        .filter(|text| !text.is_empty())
        .map(Into::into)
}

/// The items of the list at a place.
pub(super) fn list<'a>(object: &'a Value, place: &str) -> impl Iterator<Item = &'a Value> {
    let items = object.pointer(place).and_then(Value::as_array);
    items.into_iter().flatten()
}

/// A port at a place.
pub(super) fn port(object: &Value, place: &str) -> Option<u16> {
    let number = object.pointer(place).and_then(Value::as_u64);
    number.and_then(|number| number.try_into().ok())
}

/// A label of the object.
pub(super) fn label<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    entry(object, "/metadata/labels", key)
}

/// An annotation of the object.
pub(super) fn annotation<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    entry(object, "/metadata/annotations", key)
}

fn entry<'a>(object: &'a Value, place: &str, key: &str) -> Option<&'a str> {
    object
        .pointer(place)
        .and_then(|map| map.get(key))
        .and_then(Value::as_str)
}

/// The port of a literal `ip:port`.
pub(super) fn listen_port(text: &str) -> Option<u16> {
    text.parse::<SocketAddr>()
        .ok()
        .map(|address| address.port())
}
