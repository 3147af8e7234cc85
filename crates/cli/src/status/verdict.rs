//! Whether what the replicas say about themselves can all be true.

use lockstep_position::HistoryId;
use lockstep_proto::admin::v1::Role;
use std::collections::BTreeSet;

use crate::Exit;
use crate::admin::{Asked, Report};
use crate::check::AGREEMENT;

/// The verdict on one look, with the sentences that explain it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) exit: Exit,
    /// What is wrong or open, one sentence each; empty when all is well.
    pub(super) findings: Vec<String>,
}

/// Judges one look at all replicas.
pub(super) fn judge(asked: &[Asked]) -> Verdict {
    let reports: Vec<(String, &Report)> = asked
        .iter()
        .filter_map(|asked| Some((asked.name(), asked.report.as_ref().ok()?)))
        .collect();
    let mut verdict = Verdict {
        exit: Exit::Yes,
        findings: Vec::new(),
    };
    for sentence in contradictions(&reports)
        .into_iter()
        .chain(foreigners(&reports))
        .chain(without_quorum(&reports))
    {
        verdict.record(Exit::No, sentence);
    }
    for asked in asked {
        if let Err(error) = &asked.report {
            verdict.record(Exit::Unknown, error.to_string());
        }
    }
    let all_answer = reports.len() == asked.len();
    if let Some((exit, sentence)) = leadership(&reports, all_answer) {
        verdict.record(exit, sentence);
    }
    verdict
}

fn contradictions(reports: &[(String, &Report)]) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = reports;
    while let Some(((name, report), others)) = rest.split_first() {
        let against = others
            .iter()
            .filter(|(_, other)| report.position.contradicts(&other.position));
        let revision = report.position.revision;
        found.extend(against.map(|(other, _)| {
            format!("{name} and {other} hold different states at {revision}: {AGREEMENT}")
        }));
        rest = others;
    }
    found
}

/// Replicas of other clusters or histories, which can only be compared by mistake.
fn foreigners(reports: &[(String, &Report)]) -> Vec<String> {
    let clusters: BTreeSet<&str> = reports
        .iter()
        .map(|(_, report)| report.status.cluster.as_str())
        .collect();
    let histories: BTreeSet<String> = reports
        .iter()
        .map(|(_, report)| report.position.history)
        .filter(|history| *history != HistoryId::NONE)
        .map(|history| history.to_string())
        .collect();
    let mut found = Vec::new();
    if clusters.len() > 1 {
        let names = clusters.into_iter().collect::<Vec<_>>().join(", ");
        found.push(format!(
            "the replicas belong to different clusters: {names}"
        ));
    }
    if histories.len() > 1 {
        let ids = histories.into_iter().collect::<Vec<_>>().join(", ");
        found.push(format!("the replicas are in different histories: {ids}"));
    }
    found
}

fn without_quorum(reports: &[(String, &Report)]) -> Vec<String> {
    let lacking = reports
        .iter()
        .filter(|(_, report)| report.status.lacks_quorum);
    let sentence = |(name, report): &(String, &Report)| {
        let term = report.status.term;
        format!("{name} leads term {term} without a quorum: it proposes nothing")
    };
    lacking.map(sentence).collect()
}

fn leadership(reports: &[(String, &Report)], all_answer: bool) -> Option<(Exit, String)> {
    // A replica that was asked at two addresses is one. One without a quorum only
    // believes that it leads, until it hears of the others.
    let leaders: BTreeSet<(&str, &str)> = reports
        .iter()
        .filter(|(_, report)| report.status.role() == Role::Leader)
        .filter(|(_, report)| !report.status.lacks_quorum)
        .map(|(name, report)| (name.as_str(), report.status.replica.as_str()))
        .collect();
    let leaders: Vec<&str> = leaders.into_iter().map(|(name, _)| name).collect();
    match leaders.as_slice() {
        [_] => None,
        [] if all_answer => Some((Exit::No, "no replica leads".to_owned())),
        [] => Some((Exit::Unknown, "no replica that answers leads".to_owned())),
        several => Some((
            Exit::No,
            format!("several replicas lead: {}", several.join(", ")),
        )),
    }
}

