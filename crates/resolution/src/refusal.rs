//! Why a request gets a status instead of a stream.
//!
//! The texts are part of the contract and therefore not in the style of other
//! errors: Linkerd's CLI prints them, and its tests compare the first one.

use lockstep_model::{ServiceId, Text};
use std::net::{IpAddr, SocketAddr};

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The path is neither an address nor a service name with a port.
    #[error("Invalid authority: {path}")]
    InvalidAuthority {
        /// The path as given.
        path: Text,
    },
    /// A `Get` of an IP: only a profile answers by address.
    #[error("IP queries not supported by Get API: host={host}")]
    IpNotSupported {
        /// The address asked for.
        host: IpAddr,
    },
    /// The service is an alias of a DNS name and has no endpoints.
    #[error("Invalid authority: {path}")]
    ExternalName {
        /// The path as given.
        path: Text,
    },
    /// No such service.
    #[error("Service {}.{} not found", service.name, service.namespace)]
    ServiceNotFound {
        /// The service asked for.
        service: ServiceId,
    },
    /// No endpoint of the service has this hostname and a pod with an address.
    #[error("no pod found in EndpointSlices of Service {service} for hostname {hostname}")]
    HostnameNotFound {
        /// The service asked for.
        service: ServiceId,
        /// The hostname asked for.
        hostname: Text,
    },
    /// The service stands for services of several clusters at once.
    #[error(
        "Service {}.{} is federated: federated services are not served yet",
        service.name, service.namespace
    )]
    Federated {
        /// The service asked for.
        service: ServiceId,
    },
    /// The service is that of another cluster, and does not say which one there.
    #[error("Remote discovery service missing remote service name {path}")]
    RemoteServiceUnnamed {
        /// The path as given.
        path: Text,
    },
    /// The service is that of another cluster, which this one does not know.
    #[error("Remote cluster not found: {cluster}")]
    ClusterNotFound {
        /// The cluster, perhaps empty.
        cluster: Text,
    },
    /// Several services, pods or external workloads claim an address.
    #[error("found {count} {address}")]
    AmbiguousAddress {
        /// How many claim it; at least 2.
        count: usize,
        /// What they claim.
        address: SharedAddress,
    },
    /// This replica has never had a complete state: what it does not know may exist.
    #[error("this replica has not synced with the cluster yet")]
    NotSynced,
}

/// An address with several owners.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SharedAddress {
    /// A cluster IP.
    #[error("services with a conflicting cluster IP {0}")]
    Cluster(IpAddr),
    /// An address of pods.
    #[error("pods with a conflicting pod network IP {0}")]
    Pod(IpAddr),
    /// A port of a host.
    #[error("pods with a conflicting host network endpoint {0}")]
    HostPort(SocketAddr),
    /// A port of external workloads.
    #[error("externalworkloads with a conflicting ip {0}")]
    External(SocketAddr),
}

/// What a refusal means to the client.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Meaning {
    /// The request can never be answered. The proxy gives up for good.
    InvalidArgument,
    /// Nothing has this name now. The proxy asks again.
    NotFound,
    /// The cluster contradicts itself. The proxy gives up for good.
    FailedPrecondition,
    /// Another replica may know, or this one later. The proxy asks again.
    Unavailable,
}

impl Refusal {
    /// What it means to the client: a proxy gives up for good on two of the
    /// meanings, so no state that passes by itself has them.
    #[must_use]
    pub const fn meaning(&self) -> Meaning {
        match self {
            Self::InvalidAuthority { .. }
            | Self::IpNotSupported { .. }
            | Self::ExternalName { .. } => Meaning::InvalidArgument,
            Self::ServiceNotFound { .. }
            | Self::HostnameNotFound { .. }
            | Self::ClusterNotFound { .. } => Meaning::NotFound,
            Self::AmbiguousAddress { .. } | Self::RemoteServiceUnnamed { .. } => {
                Meaning::FailedPrecondition
            }
            Self::NotSynced | Self::Federated { .. } => Meaning::Unavailable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_meanings_are_the_contract() {
        let service = ServiceId::named("shop", "web");
        let path: Text = "foo".into();
        let ip: IpAddr = "10.1.97.1".parse().unwrap();
        for (refusal, meaning, text) in [
            (
                Refusal::InvalidAuthority { path: path.clone() },
                Meaning::InvalidArgument,
                "Invalid authority: foo",
            ),
            (
                Refusal::ExternalName { path },
                Meaning::InvalidArgument,
                "Invalid authority: foo",
            ),
            (
                Refusal::IpNotSupported { host: ip },
                Meaning::InvalidArgument,
                "IP queries not supported by Get API: host=10.1.97.1",
            ),
            (
                Refusal::ServiceNotFound {
                    service: service.clone(),
                },
                Meaning::NotFound,
                "Service web.shop not found",
            ),
            (
                Refusal::HostnameNotFound {
                    service,
                    hostname: "web-9".into(),
                },
                Meaning::NotFound,
                "no pod found in EndpointSlices of Service shop/web for hostname web-9",
            ),
            (
                Refusal::NotSynced,
                Meaning::Unavailable,
                "this replica has not synced with the cluster yet",
            ),
        ] {
            assert_eq!((refusal.meaning(), &*refusal.to_string()), (meaning, text));
        }
    }

    #[test]
    fn endpoints_in_other_clusters_are_refused_by_their_reason() {
        for (refusal, meaning, text) in [
            (
                Refusal::RemoteServiceUnnamed {
                    path: "web.shop.svc.cluster.local:80".into(),
                },
                Meaning::FailedPrecondition,
                "Remote discovery service missing remote service name \
                 web.shop.svc.cluster.local:80",
            ),
            (
                Refusal::ClusterNotFound {
                    cluster: "east".into(),
                },
                Meaning::NotFound,
                "Remote cluster not found: east",
            ),
            (
                Refusal::Federated {
                    service: ServiceId::named("shop", "web"),
                },
                Meaning::Unavailable,
                "Service web.shop is federated: federated services are not served yet",
            ),
        ] {
            assert_eq!((refusal.meaning(), &*refusal.to_string()), (meaning, text));
        }
    }

    #[test]
    fn an_address_with_several_owners_is_named() {
        let ip: IpAddr = "10.1.97.1".parse().unwrap();
        let port = SocketAddr::new(ip, 80);
        for (address, text) in [
            (
                SharedAddress::Cluster(ip),
                "services with a conflicting cluster IP 10.1.97.1",
            ),
            (
                SharedAddress::Pod(ip),
                "pods with a conflicting pod network IP 10.1.97.1",
            ),
            (
                SharedAddress::HostPort(port),
                "pods with a conflicting host network endpoint 10.1.97.1:80",
            ),
            (
                SharedAddress::External(port),
                "externalworkloads with a conflicting ip 10.1.97.1:80",
            ),
        ] {
            let refusal = Refusal::AmbiguousAddress { count: 2, address };
            assert_eq!(refusal.meaning(), Meaning::FailedPrecondition);
            assert_eq!(refusal.to_string(), format!("found 2 {text}"));
        }
    }
}
