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
    /// Several services or pods claim an address.
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
            Self::ServiceNotFound { .. } | Self::HostnameNotFound { .. } => Meaning::NotFound,
            Self::AmbiguousAddress { .. } => Meaning::FailedPrecondition,
            Self::NotSynced => Meaning::Unavailable,
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
        let ambiguous = |address| Refusal::AmbiguousAddress { count: 2, address };
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
                ambiguous(SharedAddress::Cluster(ip)),
                Meaning::FailedPrecondition,
                "found 2 services with a conflicting cluster IP 10.1.97.1",
            ),
            (
                ambiguous(SharedAddress::Pod(ip)),
                Meaning::FailedPrecondition,
                "found 2 pods with a conflicting pod network IP 10.1.97.1",
            ),
            (
                ambiguous(SharedAddress::HostPort(SocketAddr::new(ip, 80))),
                Meaning::FailedPrecondition,
                "found 2 pods with a conflicting host network endpoint 10.1.97.1:80",
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
}
