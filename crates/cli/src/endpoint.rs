//! One endpoint as a proxy is told about it.

use linkerd2_proxy_api::destination::{
    TlsIdentity, WeightedAddr, WeightedAddrSet, protocol_hint, tls_identity,
};
use linkerd2_proxy_api::net::TcpAddress;
use serde::Serialize;
use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// The endpoints of one answer by their address.
pub(crate) type EndpointSet = BTreeMap<SocketAddr, Endpoint>;

/// An endpoint, equal to another only if a proxy would keep its connections.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Endpoint {
    pub(crate) address: SocketAddr,
    told: WeightedAddr,
    /// Labels that the message gave to all of its endpoints.
    set_labels: BTreeMap<String, String>,
}

/// An endpoint as a JSON object.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct EndpointFields {
    address: String,
    weight: u32,
    zone: Option<String>,
    identity: Option<String>,
    hint: Option<&'static str>,
    inbound_port: Option<u32>,
    authority_override: Option<String>,
    labels: BTreeMap<String, String>,
}

/// The endpoints of an `add`; those without a usable address are skipped, as proxies do.
pub(crate) fn endpoints(set: WeightedAddrSet) -> EndpointSet {
    let set_labels: BTreeMap<_, _> = set.metric_labels.into_iter().collect();
    let known = set
        .addrs
        .into_iter()
        .filter_map(|told| Endpoint::read(told, &set_labels));
    known.map(|endpoint| (endpoint.address, endpoint)).collect()
}

/// The labels that are the same on each of several endpoints, but the zone, which has its column.
/// Of one endpoint, those that the message gave to the whole set.
pub(crate) fn shared_labels(set: &EndpointSet) -> BTreeMap<String, String> {
    let mut endpoints = set.values();
    let Some(first) = endpoints.next() else {
        return BTreeMap::new();
    };
    let mut shared = first.set_labels.clone();
    if set.len() > 1 {
        shared.extend(first.told.metric_labels.clone());
        shared.remove("zone");
    }
    for endpoint in endpoints {
        shared.retain(|key, value| endpoint.label(key) == Some(value));
    }
    shared
}

/// The IP and port, if there is an IP and the port fits.
pub(crate) fn socket_address(address: &TcpAddress) -> Option<SocketAddr> {
    let ip = IpAddr::try_from(address.ip?).ok()?;
    Some(SocketAddr::new(ip, u16::try_from(address.port).ok()?))
}

// === impl Endpoint ===

impl Endpoint {
    /// An endpoint with the labels of its set; `None` without a usable address.
    pub(crate) fn read(told: WeightedAddr, set_labels: &BTreeMap<String, String>) -> Option<Self> {
        let address = socket_address(told.addr.as_ref()?)?;
        Some(Self {
            address,
            told,
            set_labels: set_labels.clone(),
        })
    }

    pub(crate) fn weight(&self) -> u32 {
        self.told.weight
    }

    pub(crate) fn zone(&self) -> Option<&str> {
        let zone = self.told.metric_labels.get("zone")?;
        (!zone.is_empty()).then_some(zone.as_str())
    }

    /// The TLS name or URI to expect.
    pub(crate) fn identity(&self) -> Option<&str> {
        let TlsIdentity { strategy, .. } = self.told.tls_identity.as_ref()?;
        Some(match strategy.as_ref()? {
            tls_identity::Strategy::DnsLikeIdentity(dns) => dns.name.as_str(),
            tls_identity::Strategy::UriLikeIdentity(uri) => uri.uri.as_str(),
        })
    }

    /// An own label wins over one of the set.
    fn label(&self, key: &str) -> Option<&String> {
        let own = self.told.metric_labels.get(key);
        own.or_else(|| self.set_labels.get(key))
    }

    fn protocol(&self) -> Option<&'static str> {
        match self.told.protocol_hint.as_ref()?.protocol.as_ref()? {
            protocol_hint::Protocol::H2(_) => Some("h2"),
            protocol_hint::Protocol::Opaque(_) => Some("opaque"),
        }
    }

    fn inbound_port(&self) -> Option<u32> {
        let transport = self
            .told
            .protocol_hint
            .as_ref()?
            .opaque_transport
            .as_ref()?;
        Some(transport.inbound_port)
    }

    /// Protocol and inbound port in one word or two: `h2`, `opaque via 4143`, or nothing.
    pub(crate) fn hint(&self) -> String {
        let via = self.inbound_port().map(|port| format!("via {port}"));
        let parts = self.protocol().map(str::to_owned).into_iter().chain(via);
        parts.collect::<Vec<_>>().join(" ")
    }

    /// The endpoint's own labels but the zone, which has its column: `deployment=web,pod=web-1`.
    pub(crate) fn own_labels(&self) -> String {
        self.labels_beyond(&BTreeMap::new())
    }

    /// As [`Self::own_labels`], without those that are `shown` elsewhere.
    pub(crate) fn labels_beyond(&self, shown: &BTreeMap<String, String>) -> String {
        let sorted: BTreeMap<_, _> = self.told.metric_labels.iter().collect();
        let own = sorted.into_iter();
        joined(own.filter(|(key, value)| *key != "zone" && shown.get(*key) != Some(*value)))
    }

    pub(crate) fn fields(&self) -> EndpointFields {
        let authority = self.told.authority_override.clone();
        let own = self.told.metric_labels.clone();
        EndpointFields {
            address: self.address.to_string(),
            weight: self.weight(),
            zone: self.zone().map(str::to_owned),
            identity: self.identity().map(str::to_owned),
            hint: self.protocol(),
            inbound_port: self.inbound_port(),
            authority_override: authority.map(|authority| authority.authority_override),
            labels: self.set_labels.clone().into_iter().chain(own).collect(),
        }
    }
}

