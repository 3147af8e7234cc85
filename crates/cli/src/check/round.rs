//! One round of the check.

use lockstep_proto::admin::v1::Role;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::CheckArgs;
use super::agreement::{Past, compare};
use super::findings::{Findings, Replica};
use super::source::{Attempt, Comparer, Door};
use crate::address::once_each;
use crate::admin::{Admin, Asked};
use crate::ask::in_time;
use crate::screen::Screen;
use crate::{Address, VerbError};

/// Looks before a difference with the source is reported.
const ATTEMPTS_MAX: usize = 3;

/// Longer than a change takes from the source to every stream.
const PAUSE: Duration = Duration::from_millis(300);

pub(super) async fn run(args: &CheckArgs, screen: &mut Screen<'_>) -> Result<Findings, VerbError> {
    let asked = args.admins.ask().await;
    let mut findings = Findings {
        replicas: asked.iter().map(Replica::from).collect(),
        ..Findings::default()
    };
    for asked in &asked {
        findings
            .unknown
            .extend(asked.report.as_ref().err().map(ToString::to_string));
    }
    findings.problems = problems(&asked);
    compare_pasts(&asked, args.admins.timeout, &mut findings).await;
    let comparer = Comparer {
        admins: leader_first(&asked),
        doors: doors(args, &asked, &mut findings),
        timeout: args.admins.timeout,
    };
    compare_with_source(&comparer, &mut findings, screen).await?;
    Ok(findings)
}

/// What is wrong in the source itself: of such an object the last good version is in force, and
/// counts as what the source holds.
fn problems(asked: &[Asked]) -> Vec<String> {
    let reports = asked.iter().filter_map(|asked| asked.report.as_ref().ok());
    let sources = reports.filter_map(|report| report.status.source.as_ref());
    let problems: BTreeSet<&String> = sources.flat_map(|source| &source.problems).collect();
    problems.into_iter().cloned().collect()
}

/// What replicas say about the present and the past must be true together.
async fn compare_pasts(asked: &[Asked], within: Duration, findings: &mut Findings) {
    let answering = asked.iter().filter(|asked| asked.report.is_ok());
    let digests = answering.map(async |asked| {
        let address = &asked.address;
        let digests = async { Admin::connect(address).await?.digests().await };
        (asked, in_time(address, within, digests).await)
    });
    let mut pasts = Vec::new();
    for (asked, digests) in futures::future::join_all(digests).await {
        match digests {
            Ok(positions) => pasts.push(past(asked, positions)),
            Err(error) => findings.unknown.push(error.to_string()),
        }
    }
    let agreement = compare(&pasts);
    findings.disagreements.extend(agreement.disagreements);
    findings.unknown.extend(agreement.incomparable);
}

fn past(asked: &Asked, mut positions: Vec<lockstep_position::Position>) -> Past {
    positions.extend(asked.report.as_ref().ok().map(|report| report.position));
    Past {
        name: asked.name(),
        positions,
    }
}

/// Replicas that answer; who says that it leads is the first to be asked for an audit.
fn leader_first(asked: &[Asked]) -> Vec<Address> {
    let reports = asked
        .iter()
        .filter_map(|asked| Some((asked, asked.report.as_ref().ok()?)));
    let mut admins: Vec<_> = reports
        .map(|(asked, report)| (report.status.role() != Role::Leader, asked.address.clone()))
        .collect();
    // Stable: the others keep the order in which they were given.
    admins.sort_by_key(|(follows, _)| *follows);
    admins.into_iter().map(|(_, address)| address).collect()
}

/// Where to ask as a proxy: as given, else as each replica reports.
fn doors(args: &CheckArgs, asked: &[Asked], findings: &mut Findings) -> Vec<Door> {
    if !args.address.is_empty() {
        let given = once_each(&args.address).into_iter();
        return given
            .map(|address| Door {
                name: address.to_string(),
                address,
            })
            .collect();
    }
    let mut doors = Vec::new();
    for asked in asked {
        let Ok(report) = &asked.report else { continue };
        match report.status.proxy_address.parse::<Address>() {
            Ok(address) => {
                let address = address.reached_like(&asked.address);
                doors.push(Door {
                    name: asked.name(),
                    address,
                });
            }
            Err(error) => {
                findings
                    .unknown
                    .push(format!("{} reports its proxy port: {error}", asked.name()));
            }
        }
    }
    doors
}

/// Looks again, at suspects only, until nothing is left or the attempts are.
async fn compare_with_source(
    comparer: &Comparer,
    findings: &mut Findings,
    screen: &mut Screen<'_>,
) -> Result<(), VerbError> {
    if comparer.admins.is_empty() {
        return Ok(());
    }
    let mut found = match comparer.attempt(None, screen).await? {
        Ok(attempt) => attempt,
        Err(reasons) => {
            findings.unknown.extend(reasons);
            return Ok(());
        }
    };
    for _ in 1..ATTEMPTS_MAX {
        if found.is_clean() {
            break;
        }
        tokio::time::sleep(PAUSE).await;
        let again = comparer.attempt(Some(&found.suspects()), screen).await?;
        match again {
            Ok(again) => found = found.confirmed_by(again),
            Err(reasons) => {
                findings
                    .unknown
                    .push("differences were seen and could not be confirmed".into());
                findings.unknown.extend(reasons);
                return Ok(());
            }
        }
    }
    conclude(found, findings);
    Ok(())
}

fn conclude(found: Attempt, findings: &mut Findings) {
    findings.compared = Some((found.services, found.endpoints));
    findings.source = found.differences;
    findings.answers = found.mismatches;
    // One sentence for each reason: a replica that is away leaves every service unanswered.
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for (_, reason) in found.unanswered {
        *reasons.entry(reason).or_default() += 1;
    }
    let sentences = reasons.into_iter().map(|(reason, count)| match count {
        1 => format!("1 question without an answer: {reason}"),
        many => format!("{many} questions without an answer: {reason}"),
    });
    findings.unknown.extend(sentences);
}
