//! Whether everything that was seen before a power cut is there after it.
//!
//! Judged while the API server is away, so that nobody can repair from there what was lost.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use lockstep_proto::admin::v1::Position;
use tokio::time::sleep;

use super::sightings::Seen;
use crate::proxy::Proxy;
use lockstep_jepsen_gear::operator::Operator;
use lockstep_jepsen_gear::replica::Plan;
use lockstep_jepsen_gear::world::Serial;

/// How long a group may take from its start to one answer.
const PATIENCE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(20);

/// What was found after a cut.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verdict {
    /// The revision on which all agree.
    pub(crate) revision: u64,
    /// Digests from before that were seen again.
    pub(crate) compared: usize,
    /// Time until all agreed.
    pub(crate) took: Duration,
    /// What is not as it should be.
    pub(crate) violations: Vec<String>,
}

/// Compares what the replicas hold with what was seen. Must run in the group's room.
///
/// # Errors
///
/// When the lab itself cannot go on.
pub(crate) async fn judge(plans: Vec<Plan>, seen: Seen) -> anyhow::Result<Verdict> {
    let started = Instant::now();
    let mut operators = Vec::new();
    for plan in &plans {
        operators.push(Operator::new(plan.listens.admin)?);
    }
    let highest = seen.digests.last_key_value().map_or(0, |(rev, _)| *rev);
    let agreed = agree(&mut operators, highest).await;
    let mut verdict = Verdict {
        took: started.elapsed(),
        ..Verdict::default()
    };
    match agreed {
        Ok(position) => {
            verdict.revision = position.revision;
            if !seen.history.is_empty() && position.history != seen.history {
                let text = format!("history {} has become {}", seen.history, position.history);
                verdict.violations.push(text);
            }
        }
        Err(reason) => verdict.violations.push(format!(
            "r{highest} was seen before the cut, and after it: {reason:#}"
        )),
    }
    for (plan, operator) in plans.iter().zip(&mut operators) {
        compare_digests(plan, operator, &seen, &mut verdict).await;
        compare_answers(plan, &seen, &mut verdict).await?;
    }
    Ok(verdict)
}

/// Waits until all replicas are at one revision with one pair of digests, not below `at_least`.
async fn agree(operators: &mut [Operator], at_least: u64) -> anyhow::Result<Position> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let tried = one_position(operators, at_least).await;
        if tried.is_ok() || Instant::now() > deadline {
            return tried;
        }
        sleep(PAUSE).await;
    }
}

async fn one_position(operators: &mut [Operator], at_least: u64) -> anyhow::Result<Position> {
    let mut positions: Vec<Position> = Vec::new();
    for operator in operators {
        let position = operator.status().await?.position;
        positions.push(position.context("a replica without a position")?);
    }
    let without_log = |position: &Position| Position {
        applied: None,
        ..position.clone()
    };
    let first = positions.first().map(without_log).context("no replicas")?;
    let same = positions.iter().all(|it| without_log(it) == first);
    let revisions: Vec<u64> = positions.iter().map(|it| it.revision).collect();
    anyhow::ensure!(
        same && first.revision >= at_least,
        "the replicas are at revisions {revisions:?}"
    );
    Ok(first)
}

/// Waits until every replica holds what the source holds, which nobody changes any more, and says
/// what is not so. Must run in the group's room.
///
/// # Errors
///
/// When the lab itself cannot go on.
pub(crate) async fn converge(
    plans: Vec<Plan>,
    newest: BTreeMap<String, Serial>,
) -> anyhow::Result<Vec<String>> {
    let mut operators = Vec::new();
    for plan in &plans {
        operators.push(Operator::new(plan.listens.admin)?);
    }
    let deadline = Instant::now() + PATIENCE;
    while let Err(reason) = equals_source(&mut operators).await {
        if Instant::now() > deadline {
            return Ok(vec![format!("never equal to the source: {reason:#}")]);
        }
        sleep(PAUSE).await;
    }
    let seen = Seen {
        newest,
        ..Seen::default()
    };
    let mut verdict = Verdict::default();
    for plan in &plans {
        compare_answers(plan, &seen, &mut verdict).await?;
    }
    Ok(verdict.violations)
}

/// The leader finds no difference, and the others are where it is.
async fn equals_source(operators: &mut [Operator]) -> anyhow::Result<()> {
    let mut audited = None;
    for operator in operators.iter_mut() {
        audited = audited.or(operator.audit().await.ok());
    }
    let differences = audited.context("nobody audits")?.differences;
    anyhow::ensure!(differences.is_empty(), "{}", differences.join("; "));
    one_position(operators, 1).await.map(drop)
}

async fn compare_digests(plan: &Plan, operator: &mut Operator, seen: &Seen, verdict: &mut Verdict) {
    let Ok(positions) = operator.digests(0).await else {
        verdict
            .violations
            .push(format!("{} tells no digests", plan.name));
        return;
    };
    for position in positions {
        let Some(before) = seen.digests.get(&position.revision) else {
            continue;
        };
        verdict.compared += 1;
        let after = (position.state_digest, position.path_digest);
        if after != *before {
            let text = format!("r{} was {before:?}", position.revision);
            verdict
                .violations
                .push(format!("{text}, and is {after:?} on {}", plan.name));
        }
    }
}

async fn compare_answers(plan: &Plan, seen: &Seen, verdict: &mut Verdict) -> anyhow::Result<()> {
    let proxy = Proxy::new(plan.listens.proxy)?;
    let mut lost = BTreeMap::new();
    for (authority, newest) in &seen.newest {
        let held = match proxy.get(authority).await {
            Ok(held) => held,
            Err(error) => {
                let text = format!("{} does not answer for {authority}: {error:#}", plan.name);
                verdict.violations.push(text);
                return Ok(());
            }
        };
        let now = held.iter().filter_map(Serial::of).max();
        if now < Some(*newest) {
            lost.insert(authority.clone(), (*newest, now));
        }
    }
    if !lost.is_empty() {
        let text = format!("{} has older endpoints than it should: {lost:?}", plan.name);
        verdict.violations.push(text);
    }
    Ok(())
}
