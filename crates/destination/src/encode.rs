//! Updates and profiles as the proxy API's messages, field by field.

mod condition;
mod service_profile;

use linkerd2_proxy_api::{destination as api, net};
use lockstep_model::{Http2Params, KeepAlive, Text};
use lockstep_resolution::{
    Described, EndpointSet, Hint, HintedProtocol, Identity, LabelKey, Labels, Profile, Update,
};
use std::{
    collections::{BTreeSet, HashMap},
    net::SocketAddr,
};

/// One message of a `Get` stream.
pub(crate) fn update(update: &Update) -> api::Update {
    let update = match update {
        Update::Add(set) => api::update::Update::Add(add(set)),
        Update::Remove(gone) => api::update::Update::Remove(remove(gone)),
        Update::NoEndpoints { exists } => {
            api::update::Update::NoEndpoints(api::NoEndpoints { exists: *exists })
        }
    };
    api::Update {
        update: Some(update),
    }
}

/// One message of a `GetProfile` stream.
pub(crate) fn profile(profile: &Profile) -> api::DestinationProfile {
    match profile {
        Profile::Service(service) => service_profile::message(service),
        Profile::Endpoint(endpoint) => api::DestinationProfile {
            opaque_protocol: endpoint.opaque,
            retry_budget: Some(service_profile::RETRY_BUDGET),
            endpoint: Some(weighted(endpoint.address, &endpoint.described)),
            ..api::DestinationProfile::default()
        },
        Profile::Undeclared => api::DestinationProfile::default(),
    }
}

fn add(set: &EndpointSet) -> api::WeightedAddrSet {
    let endpoints = set.endpoints.iter();
    let addrs = endpoints.map(|(address, described)| weighted(*address, described));
    api::WeightedAddrSet {
        addrs: addrs.collect(),
        metric_labels: labels(&set.labels),
    }
}

fn remove(gone: &BTreeSet<SocketAddr>) -> api::AddrSet {
    let addrs = gone.iter().copied().map(net::TcpAddress::from);
    api::AddrSet {
        addrs: addrs.collect(),
    }
}

fn weighted(address: SocketAddr, described: &Described) -> api::WeightedAddr {
    let instead = described.authority_override.as_ref();
    api::WeightedAddr {
        addr: Some(address.into()),
        weight: described.weight,
        metric_labels: labels(&described.labels),
        tls_identity: described.identity.as_ref().map(tls_identity),
        protocol_hint: described.hint.map(protocol_hint),
        authority_override: instead.map(|authority| api::AuthorityOverride {
            authority_override: authority.to_string(),
        }),
        http2: described.http2.as_ref().map(http2),
        resource_ref: None,
    }
}

fn labels(labels: &Labels) -> HashMap<String, String> {
    let owned = |(key, value): (&LabelKey, &Text)| (key.to_string(), value.to_string());
    labels.iter().map(owned).collect()
}

fn tls_identity(identity: &Identity) -> api::TlsIdentity {
    use api::tls_identity::{DnsLikeIdentity, Strategy, UriLikeIdentity};
    let named = |name: &Text| DnsLikeIdentity {
        name: name.to_string(),
    };
    let (strategy, server_name) = match identity {
        Identity::Workload(name) => (Strategy::DnsLikeIdentity(named(name)), Some(named(name))),
        Identity::Gateway(name) => (Strategy::DnsLikeIdentity(named(name)), None),
        Identity::External { uri, server_name } => {
            let uri = uri.to_string();
            let strategy = Strategy::UriLikeIdentity(UriLikeIdentity { uri });
            (strategy, Some(named(server_name)))
        }
    };
    api::TlsIdentity {
        server_name,
        strategy: Some(strategy),
    }
}

fn protocol_hint(hint: Hint) -> api::ProtocolHint {
    use api::protocol_hint::{H2, Opaque, OpaqueTransport, Protocol};
    let transport = |port| OpaqueTransport {
        inbound_port: u32::from(port),
    };
    api::ProtocolHint {
        opaque_transport: hint.inbound_port.map(transport),
        protocol: hint.protocol.map(|protocol| match protocol {
            HintedProtocol::H2 => Protocol::H2(H2 {}),
            HintedProtocol::Opaque => Protocol::Opaque(Opaque {}),
        }),
    }
}

fn http2(params: &Http2Params) -> api::Http2ClientParams {
    api::Http2ClientParams {
        flow_control: None,
        keep_alive: params.keep_alive.map(keep_alive),
        internals: None,
    }
}

fn keep_alive(keep_alive: KeepAlive) -> api::http2_client_params::KeepAlive {
    api::http2_client_params::KeepAlive {
        interval: Some(duration(keep_alive.interval_ms)),
        timeout: Some(duration(keep_alive.timeout_ms)),
        while_idle: keep_alive.while_idle,
    }
}

fn duration(milliseconds: u64) -> prost_types::Duration {
    let nanos = (milliseconds % 1_000) * 1_000_000;
    prost_types::Duration {
        // A count of milliseconds divided by 1,000 fits; a billion nanoseconds too.
        seconds: i64::try_from(milliseconds / 1_000).unwrap_or(i64::MAX),
        nanos: i32::try_from(nanos).unwrap_or(i32::MAX),
    }
}

#[cfg(test)]
mod tests;
