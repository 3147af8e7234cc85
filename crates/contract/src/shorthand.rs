//! Addresses as people write them, in messages that are JSON: `addr: 10.1.0.1:8080` stands
//! for `addr: {ip: {ipv4: 167837697}, port: 8080}`.

use serde_json::{Value, json};
use std::net::{IpAddr, SocketAddr};

use crate::fold::socket_in_json;

/// Puts the whole form in place of each written address: of an `addr`, and of what the
/// `addrs` of a `remove` list.
pub fn expand(value: &mut Value) {
    each_address(value, &|address| {
        let socket: SocketAddr = address.as_str()?.parse().ok()?;
        Some(whole(socket))
    });
}

/// The opposite of [`expand`].
pub fn contract(value: &mut Value) {
    each_address(value, &|address| {
        Some(socket_in_json(address)?.to_string().into())
    });
}

fn each_address(value: &mut Value, change: &impl Fn(&Value) -> Option<Value>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                match (key.as_str(), &mut *value) {
                    ("addr", address) => put(address, change),
                    ("addrs", Value::Array(addresses)) => {
                        addresses.iter_mut().for_each(|it| put(it, change));
                    }
                    _ => {}
                }
                each_address(value, change);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|it| each_address(it, change)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn put(address: &mut Value, change: &impl Fn(&Value) -> Option<Value>) {
    if let Some(changed) = change(address) {
        *address = changed;
    }
}

fn whole(socket: SocketAddr) -> Value {
    let ip = match socket.ip() {
        IpAddr::V4(ip) => json!({ "ipv4": u32::from(ip) }),
        IpAddr::V6(ip) => {
            let bits = u128::from(ip);
            let (first, last) = (bits >> 64, bits & u128::from(u64::MAX));
            let halves = [("first", first), ("last", last)].into_iter();
            let halves = halves.filter(|(_, half)| *half != 0);
            let halves = halves.map(|(name, half)| (name.to_owned(), half.to_string().into()));
            json!({ "ipv6": Value::Object(halves.collect()) })
        }
    };
    match socket.port() {
        0 => json!({ "ip": ip }),
        port => json!({ "ip": ip, "port": port }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_mean_the_same() {
        let short = json!({
            "add": {"addrs": [{"addr": "10.1.0.1:8080", "weight": 1}]},
            "remove": {"addrs": ["[fd00::1]:80", "[::]:0"]},
            "endpoint": {"addr": "192.0.2.1:0"},
        });
        let v6 =
            json!({"ip": {"ipv6": {"first": "18230571291595767808", "last": "1"}}, "port": 80});
        let long = json!({
            "add": {"addrs": [{"addr": {"ip": {"ipv4": 167_837_697}, "port": 8080}, "weight": 1}]},
            "remove": {"addrs": [v6, {"ip": {"ipv6": {}}}]},
            "endpoint": {"addr": {"ip": {"ipv4": 3_221_225_985_u32}}},
        });
        let mut expanded = short.clone();
        expand(&mut expanded);
        assert_eq!(expanded, long);
        contract(&mut expanded);
        assert_eq!(expanded, short);
    }

    #[test]
    fn what_is_no_address_stays() {
        let mut value = json!({"addr": "web", "addrs": ["web:80", 1, {}]});
        expand(&mut value);
        assert_eq!(value, json!({"addr": "web", "addrs": ["web:80", 1, {}]}));
    }
}
