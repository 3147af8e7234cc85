//! Whether one replica's answer for one service is the expected one.

use lockstep_proto::admin::v1::AuditReply;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use crate::told::Answer;

/// What the source says proxies must be told: addresses by authority.
pub(super) type Expected = BTreeMap<String, BTreeSet<SocketAddr>>;

/// An answer that is not the expected one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Mismatch {
    pub(super) replica: String,
    pub(super) authority: String,
    /// Expected and not told.
    pub(super) missing: BTreeSet<SocketAddr>,
    /// Told and not expected.
    pub(super) unexpected: BTreeSet<SocketAddr>,
    /// The answer in words.
    pub(super) said: String,
}

/// An expected address that is none.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the audit expects `{address}` for {authority}, which is not IP:PORT")]
pub(super) struct InvalidExpected {
    authority: String,
    address: String,
}

/// Reads what an audit expects.
pub(super) fn read_expected(audit: &AuditReply) -> Result<Expected, InvalidExpected> {
    let mut expected = Expected::new();
    for service in &audit.expected {
        let addresses = service.addresses.iter().map(|address| {
            address.parse().map_err(|_| InvalidExpected {
                authority: service.authority.clone(),
                address: address.clone(),
            })
        });
        expected.insert(
            service.authority.clone(),
            addresses.collect::<Result<_, _>>()?,
        );
    }
    Ok(expected)
}

/// Compares an answer; a refusal that says that nothing is there is `Err` with its words.
pub(super) fn mismatch(
    (replica, authority): (&str, &str),
    expected: &BTreeSet<SocketAddr>,
    answer: Result<&Answer, String>,
) -> Option<Mismatch> {
    let nothing = BTreeSet::new();
    let (exists, told, said) = match answer {
        Ok(Answer::Absent) => (false, nothing, "no such service".to_owned()),
        Ok(present @ Answer::Present(set)) => (
            true,
            present.addresses(),
            format!("{} endpoints", set.len()),
        ),
        Err(refusal) => (false, nothing, refusal),
    };
    if exists && told == *expected {
        return None;
    }
    Some(Mismatch {
        replica: replica.to_owned(),
        authority: authority.to_owned(),
        missing: expected.difference(&told).copied().collect(),
        unexpected: told.difference(expected).copied().collect(),
        said,
    })
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            replica,
            authority,
            said,
            ..
        } = self;
        write!(f, "{replica} answers for {authority}: {said}")?;
        for (what, addresses) in [("missing", &self.missing), ("unexpected", &self.unexpected)] {
            if !addresses.is_empty() {
                let addresses: Vec<_> = addresses.iter().map(ToString::to_string).collect();
                write!(f, "; {what} {}", addresses.join(", "))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoint::endpoints;
    use linkerd2_proxy_api::destination::{WeightedAddr, WeightedAddrSet};
    use linkerd2_proxy_api::net::TcpAddress;
    use lockstep_proto::admin::v1::Expected as ExpectedService;

    const WEB: &str = "web.shop.svc.cluster.local:80";

    fn present(lasts: &[u8]) -> Answer {
        let ip = |last| Some(std::net::IpAddr::from([10, 0, 0, last]).into());
        let addr = |last: &u8| {
            Some(TcpAddress {
                ip: ip(*last),
                port: 80,
            })
        };
        let told = |last: &u8| WeightedAddr {
            addr: addr(last),
            ..WeightedAddr::default()
        };
        let addrs = lasts.iter().map(told).collect();
        Answer::Present(endpoints(WeightedAddrSet {
            addrs,
            ..WeightedAddrSet::default()
        }))
    }

    fn found(expected: &[u8], answer: Result<&Answer, String>) -> Option<String> {
        let expected = present(expected).addresses();
        mismatch(("replica-1", WEB), &expected, answer).map(|mismatch| mismatch.to_string())
    }

    #[test]
    fn the_expected_answer_is_no_mismatch() {
        for lasts in [[].as_slice(), &[1], &[1, 2]] {
            assert_eq!(found(lasts, Ok(&present(lasts))), None);
        }
    }

    #[test]
    fn a_mismatch_names_what_is_missing_and_what_is_not_expected() {
        let expected = "replica-1 answers for web.shop.svc.cluster.local:80: 2 endpoints; \
                        missing 10.0.0.1:80; unexpected 10.0.0.3:80";
        assert_eq!(
            found(&[1, 2], Ok(&present(&[2, 3]))).as_deref(),
            Some(expected)
        );
    }

    #[test]
    fn a_service_that_is_there_must_be_said_to_exist() {
        let expected = "replica-1 answers for web.shop.svc.cluster.local:80: no such service";
        assert_eq!(found(&[], Ok(&Answer::Absent)).as_deref(), Some(expected));
        let refusal = "NotFound: why".to_owned();
        let expected = "replica-1 answers for web.shop.svc.cluster.local:80: NotFound: why; \
                        missing 10.0.0.1:80";
        assert_eq!(found(&[1], Err(refusal)).as_deref(), Some(expected));
    }

    #[test]
    fn an_expected_address_of_another_form_is_named() {
        let addresses = vec!["10.0.0.1".to_owned()];
        let service = ExpectedService {
            authority: WEB.to_owned(),
            addresses,
        };
        let audit = AuditReply {
            expected: vec![service],
            ..AuditReply::default()
        };
        assert_eq!(
            read_expected(&audit).unwrap_err().to_string(),
            "the audit expects `10.0.0.1` for web.shop.svc.cluster.local:80, which is not IP:PORT"
        );
    }
}
