//! Messages of the wire in the words of the model.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use linkerd2_proxy_api::destination::{self as wire, protocol_hint, update::Update as Kind};
use linkerd2_proxy_api::net;
use lockstep_jepsen_model::{
    Described, Hint, Identity, KeepAlive, Labels, Message, Protocol, Text,
};

/// The message; nothing if it holds none that this version knows.
pub(crate) fn message(update: &wire::Update) -> Option<Message> {
    Some(match update.update.as_ref()? {
        Kind::Add(set) => Message::Add {
            labels: Arc::new(labels(&set.metric_labels)),
            endpoints: set
                .addrs
                .iter()
                .filter_map(|each| Some((address(each.addr.as_ref()?)?, Arc::new(described(each)))))
                .collect(),
        },
        Kind::Remove(set) => Message::Remove(set.addrs.iter().filter_map(address).collect()),
        Kind::NoEndpoints(none) => Message::NoEndpoints {
            exists: none.exists,
        },
    })
}

fn address(address: &net::TcpAddress) -> Option<SocketAddr> {
    let ip: IpAddr = match address.ip.as_ref()?.ip.as_ref()? {
        net::ip_address::Ip::Ipv4(bits) => IpAddr::V4((*bits).into()),
        net::ip_address::Ip::Ipv6(halves) => {
            let bits = (u128::from(halves.first) << 64) | u128::from(halves.last);
            IpAddr::V6(bits.into())
        }
    };
    Some((ip, u16::try_from(address.port).ok()?).into())
}

fn labels(labels: &std::collections::HashMap<String, String>) -> Labels {
    labels
        .iter()
        .map(|(key, value)| (key.as_str().into(), value.as_str().into()))
        .collect()
}

fn described(each: &wire::WeightedAddr) -> Described {
    Described {
        weight: each.weight,
        labels: labels(&each.metric_labels),
        identity: each.tls_identity.as_ref().and_then(identity),
        hint: each.protocol_hint.as_ref().map(hint),
        authority_override: each
            .authority_override
            .as_ref()
            .map(|it| it.authority_override.as_str().into()),
        http2: each.http2.as_ref().and_then(keep_alive),
    }
}

fn identity(told: &wire::TlsIdentity) -> Option<Identity> {
    let server_name = told.server_name.as_ref();
    let server_name: Text = server_name.map_or("", |it| it.name.as_str()).into();
    Some(match told.strategy.as_ref()? {
        wire::tls_identity::Strategy::DnsLikeIdentity(dns) => Identity::Dns {
            name: dns.name.as_str().into(),
            server_name,
        },
        wire::tls_identity::Strategy::UriLikeIdentity(uri) => Identity::Uri {
            uri: uri.uri.as_str().into(),
            server_name,
        },
    })
}

fn hint(told: &wire::ProtocolHint) -> Hint {
    let inbound = told.opaque_transport.as_ref();
    Hint {
        protocol: told.protocol.as_ref().map(|protocol| match protocol {
            protocol_hint::Protocol::H2(_) => Protocol::H2,
            protocol_hint::Protocol::Opaque(_) => Protocol::Opaque,
        }),
        inbound_port: inbound.and_then(|it| u16::try_from(it.inbound_port).ok()),
    }
}

fn keep_alive(told: &wire::Http2ClientParams) -> Option<KeepAlive> {
    let told = told.keep_alive.as_ref()?;
    let milliseconds = |seconds: i64, nanos: i32| {
        let (seconds, nanos) = (u64::try_from(seconds).ok(), u64::try_from(nanos).ok());
        seconds
            .zip(nanos)
            .map_or(0, |(seconds, nanos)| seconds * 1_000 + nanos / 1_000_000)
    };
    let interval = told.interval.as_ref();
    let timeout = told.timeout.as_ref();
    Some(KeepAlive {
        interval_ms: interval.map_or(0, |it| milliseconds(it.seconds, it.nanos)),
        timeout_ms: timeout.map_or(0, |it| milliseconds(it.seconds, it.nanos)),
        while_idle: told.while_idle,
    })
}