/// `namespace=shop,service=web`.
pub(crate) fn joined<'a>(labels: impl Iterator<Item = (&'a String, &'a String)>) -> String {
    labels
        .map(|(key, value)| format!("{key}={value}"))
        .collect::<Vec<_>>()
        .join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkerd2_proxy_api::destination::ProtocolHint;
    use linkerd2_proxy_api::destination::protocol_hint::{H2, OpaqueTransport, Protocol};

    fn told(ip: [u8; 4], port: u32) -> WeightedAddr {
        let ip = IpAddr::from(ip).into();
        WeightedAddr {
            addr: Some(TcpAddress { ip: Some(ip), port }),
            ..WeightedAddr::default()
        }
    }

    #[test]
    fn an_endpoint_without_a_usable_address_is_skipped() {
        let no_ip = WeightedAddr {
            addr: Some(TcpAddress::default()),
            ..WeightedAddr::default()
        };
        let addrs = vec![WeightedAddr::default(), no_ip, told([10, 0, 0, 1], 65_536)];
        assert!(
            endpoints(WeightedAddrSet {
                addrs,
                ..WeightedAddrSet::default()
            })
            .is_empty()
        );
    }

    #[test]
    fn hints_read_as_words() {
        let mut endpoint = Endpoint::read(told([10, 0, 0, 1], 80), &BTreeMap::new()).unwrap();
        assert_eq!(endpoint.hint(), "");
        let transport = Some(OpaqueTransport { inbound_port: 4143 });
        for (protocol, opaque_transport, expected) in [
            (Some(Protocol::H2(H2 {})), None, "h2"),
            (None, transport, "via 4143"),
            (Some(Protocol::H2(H2 {})), transport, "h2 via 4143"),
            (None, None, ""),
        ] {
            endpoint.told.protocol_hint = Some(ProtocolHint {
                protocol,
                opaque_transport,
            });
            assert_eq!(endpoint.hint(), expected);
        }
    }

    fn labelled(last: u8, own: &[(&str, &str)]) -> WeightedAddr {
        let own = own
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        WeightedAddr {
            metric_labels: own.collect(),
            ..told([10, 0, 0, last], 80)
        }
    }

    #[test]
    fn labels_that_all_share_are_told_once() {
        let metric_labels = [("service".to_owned(), "web".to_owned())].into();
        let addrs = vec![
            labelled(1, &[("pod", "web-1"), ("deployment", "web"), ("zone", "a")]),
            labelled(2, &[("pod", "web-2"), ("deployment", "web"), ("zone", "a")]),
        ];
        let set = endpoints(WeightedAddrSet {
            addrs,
            metric_labels,
        });
        let shared = shared_labels(&set);
        assert_eq!(joined(shared.iter()), "deployment=web,service=web");
        let own = set.values().map(|endpoint| endpoint.labels_beyond(&shared));
        assert_eq!(own.collect::<Vec<_>>(), ["pod=web-1", "pod=web-2"]);
    }

    #[test]
    fn one_endpoint_keeps_its_labels() {
        let set = endpoints(WeightedAddrSet {
            addrs: vec![labelled(1, &[("pod", "web-1")])],
            metric_labels: [("service".to_owned(), "web".to_owned())].into(),
        });
        let shared = shared_labels(&set);
        assert_eq!(joined(shared.iter()), "service=web");
        let own = set.values().map(|endpoint| endpoint.labels_beyond(&shared));
        assert_eq!(own.collect::<Vec<_>>(), ["pod=web-1"]);
    }

    #[test]
    fn an_own_label_wins_over_one_of_the_set() {
        let mut own = told([10, 0, 0, 1], 80);
        own.metric_labels
            .insert("pod".to_owned(), "web-1".to_owned());
        let of_set = ["pod", "service"]
            .map(|key| (key.to_owned(), "set".to_owned()))
            .into();
        let fields = Endpoint::read(own, &of_set).unwrap().fields();
        let expected = [("pod", "web-1"), ("service", "set")];
        assert_eq!(
            fields.labels,
            expected
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .into()
        );
    }
}
