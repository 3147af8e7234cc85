//! C10: the group heals and in time, serves while it can, and nobody's stream ends for the fault
//! of others.

mod healed;
mod opening;

use crate::{EndedBy, Guarantee, RoleKind, Run, Seen, Verdict};

pub(super) fn check(run: &Run<'_>, verdict: &mut Verdict) {
    healed::check(run, verdict);
    opening::check(run, verdict);
    ends(run, verdict);
    hand_over(run, verdict);
    gaps(run, verdict);
}

/// A stream ends when its client wants it to, or when its own replica is disturbed.
fn ends(run: &Run<'_>, verdict: &mut Verdict) {
    for stream in run.streams.iter().filter(|stream| stream.open.reads) {
        let Some((place, at, end)) = stream.end.filter(|(_, _, end)| end.by != EndedBy::Client)
        else {
            continue;
        };
        verdict.count("streams ended by replicas", 1);
        let replica = stream.open.replica;
        let since = at.saturating_sub(run.limits.times.recover);
        let what = format!("a stream of {replica} ended with {}", end.code);
        let done = run
            .phase(crate::Phase::Settled)
            .is_some_and(|(settled, _)| settled < place);
        match run.faults.touching(replica, since, at) {
            Some(span) => verdict.excuse(what, place, span.fault.id),
            None if done || run.well_from().is_none_or(|well| at < well) => {}
            None => {
                let what = format!("{what}, and nobody disturbed {replica}");
                verdict.violate(Guarantee::Continuity, what, [stream.place, place]);
            }
        }
    }
}

/// I6d: a leader that cannot reach the source while others can hands leadership over.
fn hand_over(run: &Run<'_>, verdict: &mut Verdict) {
    let limit = run.limits.times.source_fresh + run.limits.times.recover;
    for span in run.faults.spans() {
        let without = &span.effect().sourceless;
        let deadline = span.from.saturating_add(limit);
        let alone = !without.is_empty() && !run.replicas().is_subset(without);
        let others = run
            .faults
            .spans()
            .iter()
            .filter(|other| other.place != span.place);
        let mut others = others.filter(|other| other.overlaps(span.from, deadline));
        if !alone || deadline >= span.to.min(run.end()) || others.next().is_some() {
            continue;
        }
        verdict.count("times without source", 1);
        let mut leaders = run.seen().rev().filter_map(|(place, at, seen)| match seen {
            Seen::Role(role) if role.role == RoleKind::Leader && at <= deadline => {
                Some((role.replica, place))
            }
            _ => None,
        });
        if let Some((leader, place)) = leaders
            .next()
            .filter(|(leader, _)| without.contains(leader))
        {
            let what = format!("{leader} cannot reach the source and kept leading");
            verdict.violate(Guarantee::Continuity, what, [span.place, place]);
        }
    }
}

/// The longest times without a new revision, with faults and without.
fn gaps(run: &Run<'_>, verdict: &mut Verdict) {
    let (mut calm, mut disturbed) = (0, 0);
    for (rev, _) in run.commits.newest() {
        for pair in run.commits.of_history(rev.history).windows(2) {
            let [one, next] = pair else { continue };
            let gap = (next.at - one.at) / 1_000_000;
            match run.faults.any(one.at, next.at) {
                Some(_) => disturbed = gap.max(disturbed),
                None => calm = gap.max(calm),
            }
        }
    }
    verdict.count("longest gap between revisions, calm, ms", calm);
    verdict.count("longest gap between revisions, disturbed, ms", disturbed);
}
