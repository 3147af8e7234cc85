//! Messages in protobuf JSON, as the model has them.

use lockstep_jepsen_model::{
    Described, Hint, Identity, KeepAlive, Labels, Message, Protocol, Text,
};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
};

pub(crate) fn message(message: &Value) -> Message {
    let (kind, body) = message.as_object().unwrap().iter().next().unwrap();
    let addresses = body["addrs"].as_array().into_iter().flatten();
    match kind.as_str() {
        "add" => Message::Add {
            labels: labels(body).into(),
            endpoints: addresses
                .map(|each| (address(&each["addr"]), Arc::new(described(each))))
                .collect::<BTreeMap<SocketAddr, _>>(),
        },
        "remove" => Message::Remove(addresses.map(address).collect()),
        "no_endpoints" => Message::NoEndpoints {
            exists: body["exists"].as_bool().unwrap_or_default(),
        },
        kind => panic!("{kind}"),
    }
}

/// `10.1.0.1:8080`, or the fields of the wire: IPv6 in two halves, zero if absent.
fn address(value: &Value) -> SocketAddr {
    if let Some(text) = value.as_str() {
        return text.parse().unwrap();
    }
    let port = u16::try_from(value["port"].as_u64().unwrap()).unwrap();
    if let Some(bits) = value["ip"]["ipv4"].as_u64() {
        return (Ipv4Addr::from_bits(bits.try_into().unwrap()), port).into();
    }
    let half = |name: &str| -> u128 {
        let half = value["ip"]["ipv6"][name].as_str();
        half.map_or(0, |half| half.parse().unwrap())
    };
    let bits = half("first") << 64 | half("last");
    (Ipv6Addr::from_bits(bits), port).into()
}

fn labels(body: &Value) -> Labels {
    let labels = body["metric_labels"].as_object().into_iter().flatten();
    labels
        .map(|(key, value)| (key.as_str().into(), text(value)))
        .collect()
}

fn text(value: &Value) -> Text {
    value.as_str().unwrap_or_default().into()
}

fn described(value: &Value) -> Described {
    Described {
        weight: value["weight"]
            .as_u64()
            .unwrap_or_default()
            .try_into()
            .unwrap(),
        labels: labels(value),
        identity: value.get("tls_identity").map(identity),
        hint: value.get("protocol_hint").map(hint),
        authority_override: value
            .get("authority_override")
            .map(|it| text(&it["authority_override"])),
        http2: value.get("http2").map(|it| keep_alive(&it["keep_alive"])),
    }
}

fn identity(value: &Value) -> Identity {
    let server_name = text(&value["server_name"]["name"]);
    match (
        value.get("dns_like_identity"),
        value.get("uri_like_identity"),
    ) {
        (Some(dns), _) => Identity::Dns {
            name: text(&dns["name"]),
            server_name,
        },
        (None, Some(uri)) => Identity::Uri {
            uri: text(&uri["uri"]),
            server_name,
        },
        (None, None) => panic!("{value}"),
    }
}

fn hint(value: &Value) -> Hint {
    let inbound = value["opaque_transport"]["inbound_port"].as_u64();
    Hint {
        protocol: match (value.get("h2"), value.get("opaque")) {
            (Some(_), _) => Some(Protocol::H2),
            (None, Some(_)) => Some(Protocol::Opaque),
            (None, None) => None,
        },
        inbound_port: inbound.map(|port| port.try_into().unwrap()),
    }
}

fn keep_alive(value: &Value) -> KeepAlive {
    let milliseconds = |field: &str| {
        let seconds = value[field].as_str().unwrap().trim_end_matches('s');
        let seconds: f64 = seconds.parse().unwrap();
        std::time::Duration::from_secs_f64(seconds)
            .as_millis()
            .try_into()
            .unwrap()
    };
    KeepAlive {
        interval_ms: milliseconds("interval"),
        timeout_ms: milliseconds("timeout"),
        while_idle: value["while_idle"].as_bool().unwrap_or_default(),
    }
}
