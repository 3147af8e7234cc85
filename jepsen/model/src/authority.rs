//! What an authority asks for (A2).

use crate::{Name, Text};

/// The port of an authority without one (A2.1).
const PORT_DEFAULT: u16 = 80;

/// What an authority asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The service.
    pub service: Name,
    /// The hostname of one endpoint, if it asks for that alone.
    pub hostname: Option<Text>,
    /// The port of the service.
    pub port: u16,
}

/// The authority names no service: `InvalidArgument`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct NoService;

// === impl Asked ===

impl Asked {
    /// Reads an authority.
    ///
    /// # Errors
    ///
    /// [`NoService`] for a bad port, an IP address, or a name that is not below `svc` and the
    /// cluster domain.
    pub fn parse(authority: &str, cluster_domain: &str) -> Result<Self, NoService> {
        let (host, port) = split(authority)?;
        let labels: Vec<&str> = host.split('.').collect();
        let suffix: Vec<&str> = ["svc"]
            .into_iter()
            .chain(cluster_domain.split('.'))
            .collect();
        let names = labels.strip_suffix(suffix.as_slice()).ok_or(NoService)?;
        let (hostname, service, namespace) = match names {
            [service, namespace] => (None, service, namespace),
            [hostname, service, namespace] => (Some((*hostname).into()), service, namespace),
            _ => return Err(NoService),
        };
        Ok(Self {
            service: Name::new(namespace, service),
            hostname,
            port,
        })
    }
}

/// Host and port. Brackets around the host, meant for IPv6, are taken off.
fn split(authority: &str) -> Result<(&str, u16), NoService> {
    if !authority.contains(':') {
        return Ok((authority, PORT_DEFAULT));
    }
    let bracketed = authority
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]:"));
    let (host, port) = bracketed.or(authority.split_once(':')).ok_or(NoService)?;
    match port.parse() {
        Ok(port) if port > 0 => Ok((host, port)),
        Ok(_) | Err(_) => Err(NoService),
    }
}

#[cfg(test)]
mod tests {
    use super::{Asked, NoService};
    use crate::Name;

    fn parse(authority: &str) -> Result<Asked, NoService> {
        Asked::parse(authority, "cluster.local")
    }

    #[test]
    fn the_table_of_the_specification_holds() {
        let asked = |hostname: Option<&str>, port| Asked {
            service: Name::new("ns", "web"),
            hostname: hostname.map(Into::into),
            port,
        };
        assert_eq!(parse("web.ns.svc.cluster.local"), Ok(asked(None, 80)));
        assert_eq!(
            parse("web.ns.svc.cluster.local:8080"),
            Ok(asked(None, 8080))
        );
        let bracketed = parse("[web.ns.svc.cluster.local]:80");
        assert_eq!(bracketed, Ok(asked(None, 80)));
        let pod = parse("pod-0.web.ns.svc.cluster.local:8080");
        assert_eq!(pod, Ok(asked(Some("pod-0"), 8080)));
        for authority in [
            "a.b.web.ns.svc.cluster.local:80",
            "web.ns:80",
            "linkerd.io",
            "web.ns.svc.cluster.local.:80",
            "WEB.ns.SVC.cluster.local:80",
            "10.1.2.3:80",
            "[fd00::1]:80",
            "fd00::1",
            "web.ns.svc.cluster.local:0",
            "web.ns.svc.cluster.local:65536",
            "web.ns.svc.cluster.local:-1",
            "web.ns.svc.cluster.local:",
            "",
        ] {
            assert_eq!(parse(authority), Err(NoService), "{authority}");
        }
    }
}
