//! Messages of the destination API as JSON, in the form of the corpus: the protobuf JSON
//! mapping with the original field names.
//!
//! Unset fields are absent and `{}` is set and empty; a 64-bit number is text, an IPv4
//! address a number. Addresses are sorted: their order on the wire means nothing.

mod profile;

use linkerd2_proxy_api::{
    destination::{
        AddrSet, Http2ClientParams, NoEndpoints, ProtocolHint, TlsIdentity, Update, WeightedAddr,
        WeightedAddrSet, http2_client_params, protocol_hint, tls_identity, update,
    },
    net::{IpAddress, TcpAddress, ip_address},
};
use serde_json::{Map, Value};
use std::{collections::HashMap, net::SocketAddr};

pub use profile::profile;

/// An object of the fields that are set.
fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    let set = fields
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(set.collect())
}

fn number(value: u32) -> Option<Value> {
    (value != 0).then(|| value.into())
}

/// A 64-bit number is text: a reader of JSON may have no such numbers.
fn long(value: u64) -> Option<Value> {
    (value != 0).then(|| value.to_string().into())
}

fn truth(value: bool) -> Option<Value> {
    value.then_some(Value::Bool(true))
}

fn text(value: &str) -> Option<Value> {
    (!value.is_empty()).then(|| value.into())
}

fn list(values: Vec<Value>) -> Option<Value> {
    (!values.is_empty()).then_some(Value::Array(values))
}

fn labels(labels: &HashMap<String, String>) -> Option<Value> {
    let pairs = labels
        .iter()
        .map(|(key, value)| (key.clone(), value.as_str().into()));
    (!labels.is_empty()).then(|| Value::Object(pairs.collect()))
}

/// Seconds with three, six or nine decimals if there are any, as `10s` and `0.200s`.
fn duration(value: &prost_types::Duration) -> Value {
    let sign = if value.seconds < 0 || value.nanos < 0 {
        "-"
    } else {
        ""
    };
    let (seconds, nanos) = (value.seconds.unsigned_abs(), value.nanos.unsigned_abs());
    let decimals = format!("{nanos:09}");
    let shown = match nanos {
        0 => String::new(),
        _ if nanos % 1_000_000 == 0 => format!(".{}", &decimals[..3]),
        _ if nanos % 1_000 == 0 => format!(".{}", &decimals[..6]),
        _ => format!(".{decimals}"),
    };
    format!("{sign}{seconds}{shown}s").into()
}

/// A message of a `Get` stream.
#[must_use]
pub fn update(update: &Update) -> Value {
    match &update.update {
        Some(update::Update::Add(set)) => object([("add", Some(add(set)))]),
        Some(update::Update::Remove(gone)) => object([("remove", Some(remove(gone)))]),
        Some(update::Update::NoEndpoints(NoEndpoints { exists })) => {
            let none = object([("exists", truth(*exists))]);
            object([("no_endpoints", Some(none))])
        }
        None => object([]),
    }
}

fn add(set: &WeightedAddrSet) -> Value {
    let mut addrs: Vec<&WeightedAddr> = set.addrs.iter().collect();
    addrs.sort_by_key(|endpoint| socket(endpoint.addr.as_ref()));
    object([
        (
            "addrs",
            list(addrs.into_iter().map(weighted_addr).collect()),
        ),
        ("metric_labels", labels(&set.metric_labels)),
    ])
}

fn remove(gone: &AddrSet) -> Value {
    let mut addrs: Vec<&TcpAddress> = gone.addrs.iter().collect();
    addrs.sort_by_key(|address| socket(Some(address)));
    object([("addrs", list(addrs.into_iter().map(address).collect()))])
}

/// The address of a message; `None` if it names none.
pub(crate) fn socket(address: Option<&TcpAddress>) -> Option<SocketAddr> {
    address.and_then(|address| SocketAddr::try_from(*address).ok())
}

