//! Fields of objects that are JSON; what is not there reads as empty.

use serde_json::Value;
use std::net::IpAddr;

pub(super) fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or("")
}

pub(super) fn list<'a>(object: &'a Value, pointer: &str) -> &'a [Value] {
    let list = object.pointer(pointer).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

pub(super) fn label<'a>(object: &'a Value, key: &str) -> &'a str {
    object["metadata"]["labels"][key].as_str().unwrap_or("")
}

pub(super) fn annotation<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object["metadata"]["annotations"][key].as_str()
}

/// A port number that can be: 1 to 65535.
pub(super) fn port(number: &Value) -> Option<u16> {
    let number = number.as_u64().and_then(|it| u16::try_from(it).ok());
    number.filter(|number| *number != 0)
}

/// The owner, if there is exactly one: kind and name.
pub(super) fn owner(object: &Value) -> Option<(&str, &str)> {
    match list(object, "/metadata/ownerReferences") {
        [owner] => Some((text(owner, "/kind"), text(owner, "/name"))),
        _ => None,
    }
}

/// The addresses of a list of `{ip: ...}`, or the single one beside it.
pub(super) fn ips(object: &Value, many: &str, one: &str) -> Vec<IpAddr> {
    let listed: Vec<&str> = list(object, many)
        .iter()
        .map(|it| text(it, "/ip"))
        .collect();
    let texts = match listed.as_slice() {
        [] => vec![text(object, one)],
        _ => listed,
    };
    texts.iter().filter_map(|text| text.parse().ok()).collect()
}
