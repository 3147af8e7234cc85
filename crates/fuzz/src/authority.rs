//! The authority that a client asks about, against a second reader of the same rules.

use lockstep_model::{Authority, Host, ServiceId, Target};
use std::net::{IpAddr, SocketAddr};

/// The domain where the input names none.
const DOMAIN: &str = "cluster.local";

/// Reads the text as an authority. A first line of two is the cluster's domain.
///
/// # Panics
///
/// The reader and the rules disagree, or what was read reads otherwise when it is written.
pub fn run(data: &[u8]) {
    let input = String::from_utf8_lossy(data);
    let (domain, text) = input.split_once('\n').unwrap_or((DOMAIN, &input));
    let read = Authority::parse(text, domain);
    let wanted = by_the_rules(text, domain);
    assert_eq!(read.as_ref().ok(), wanted.as_ref(), "{read:?}");
    match read {
        Ok(authority) => {
            let written = written(&authority, domain);
            assert_eq!(Authority::parse(&written, domain), Ok(authority));
        }
        Err(refused) => assert!(!refused.to_string().is_empty()),
    }
}

/// The authority as a client would write it. A name may hold what has a meaning outside
/// brackets, such as a colon.
fn written(authority: &Authority, domain: &str) -> String {
    let port = authority.port;
    match &authority.host {
        Host::Ip(ip) => SocketAddr::new(*ip, port).to_string(),
        Host::Service { service, hostname } => {
            let target = Target {
                service: service.clone(),
                port,
                hostname: hostname.clone(),
            };
            let text = target.authority(domain);
            let host = text.rsplit_once(':').map_or("", |(host, _)| host);
            if host.contains(['[', ']']) {
                // Such a name has no form with a port.
                return if port == 80 { host.to_owned() } else { text };
            }
            format!("[{host}]:{port}")
        }
    }
}

/// Section A2 of the destination API's contract, as simply as it can be said.
fn by_the_rules(text: &str, domain: &str) -> Option<Authority> {
    let (host, port) = if text.contains(':') {
        let (host, port) = split_host_port(text)?;
        let digits = port.strip_prefix('+').unwrap_or(port);
        let is_number = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
        let short = digits.trim_start_matches('0');
        let port = short.parse::<u32>().ok().filter(|_| is_number)?;
        (host, u16::try_from(port).ok().filter(|it| *it > 0)?)
    } else {
        (text, 80)
    };
    if let Ok(ip) = host.parse::<IpAddr>() {
        let host = Host::Ip(ip.to_canonical());
        return Some(Authority { host, port });
    }
    let name = host.strip_suffix(&format!(".svc.{domain}"))?;
    let labels: Vec<&str> = name.split('.').collect();
    let (hostname, service, namespace) = match labels[..] {
        [service, namespace] => (None, service, namespace),
        [hostname, service, namespace] => (Some(hostname.into()), service, namespace),
        _ => return None,
    };
    let service = ServiceId::named(namespace, service);
    let host = Host::Service { service, hostname };
    Some(Authority { host, port })
}

/// As the function of this name in Go's standard library, which the rules refer to.
fn split_host_port(text: &str) -> Option<(&str, &str)> {
    let (before, port) = text.rsplit_once(':')?;
    if let Some(bracketed) = before.strip_prefix('[') {
        let host = bracketed.strip_suffix(']')?;
        return (!host.contains(['[', ']']) && !port.contains(['[', ']'])).then_some((host, port));
    }
    (!before.contains(':') && !text.contains(['[', ']'])).then_some((before, port))
}
