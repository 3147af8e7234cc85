//! What one round of the check found, and how it is summed up.

use lockstep_position::{Digest, Revision};
use serde::Serialize;

use super::answers::Mismatch;
use crate::Exit;
use crate::admin::Asked;
use crate::labels::short;

/// All findings of one round; without any, everything is equal.
#[derive(Clone, Debug, Default)]
pub(super) struct Findings {
    pub(super) replicas: Vec<Replica>,
    pub(super) disagreements: Vec<String>,
    /// Between the committed state and a fresh list.
    pub(super) source: Vec<String>,
    pub(super) answers: Vec<Mismatch>,
    /// What could not be found out.
    pub(super) unknown: Vec<String>,
    /// What the source itself has wrong; no difference.
    pub(super) problems: Vec<String>,
    /// Services and endpoints of the fresh list, if there was one.
    pub(super) compared: Option<(usize, usize)>,
}

/// Where one replica was in history.
#[derive(Clone, Debug)]
pub(super) struct Replica {
    name: String,
    address: String,
    place: Result<(Revision, Digest), String>,
}

/// The findings as a JSON document.
#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    verdict: &'static str,
    summary: String,
    replicas: Vec<ReplicaFields<'a>>,
    disagreements: &'a [String],
    source: &'a [String],
    answers: &'a [Mismatch],
    unknown: &'a [String],
    problems: &'a [String],
    services: Option<usize>,
    endpoints: Option<usize>,
}

#[derive(Debug, Serialize)]
struct ReplicaFields<'a> {
    name: &'a str,
    address: &'a str,
    revision: Option<u64>,
    state_digest: Option<String>,
    error: Option<&'a str>,
}

impl From<&Asked> for Replica {
    fn from(asked: &Asked) -> Self {
        let place = asked.report.as_ref().map_err(ToString::to_string);
        Self {
            name: asked.name(),
            address: asked.address.to_string(),
            place: place.map(|report| (report.position.revision, report.position.state_digest)),
        }
    }
}

impl Findings {
    pub(super) fn exit(&self) -> Exit {
        let equal = self.disagreements.is_empty() && self.source_is_equal();
        let differences = if equal { Exit::Yes } else { Exit::No };
        let known = if self.unknown.is_empty() {
            Exit::Yes
        } else {
            Exit::Unknown
        };
        differences.and(known)
    }

    /// `3 replicas at r41, digest 0a…: agree; 12 services with 40 endpoints: equal to the source`.
    pub(super) fn summary(&self) -> String {
        let agree = if self.disagreements.is_empty() {
            "agree"
        } else {
            "disagree"
        };
        let source = match self.compared {
            None => "not compared with the source".to_owned(),
            Some((services, endpoints)) => {
                let (services, endpoints) =
                    (counted(services, "service"), counted(endpoints, "endpoint"));
                format!("{services} with {endpoints}: {}", self.source_verdict())
            }
        };
        match self.places() {
            None => format!("no replica answers; {source}"),
            Some(places) => format!("{places}: {agree}; {source}"),
        }
    }

