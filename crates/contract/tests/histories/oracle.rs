//! What is right, worked out from the current objects alone, as the rules say it: slowly,
//! without memory, and without any code of the product.
//!
//! Where two pods or workloads claim one address, more than one answer is right.

mod endpoints;
mod ports;
mod profile;
mod reading;
mod workloads;

use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
};

pub(crate) use endpoints::Place;
use reading::{label, text};

/// What the installation fixes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    pub(crate) transport_header: bool,
    pub(crate) h2_upgrade: bool,
    pub(crate) ipv6: bool,
    pub(crate) http2: bool,
    pub(crate) zone_weights: bool,
    pub(crate) node_hints: bool,
    pub(crate) serve_terminating: bool,
}

/// What may be said of each address that a client must know. Whole endpoints, the labels of
/// the set among their own.
pub(crate) type Right = BTreeMap<SocketAddr, Vec<Value>>;

/// What a client asks about, in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// An address.
    Ip(std::net::IpAddr),
    /// A service, or who has a hostname in it.
    Service {
        namespace: String,
        name: String,
        hostname: Option<String>,
    },
}

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) host: Host,
    pub(crate) port: u16,
}

impl Asked {
    /// Reads `[hostname.]web.ns.svc.cluster.local:80` or `10.0.0.1:80`; all that is asked
    /// in a history is well-formed.
    pub(crate) fn of(path: &str) -> Self {
        if let Ok(address) = path.parse::<SocketAddr>() {
            let host = Host::Ip(address.ip());
            let port = address.port();
            return Self { host, port };
        }
        let (host, port) = path.rsplit_once(':').expect("a port");
        let names = host.strip_suffix(".svc.cluster.local").expect("a service");
        let mut names = names.rsplit('.').map(str::to_owned);
        Self {
            host: Host::Service {
                namespace: names.next().expect("a namespace"),
                name: names.next().expect("a name"),
                hostname: names.next(),
            },
            port: port.parse().expect("a number"),
        }
    }
}

/// The current objects, by kind, each kind by namespace and name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Oracle {
    rules: Rules,
    by_kind: BTreeMap<String, Vec<Value>>,
}

impl Oracle {
    pub(crate) fn new<'a>(rules: &Rules, objects: impl Iterator<Item = &'a Value>) -> Self {
        let mut by_kind: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for object in objects {
            let kind = text(object, "/kind").to_owned();
            by_kind.entry(kind).or_default().push(object.clone());
        }
        for objects in by_kind.values_mut() {
            objects.sort_by_key(|it| (namespace(it).to_owned(), name(it).to_owned()));
        }
        Self {
            rules: rules.clone(),
            by_kind,
        }
    }

    fn all(&self, kind: &str) -> &[Value] {
        self.by_kind.get(kind).map_or(&[], Vec::as_slice)
    }

    fn find(&self, kind: &str, in_namespace: &str, named: &str) -> Option<&Value> {
        let mut all = self.all(kind).iter();
        all.find(|it| namespace(it) == in_namespace && name(it) == named)
    }

    /// Where a client with this token is; garbage says nothing.
    pub(crate) fn place(&self, token: &str) -> Place {
        let token: Value = serde_json::from_str(token).unwrap_or_default();
        let node = text(&token, "/nodeName").to_owned();
        let zone = self.find("Node", "", &node);
        let zone = zone.map_or("", |node| label(node, "topology.kubernetes.io/zone"));
        Place {
            zone: zone.to_owned(),
            node,
        }
    }

    /// Whether a `Get` may begin.
    pub(crate) fn refuses(&self, asked: &Asked) -> Option<&'static str> {
        let Host::Service {
            namespace, name, ..
        } = &asked.host
        else {
            return Some("INVALID_ARGUMENT");
        };
        let Some(service) = self.find("Service", namespace, name) else {
            return Some("NOT_FOUND");
        };
        let discovery = "multicluster.linkerd.io/remote-discovery";
        if reading::annotation(service, discovery).is_some() {
            return Some("UNAVAILABLE");
        }
        if !label(service, discovery).is_empty() {
            let remote = label(service, "multicluster.linkerd.io/remote-service");
            return Some(match remote {
                "" => "FAILED_PRECONDITION",
                _ => "NOT_FOUND",
            });
        }
        (text(service, "/spec/type") == "ExternalName").then_some("INVALID_ARGUMENT")
    }
}

fn name(object: &Value) -> &str {
    text(object, "/metadata/name")
}

fn namespace(object: &Value) -> &str {
    text(object, "/metadata/namespace")
}

/// What is said of an address of which nothing is known, without the address.
fn bare() -> Value {
    json!({"weight": 10_000})
}

/// The addresses that any of the answers has.
pub(crate) fn any(answers: &[Right]) -> BTreeSet<SocketAddr> {
    answers.iter().flat_map(BTreeMap::keys).copied().collect()
}

/// The addresses that all of the answers have.
pub(crate) fn every(answers: &[Right]) -> BTreeSet<SocketAddr> {
    let mut every = any(answers);
    every.retain(|address| answers.iter().all(|answer| answer.contains_key(address)));
    every
}
