//! C13: enough happened to say anything. What is missing makes a run unknown, never wrong.

use std::collections::BTreeMap;

use crate::{
    Ended, FaultSpan, Installed, Phase, Process, RoleKind, Run, Seen, SnapshotAct, Verdict,
};

const SECOND: u64 = 1_000_000_000;

pub(super) fn check(run: &Run<'_>, verdict: &mut Verdict) {
    if run.phase(Phase::Done).is_none() {
        verdict.doubt("the run did not end as planned");
    }
    faults(run, verdict);
    operations(run, verdict);
    events(run, verdict);
    harness(run, verdict);
}

/// Each class that was asked for was in force often enough, while something was going on.
fn faults(run: &Run<'_>, verdict: &mut Verdict) {
    let wanted = &run.limits.coverage;
    let returned = moments(run);
    let mut classes: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for span in run.faults.spans() {
        let class = classes.entry(&span.fault.class).or_default();
        class.0 += 1;
        class.1 += within(&returned, span);
    }
    verdict.count("fault classes", classes.len() as u64);
    verdict.count("faults", run.faults.spans().len() as u64);
    for (class, min) in &wanted.faults {
        let (times, operations) = classes.get(class.as_str()).copied().unwrap_or_default();
        if times < *min {
            verdict.doubt(format!(
                "`{class}` was in force {times} times; {min} are wanted"
            ));
        } else if operations < wanted.operations_under_each_fault {
            let min = wanted.operations_under_each_fault;
            verdict.doubt(format!(
                "{operations} operations succeeded under `{class}`; {min} are wanted"
            ));
        }
    }
}

/// When something succeeded: an operation, or a message.
fn moments(run: &Run<'_>) -> Vec<u64> {
    let operations = run.operations();
    let operations = operations
        .iter()
        .filter_map(|operation| match operation.end {
            Some((_, at, Ended::Ok(_))) => Some(at),
            Some((_, _, Ended::Fail | Ended::Unknown)) | None => None,
        });
    let heard = run
        .streams
        .iter()
        .flat_map(|stream| stream.heard.iter().map(|heard| heard.at));
    let mut moments: Vec<u64> = operations.chain(heard).collect();
    moments.sort_unstable();
    moments
}

fn within(moments: &[u64], span: &FaultSpan<'_>) -> u64 {
    let from = moments.partition_point(|at| *at < span.from);
    let to = moments.partition_point(|at| *at <= span.to);
    (to - from) as u64
}

fn operations(run: &Run<'_>, verdict: &mut Verdict) {
    let wanted = &run.limits.coverage;
    let operations = run.operations();
    let total = operations.len() as u64;
    let unknown = operations
        .iter()
        .filter(|operation| matches!(operation.end, None | Some((_, _, Ended::Unknown))));
    let unknown = unknown.count() as u64;
    verdict.count("operations", total);
    verdict.count("operations unknown", unknown);
    if total > 0 && unknown * 100 >= total * wanted.unknown_percent {
        verdict.doubt(format!("{unknown} of {total} operations ended unknown"));
    }
    warm(run, verdict);
}

/// The rate before the first fault.
fn warm(run: &Run<'_>, verdict: &mut Verdict) {
    let min = run.limits.coverage.warm_operations_per_second;
    let first = run.phase(Phase::Faults).map_or(run.end(), |(_, at)| at);
    let Some((_, warm)) = run.phase(Phase::Warm) else {
        verdict.doubt("the phase `warm` was never entered");
        return;
    };
    let moments = moments(run);
    let count = moments
        .iter()
        .filter(|at| (warm..first).contains(*at))
        .count() as u64;
    let rate = count * SECOND / first.saturating_sub(warm).max(1);
    verdict.count("operations a second before the faults", rate);
    if rate < min {
        verdict.doubt(format!(
            "{rate} operations a second before the faults; {min} are wanted"
        ));
    }
}

fn events(run: &Run<'_>, verdict: &mut Verdict) {
    let wanted = &run.limits.coverage;
    let messages: usize = run.streams.iter().map(|stream| stream.heard.len()).sum();
    let mut leaders = 0_u64;
    let mut last = None;
    let mut installs = 0;
    for (_, _, seen) in run.seen() {
        match seen {
            Seen::Role(role) if role.role == RoleKind::Leader => {
                leaders += u64::from(last.is_some_and(|last| last != role.replica));
                last = Some(role.replica);
            }
            Seen::Snapshot(snapshot) if snapshot.act == SnapshotAct::Installed => installs += 1,
            _ => {}
        }
    }
    for (name, count, min) in [
        ("messages", messages as u64, wanted.messages),
        ("leader changes", leaders, wanted.leader_changes),
        ("snapshot installs", installs, wanted.snapshot_installs),
    ] {
        verdict.count(name, count);
        if count < min {
            verdict.doubt(format!("{count} {name}; {min} are wanted"));
        }
    }
}

/// Steps that could not be done are reported; those that nobody is sure of make all unknown.
fn harness(run: &Run<'_>, verdict: &mut Verdict) {
    for (place, event) in run.events() {
        let crate::What::Seen(seen) = &event.what else {
            continue;
        };
        match seen {
            Seen::HarnessFailure(why) => verdict.doubt(format!("the harness failed: {why}")),
            Seen::FaultStart(fault) | Seen::FaultEnd(fault) => match &fault.installed {
                Installed::Yes => {}
                Installed::Skipped(why) => {
                    verdict.excuse(
                        format!("`{}` was skipped: {why}", fault.class),
                        place,
                        fault.id,
                    );
                }
                Installed::Unclear(why) => {
                    verdict.doubt(format!(
                        "whether `{}` was in force is unclear: {why}",
                        fault.class
                    ));
                }
            },
            _ => {}
        }
        if event.process == Process::Nemesis {
            verdict.count("steps of the nemesis", 1);
        }
    }
}
