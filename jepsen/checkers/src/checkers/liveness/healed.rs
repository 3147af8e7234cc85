//! After the last fault there is a leader, the source is followed, and every replica is fresh.

use std::collections::BTreeSet;

use crate::{Guarantee, Operation, Phase, Replica, Return, RoleKind, Run, Seen, Verdict, What};

pub(super) fn check(run: &Run<'_>, verdict: &mut Verdict) {
    let Some((place, healed)) = run.phase(Phase::Healed) else {
        verdict.doubt("the phase `healed` was never entered");
        return;
    };
    leader(run, (place, healed), verdict);
    ingest(run, (place, healed), verdict);
    fresh(run, (place, healed), verdict);
}

/// Whoever led last still leads, or another one does in time.
fn leader(run: &Run<'_>, (place, healed): (usize, u64), verdict: &mut Verdict) {
    let deadline = healed + run.limits.times.leader;
    let mut leading: Option<Replica> = None;
    for (_, at, seen) in run.seen() {
        if at > deadline {
            break;
        }
        match seen {
            Seen::Role(role) if role.role == RoleKind::Leader => leading = Some(role.replica),
            Seen::Role(role) if leading == Some(role.replica) => leading = None,
            // An acknowledgement after the healing shows who leads.
            Seen::Ack(ack) if at >= healed => leading = Some(ack.replica),
            _ => {}
        }
    }
    if leading.is_none() && deadline <= run.end() {
        let what = "there is no leader in time after the last fault";
        verdict.violate(Guarantee::Continuity, what, [place]);
    }
}

/// Something was written to Kubernetes, and a revision came of it in time.
fn ingest(run: &Run<'_>, (place, healed): (usize, u64), verdict: &mut Verdict) {
    let times = &run.limits.times;
    let ready = healed + times.leader;
    let written = run.events().find_map(|(place, event)| match &event.what {
        What::Ok(returned) if event.at >= ready => match returned {
            Return::TruthWrite(_) => Some((place, event.at)),
            Return::Open(_)
            | Return::Read { .. }
            | Return::Write { .. }
            | Return::Cas { .. }
            | Return::Add { .. } => None,
        },
        What::Ok(_) | What::Invoke(_) | What::Fail(..) | What::Unknown(..) | What::Seen(_) => None,
    });
    let Some((write, at)) = written else {
        verdict.doubt("nothing was written to Kubernetes after the last fault");
        return;
    };
    // A write may change nothing that anybody is told; a run writes more than one.
    let deadline = at + times.ingest;
    let grows = run.commits.newest().any(|(rev, _)| {
        let growths = run.commits.of_history(rev.history).iter();
        growths
            .into_iter()
            .any(|growth| (healed..=deadline).contains(&growth.at))
    });
    if !grows && deadline <= run.end() {
        let what = "nothing that was written after the last fault was committed in time";
        verdict.violate(Guarantee::Continuity, what, [place, write]);
    }
}

fn fresh(run: &Run<'_>, (place, healed): (usize, u64), verdict: &mut Verdict) {
    let deadline = healed + run.limits.times.recover;
    let mut fresh: BTreeSet<Replica> = BTreeSet::new();
    for (_, at, seen) in run.seen() {
        match seen {
            Seen::Claim(claim) if claim.asked_at >= healed && claim.fresh && at <= deadline => {
                fresh.insert(claim.replica);
            }
            _ => {}
        }
    }
    if deadline > run.end() {
        verdict.doubt("the run ended before the group had time to recover");
        return;
    }
    for replica in run.replicas().difference(&fresh) {
        let what = format!("{replica} did not say that it is fresh in time after the last fault");
        verdict.violate(Guarantee::Continuity, what, [place]);
    }
    unanswered(run, deadline, verdict);
}

/// After the group has recovered every operation ends, and well.
fn unanswered(run: &Run<'_>, deadline: u64, verdict: &mut Verdict) {
    for (place, event) in run.events().filter(|(_, event)| event.at > deadline) {
        if let What::Unknown(operation, why) = &event.what {
            let begun = run.history.events().get(..place).unwrap_or_default();
            let begun = begun.iter().rfind(|before| before.process == event.process);
            if begun.is_some_and(|begun| begun.at > deadline) && *operation != Operation::Open {
                let what = format!("{operation:?} after the last fault ended unknown: {why}");
                verdict.violate(Guarantee::Continuity, what, [place]);
            }
        }
    }
}
