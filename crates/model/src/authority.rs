//! What a client asks about: `web.shop.svc.cluster.local:80`.
//!
//! Source: spec of Linkerd's destination API, authority parsing.

use std::net::IpAddr;

use crate::{ServiceId, Text};

/// A parsed authority: a host and a port.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Authority {
    /// What is asked about.
    pub host: Host,
    /// The port; 80 when the text has none. Range: 1 to 65535.
    pub port: u16,
}

/// The host part of an authority.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// An IP literal.
    Ip(IpAddr),
    /// A service, or one instance below it.
    Service {
        /// The service.
        service: ServiceId,
        /// The endpoint's hostname in front of the service's name, if any.
        hostname: Option<Text>,
    },
}

/// A service, a port, and perhaps one hostname: what a `Get` is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// The service.
    pub service: ServiceId,
    /// The port asked for, a service port if the service declares it.
    pub port: u16,
    /// Only the endpoints with this hostname, if given.
    pub hostname: Option<Text>,
}

/// Why a text is not an authority.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAuthority {
    /// The part after the last colon is no port.
    #[error("`{0}` has no port between 1 and 65535 after its host")]
    Port(String),
    /// The host is not a service name in the cluster's domain.
    #[error("`{host}` is neither an IP nor `[hostname.]service.namespace.svc.{domain}`")]
    Host {
        /// The host as given.
        host: String,
        /// The cluster's domain.
        domain: String,
    },
}

impl Authority {
    /// Parses what a client asks about, in the cluster's `domain`.
    ///
    /// Without a colon the port is 80. A host in brackets may be an IPv6 literal
    /// or, as the controller that clients know accepts it, a name. Names are
    /// compared with their case: `WEB` is another service than `web`.
    ///
    /// # Errors
    ///
    /// [`InvalidAuthority`] names the text and what it should have been.
    pub fn parse(text: &str, domain: &str) -> Result<Self, InvalidAuthority> {
        let (host, port) = split_port(text)?;
        if let Ok(ip) = host.parse::<IpAddr>() {
            return Ok(Self {
                host: Host::Ip(ip.to_canonical()),
                port,
            });
        }
        let host = parse_service(host, domain).ok_or_else(|| InvalidAuthority::Host {
            host: host.to_owned(),
            domain: domain.to_owned(),
        })?;
        Ok(Self { host, port })
    }
}

impl Target {
    /// The text that a client would ask with.
    #[must_use]
    pub fn authority(&self, domain: &str) -> String {
        let ServiceId { namespace, name } = &self.service;
        let port = self.port;
        match &self.hostname {
            Some(hostname) => format!("{hostname}.{name}.{namespace}.svc.{domain}:{port}"),
            None => format!("{name}.{namespace}.svc.{domain}:{port}"),
        }
    }
}

fn split_port(text: &str) -> Result<(&str, u16), InvalidAuthority> {
    let invalid = || InvalidAuthority::Port(text.to_owned());
    if !text.contains(':') {
        return Ok((text, 80));
    }
    let (host, port) = text.rsplit_once(':').ok_or_else(invalid)?;
    let host = match host.strip_prefix('[').map(|rest| rest.strip_suffix(']')) {
        Some(Some(bracketed)) if !bracketed.contains(['[', ']']) => bracketed,
        Some(Some(_) | None) => return Err(invalid()),
        // A colon outside brackets would belong to a bare IPv6 literal.
        None if host.contains([':', '[', ']']) => return Err(invalid()),
        None => host,
    };
    match port.parse() {
        Ok(0) | Err(_) => Err(invalid()),
        Ok(port) => Ok((host, port)),
    }
}

/// `[hostname.]service.namespace.svc.<domain>`, label by label.
fn parse_service(host: &str, domain: &str) -> Option<Host> {
    let labels: Vec<&str> = host.split('.').collect();
    let suffix: Vec<&str> = std::iter::once("svc").chain(domain.split('.')).collect();
    match labels.strip_suffix(suffix.as_slice())? {
        [name, namespace] => Some(Host::Service {
            service: ServiceId::named(namespace, name),
            hostname: None,
        }),
        [hostname, name, namespace] => Some(Host::Service {
            service: ServiceId::named(namespace, name),
            hostname: Some((*hostname).into()),
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Authority, InvalidAuthority> {
        Authority::parse(text, "cluster.local")
    }

    fn web(hostname: Option<&str>) -> Host {
        Host::Service {
            service: ServiceId::named("ns", "web"),
            hostname: hostname.map(Into::into),
        }
    }

    #[test]
    fn services_and_their_instances_are_told_apart() {
        for (text, hostname, port) in [
            ("web.ns.svc.cluster.local", None, 80),
            ("web.ns.svc.cluster.local:8080", None, 8080),
            ("web.ns.svc.cluster.local:+80", None, 80),
            ("web.ns.svc.cluster.local:0080", None, 80),
            ("[web.ns.svc.cluster.local]:80", None, 80),
            ("pod-0.web.ns.svc.cluster.local:8080", Some("pod-0"), 8080),
        ] {
            assert_eq!(
                parse(text),
                Ok(Authority {
                    host: web(hostname),
                    port
                }),
                "{text}"
            );
        }
    }

    #[test]
    fn ip_literals_are_canonical() {
        for (text, ip) in [
            ("10.1.2.3:80", "10.1.2.3"),
            ("[fd00::1]:80", "fd00::1"),
            ("[::ffff:10.1.2.3]:80", "10.1.2.3"),
        ] {
            let host = Host::Ip(ip.parse().unwrap());
            assert_eq!(parse(text), Ok(Authority { host, port: 80 }), "{text}");
        }
    }

    #[test]
    fn empty_labels_are_names_that_no_service_has() {
        let host = Host::Service {
            service: ServiceId::named("", "web"),
            hostname: None,
        };
        assert_eq!(
            parse("web..svc.cluster.local:80"),
            Ok(Authority { host, port: 80 })
        );
    }

    #[test]
    fn a_bad_port_is_named() {
        for text in [
            "fd00::1",
            "[2001:db8::1]",
            "web.ns.svc.cluster.local:0",
            "web.ns.svc.cluster.local:65536",
            "web.ns.svc.cluster.local:-1",
            "web.ns.svc.cluster.local:http",
            "web.ns.svc.cluster.local:",
            "[web.ns.svc.cluster.local:80",
            "[w[eb.ns.svc.cluster.local]:80",
            "[w]eb.ns.svc.cluster.local]:80",
        ] {
            assert_eq!(
                parse(text).unwrap_err().to_string(),
                format!("`{text}` has no port between 1 and 65535 after its host"),
            );
        }
    }

    #[test]
    fn a_host_outside_the_domain_is_named() {
        for host in [
            "",
            "web",
            "linkerd.io",
            "web.ns",
            "a.b.web.ns.svc.cluster.local",
            "web.ns.svc.cluster.local.",
            "web.ns.SVC.cluster.local",
            "svc.cluster.local",
        ] {
            let expected = format!(
                "`{host}` is neither an IP nor `[hostname.]service.namespace.svc.cluster.local`"
            );
            assert_eq!(
                parse(&format!("{host}:80")).unwrap_err().to_string(),
                expected
            );
        }
    }

    #[test]
    fn a_target_prints_what_a_client_would_ask() {
        let target = Target {
            service: ServiceId::named("ns", "web"),
            port: 80,
            hostname: Some("pod-0".into()),
        };
        assert_eq!(
            target.authority("cluster.local"),
            "pod-0.web.ns.svc.cluster.local:80"
        );
    }
}