/// One endpoint.
#[must_use]
pub fn weighted_addr(endpoint: &WeightedAddr) -> Value {
    let instead = endpoint.authority_override.as_ref();
    let instead = instead.map(|it| object([("authority_override", text(&it.authority_override))]));
    object([
        ("addr", endpoint.addr.as_ref().map(address)),
        ("weight", number(endpoint.weight)),
        ("metric_labels", labels(&endpoint.metric_labels)),
        ("tls_identity", endpoint.tls_identity.as_ref().map(identity)),
        ("protocol_hint", endpoint.protocol_hint.as_ref().map(hint)),
        ("authority_override", instead),
        ("http2", endpoint.http2.as_ref().map(http2)),
        (
            "resource_ref",
            endpoint.resource_ref.as_ref().map(profile::metadata),
        ),
    ])
}

fn address(address: &TcpAddress) -> Value {
    object([
        ("ip", address.ip.as_ref().map(ip)),
        ("port", number(address.port)),
    ])
}

fn ip(address: &IpAddress) -> Value {
    match &address.ip {
        Some(ip_address::Ip::Ipv4(bits)) => object([("ipv4", Some((*bits).into()))]),
        Some(ip_address::Ip::Ipv6(bits)) => {
            let halves = object([("first", long(bits.first)), ("last", long(bits.last))]);
            object([("ipv6", Some(halves))])
        }
        None => object([]),
    }
}

fn identity(identity: &TlsIdentity) -> Value {
    use tls_identity::{DnsLikeIdentity, Strategy};
    let dns = |it: &DnsLikeIdentity| object([("name", text(&it.name))]);
    let (dns_like, uri_like) = match &identity.strategy {
        Some(Strategy::DnsLikeIdentity(it)) => (Some(dns(it)), None),
        Some(Strategy::UriLikeIdentity(it)) => (None, Some(object([("uri", text(&it.uri))]))),
        None => (None, None),
    };
    object([
        ("dns_like_identity", dns_like),
        ("uri_like_identity", uri_like),
        ("server_name", identity.server_name.as_ref().map(dns)),
    ])
}

fn hint(hint: &ProtocolHint) -> Value {
    use protocol_hint::Protocol;
    let empty = || Some(Value::Object(Map::new()));
    let (h2, opaque) = match &hint.protocol {
        Some(Protocol::H2(_)) => (empty(), None),
        Some(Protocol::Opaque(_)) => (None, empty()),
        None => (None, None),
    };
    let transport = hint.opaque_transport.as_ref();
    let transport = transport.map(|it| object([("inbound_port", number(it.inbound_port))]));
    object([
        ("h2", h2),
        ("opaque", opaque),
        ("opaque_transport", transport),
    ])
}

fn http2(params: &Http2ClientParams) -> Value {
    object([
        (
            "flow_control",
            params.flow_control.as_ref().map(flow_control),
        ),
        ("keep_alive", params.keep_alive.as_ref().map(keep_alive)),
        ("internals", params.internals.as_ref().map(internals)),
    ])
}

fn flow_control(it: &http2_client_params::FlowControl) -> Value {
    object([
        (
            "initial_connection_window_size",
            number(it.initial_connection_window_size),
        ),
        (
            "initial_stream_window_size",
            number(it.initial_stream_window_size),
        ),
        ("adaptive_flow_control", truth(it.adaptive_flow_control)),
    ])
}

fn keep_alive(it: &http2_client_params::KeepAlive) -> Value {
    object([
        ("interval", it.interval.as_ref().map(duration)),
        ("timeout", it.timeout.as_ref().map(duration)),
        ("while_idle", truth(it.while_idle)),
    ])
}

fn internals(it: &http2_client_params::Internals) -> Value {
    object([
        (
            "max_concurrent_reset_streams",
            number(it.max_concurrent_reset_streams),
        ),
        ("max_frame_size", number(it.max_frame_size)),
        ("max_send_buf_size", number(it.max_send_buf_size)),
    ])
}

#[cfg(test)]
mod tests;