    pub(super) fn document(&self) -> Document<'_> {
        Document {
            verdict: self.exit().verdict(),
            summary: self.summary(),
            replicas: self.replicas.iter().map(Replica::fields).collect(),
            disagreements: &self.disagreements,
            source: &self.source,
            answers: &self.answers,
            unknown: &self.unknown,
            problems: &self.problems,
            services: self.compared.map(|(services, _)| services),
            endpoints: self.compared.map(|(_, endpoints)| endpoints),
        }
    }

    fn source_is_equal(&self) -> bool {
        self.source.is_empty() && self.answers.is_empty()
    }

    fn source_verdict(&self) -> String {
        match (
            self.source.len() + self.answers.len(),
            self.unknown.is_empty(),
        ) {
            (0, true) => "equal to the source".to_owned(),
            (0, false) => "equal to the source as far as known".to_owned(),
            (1, _) => "1 difference from the source".to_owned(),
            (many, _) => format!("{many} differences from the source"),
        }
    }

    /// `3 replicas at r41, digest 0a…`; `None` if none answered.
    fn places(&self) -> Option<String> {
        let known: Vec<_> = self
            .replicas
            .iter()
            .filter_map(|replica| replica.place.as_ref().ok())
            .collect();
        let oldest = known.iter().map(|(revision, _)| *revision).min()?;
        let newest = known.iter().map(|(revision, _)| *revision).max()?;
        let silent = self.replicas.len() - known.len();
        let (_, digest) = known.first()?;
        let same = known.iter().all(|(_, other)| other == digest);
        let at = match (oldest == newest, same) {
            (true, true) => format!("{newest}, digest {}", short(*digest)),
            (true, false) => newest.to_string(),
            (false, _) => format!("{oldest} to {newest}"),
        };
        let not_all = if silent == 0 {
            String::new()
        } else {
            format!(" ({silent} silent)")
        };
        Some(format!(
            "{} at {at}{not_all}",
            counted(known.len(), "replica")
        ))
    }
}

impl Replica {
    fn fields(&self) -> ReplicaFields<'_> {
        let place = self.place.as_ref().ok();
        ReplicaFields {
            name: &self.name,
            address: &self.address,
            revision: place.map(|(revision, _)| revision.as_u64()),
            state_digest: place.map(|(_, digest)| digest.to_string()),
            error: self.place.as_ref().err().map(String::as_str),
        }
    }
}

fn counted(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        many => format!("{many} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(number: u8, revision: u64, digest: u128) -> Replica {
        let digest = Digest::from_u128(digest << 80);
        Replica {
            name: format!("replica-{number}"),
            address: String::new(),
            place: Ok((Revision::from_u64(revision), digest)),
        }
    }

    fn silent() -> Replica {
        Replica {
            name: String::new(),
            address: String::new(),
            place: Err("why".to_owned()),
        }
    }

    fn findings(replicas: &[Replica]) -> Findings {
        let replicas = replicas.to_vec();
        Findings {
            replicas,
            compared: Some((12, 40)),
            ..Findings::default()
        }
    }

    fn assert_summed_up(findings: &Findings, exit: Exit, summary: &str) {
        assert_eq!(
            (findings.exit(), findings.summary()),
            (exit, summary.to_owned())
        );
    }

    #[test]
    fn all_equal_is_one_line() {
        assert_summed_up(
            &findings(&[at(1, 41, 0xabc), at(2, 41, 0xabc), at(3, 41, 0xabc)]),
            Exit::Yes,
            "3 replicas at r41, digest 000000000abc: agree; 12 services with 40 endpoints: equal \
             to the source",
        );
    }

    #[test]
    fn a_moving_group_is_shown_as_moving() {
        assert_summed_up(
            &findings(&[at(1, 41, 1), at(2, 40, 2)]),
            Exit::Yes,
            "2 replicas at r40 to r41: agree; 12 services with 40 endpoints: equal to the source",
        );
    }

    #[test]
    fn differences_are_counted() {
        let mut found = findings(&[at(1, 41, 1), at(2, 41, 2)]);
        found.disagreements.push("r41: …".to_owned());
        found.source.push("…".to_owned());
        assert_summed_up(
            &found,
            Exit::No,
            "2 replicas at r41: disagree; 12 services with 40 endpoints: 1 difference from the \
             source",
        );
    }

    #[test]
    fn what_is_not_known_is_not_called_equal() {
        let mut found = findings(&[at(1, 41, 1), silent()]);
        found.unknown.push("…".to_owned());
        assert_summed_up(
            &found,
            Exit::Unknown,
            "1 replica at r41, digest 000000000001 (1 silent): agree; 12 services with 40 \
             endpoints: equal to the source as far as known",
        );
        found.compared = None;
        found.replicas = vec![silent()];
        assert_summed_up(
            &found,
            Exit::Unknown,
            "no replica answers; not compared with the source",
        );
    }
}
