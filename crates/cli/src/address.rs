//! Where a replica listens: `HOST:PORT`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A host and a port to connect to.
///
/// Prints as `127.0.0.1:8086`, `[::1]:8086` or `name:8086`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    host: String,
    port: u16,
}

/// Why a text is not an address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAddress {
    /// It is not a host, a colon and a port.
    #[error("`{0}` is not an address: write HOST:PORT, such as 127.0.0.1:8086 or [::1]:8086")]
    Form(String),
    /// What follows the last colon is no port.
    #[error("`{0}` has no port between 1 and 65535 after its host")]
    Port(String),
}

/// Where `lockstep dev` serves proxies, replica by replica.
pub(crate) fn default_proxies() -> [Address; 3] {
    [8086, 8186, 8286].map(Address::loopback)
}

/// Where `lockstep dev` serves operators, replica by replica.
pub(crate) fn default_admins() -> [Address; 3] {
    [9996, 10096, 10196].map(Address::loopback)
}

/// The addresses without repetitions, in their order.
pub(crate) fn once_each(addresses: &[Address]) -> Vec<Address> {
    let mut once: Vec<Address> = Vec::with_capacity(addresses.len());
    for address in addresses {
        if !once.contains(address) {
            once.push(address.clone());
        }
    }
    once
}

impl Address {
    fn loopback(port: u16) -> Self {
        Self {
            host: Ipv4Addr::LOCALHOST.to_string(),
            port,
        }
    }

    /// This address, with the host of `other` where this one only says "any".
    ///
    /// A replica that listens on every interface may report `0.0.0.0`, where nobody can connect.
    pub(crate) fn reached_like(self, other: &Self) -> Self {
        let any = self
            .host
            .parse::<IpAddr>()
            .is_ok_and(|ip| ip.is_unspecified());
        if any {
            Self {
                host: other.host.clone(),
                port: self.port,
            }
        } else {
            self
        }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') {
            write!(f, "[{host}]:{port}")
        } else {
            write!(f, "{host}:{port}")
        }
    }
}

impl FromStr for Address {
    type Err = InvalidAddress;

    fn from_str(text: &str) -> Result<Self, InvalidAddress> {
        let form = || InvalidAddress::Form(text.to_owned());
        let (host, port) = text.rsplit_once(':').ok_or_else(form)?;
        let host = parse_host(host).ok_or_else(form)?;
        let plain = port.bytes().all(|byte| byte.is_ascii_digit());
        match port.parse() {
            Ok(port @ 1..) if plain => Ok(Self { host, port }),
            Ok(_) | Err(_) => Err(InvalidAddress::Port(text.to_owned())),
        }
    }
}

/// A name, an IPv4 address, or an IPv6 address in brackets.
fn parse_host(host: &str) -> Option<String> {
    if let Some(bracketed) = host.strip_prefix('[') {
        let ip: Ipv6Addr = bracketed.strip_suffix(']')?.parse().ok()?;
        return Some(ip.to_string());
    }
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    (!host.is_empty() && host.bytes().all(allowed)).then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Address, String> {
        text.parse()
            .map_err(|error: InvalidAddress| error.to_string())
    }

    #[test]
    fn an_address_prints_as_it_was_written() {
        for text in [
            "127.0.0.1:8086",
            "[::1]:8086",
            "lockstep-0.lockstep.linkerd.svc:65535",
        ] {
            assert_eq!(
                parse(text).map(|address| address.to_string()),
                Ok(text.to_owned())
            );
        }
    }

    #[test]
    fn an_address_that_is_given_twice_is_asked_once() {
        let [a, b] = ["b:1", "a:1"].map(|text| parse(text).unwrap());
        let once = once_each(&[a.clone(), b.clone(), a.clone()]);
        assert_eq!(once, [a, b]);
    }

    #[test]
    fn what_has_another_form_is_named_with_the_form() {
        for text in [
            "",
            "8086",
            "localhost",
            ":8086",
            "::1:8086",
            "[::1:8086",
            "[x]:1",
            "a b:1",
            "http://a:1",
        ] {
            let expected = format!(
                "`{text}` is not an address: write HOST:PORT, such as 127.0.0.1:8086 or [::1]:8086"
            );
            assert_eq!(parse(text), Err(expected));
        }
    }

    #[test]
    fn a_bad_port_is_named_with_its_range() {
        for text in ["a:", "a:0", "a:65536", "a:-1", "a:+1", "a:http"] {
            let expected = format!("`{text}` has no port between 1 and 65535 after its host");
            assert_eq!(parse(text), Err(expected));
        }
    }

    #[test]
    fn any_interface_is_reached_where_the_replica_was_reached() {
        let admin = parse("10.0.0.7:9996").unwrap();
        for (told, expected) in [
            ("0.0.0.0:8086", "10.0.0.7:8086"),
            ("[::]:8086", "10.0.0.7:8086"),
            ("10.0.0.9:8086", "10.0.0.9:8086"),
            ("name:8086", "name:8086"),
        ] {
            let reached = parse(told).unwrap().reached_like(&admin);
            assert_eq!(reached.to_string(), expected);
        }
    }
}