impl Verdict {
    pub(super) fn word(&self) -> &'static str {
        match self.exit {
            Exit::Yes => "ok",
            Exit::No => "wrong",
            Exit::Unknown => "unknown",
        }
    }

    fn record(&mut self, exit: Exit, finding: String) {
        self.exit = self.exit.and(exit);
        self.findings.push(finding);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::AskError;
    use lockstep_position::{Digest, Position, Revision};
    use lockstep_proto::admin::v1::StatusReply;

    fn replica(number: u16, role: Role, revision: u64, digest: u128) -> Asked {
        let status = StatusReply {
            name: format!("replica-{number}"),
            cluster: "dev".to_owned(),
            role: role.into(),
            ..StatusReply::default()
        };
        let position = Position {
            history: HistoryId::from_u128(1),
            revision: Revision::from_u64(revision),
            state_digest: Digest::from_u128(digest),
            ..Position::default()
        };
        Asked {
            address: "127.0.0.1:9996".parse().unwrap(),
            report: Ok(Report { status, position }),
        }
    }

    fn silent() -> Asked {
        let address: crate::Address = "127.0.0.1:10196".parse().unwrap();
        let reason = "connection refused".to_owned();
        let error = AskError::Unreachable {
            address: address.clone(),
            reason,
        };
        Asked {
            address,
            report: Err(error),
        }
    }

    fn assert_judged(asked: &[Asked], exit: Exit, findings: &[&str]) {
        let findings = findings.iter().map(ToString::to_string).collect();
        assert_eq!(judge(asked), Verdict { exit, findings });
    }

    #[test]
    fn one_leader_and_equal_digests_are_well() {
        let all = [
            replica(1, Role::Leader, 4, 9),
            replica(2, Role::Follower, 4, 9),
            replica(3, Role::Follower, 3, 8),
        ];
        assert_judged(&all, Exit::Yes, &[]);
    }

    #[test]
    fn other_digests_at_one_revision_are_a_contradiction() {
        assert_judged(
            &[
                replica(1, Role::Leader, 4, 9),
                replica(2, Role::Follower, 4, 8),
            ],
            Exit::No,
            &[
                "replica-1 and replica-2 hold different states at r4: Two replicas at the same \
               revision hold the same state, shown by the same digest, whatever restarts, \
               snapshots and versions lie behind.",
            ],
        );
    }

    #[test]
    fn there_is_one_leader_or_the_verdict_says_so() {
        let follower = || replica(1, Role::Follower, 4, 9);
        assert_judged(&[follower(), follower()], Exit::No, &["no replica leads"]);
        let both = [
            replica(1, Role::Leader, 4, 9),
            replica(2, Role::Leader, 4, 9),
        ];
        assert_judged(
            &both,
            Exit::No,
            &["several replicas lead: replica-1, replica-2"],
        );
    }

    #[test]
    fn a_leader_without_a_quorum_is_wrong_and_is_none() {
        let mut deposed = replica(1, Role::Leader, 4, 9);
        if let Ok(report) = &mut deposed.report {
            report.status.lacks_quorum = true;
            report.status.term = 3;
        }
        let lacking = "replica-1 leads term 3 without a quorum: it proposes nothing";
        let alone = [deposed.clone()];
        assert_judged(&alone, Exit::No, &[lacking, "no replica leads"]);
        let replaced = [deposed, replica(2, Role::Leader, 5, 10)];
        assert_judged(&replaced, Exit::No, &[lacking]);
    }

    #[test]
    fn a_leader_that_was_asked_twice_is_one_leader() {
        let twice = [
            replica(1, Role::Leader, 4, 9),
            replica(1, Role::Leader, 4, 9),
        ];
        assert_judged(&twice, Exit::Yes, &[]);
    }

    #[test]
    fn who_cannot_be_reached_may_be_the_leader() {
        let unreachable = "127.0.0.1:10196 cannot be reached: connection refused";
        assert_judged(
            &[replica(1, Role::Follower, 4, 9), silent()],
            Exit::Unknown,
            &[unreachable, "no replica that answers leads"],
        );
        assert_judged(
            &[replica(1, Role::Leader, 4, 9), silent()],
            Exit::Unknown,
            &[unreachable],
        );
    }

    #[test]
    fn another_cluster_and_another_history_are_named() {
        let mut foreign = replica(2, Role::Follower, 4, 9);
        if let Ok(report) = &mut foreign.report {
            report.status.cluster = "other".to_owned();
            report.position.history = HistoryId::from_u128(2);
        }
        assert_judged(
            &[replica(1, Role::Leader, 4, 9), foreign],
            Exit::No,
            &[
                "the replicas belong to different clusters: dev, other",
                "the replicas are in different histories: 00000000000000000000000000000001, \
                 00000000000000000000000000000002",
            ],
        );
    }
}
