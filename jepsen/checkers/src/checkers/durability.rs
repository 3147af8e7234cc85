//! C8: what anybody saw is there at the end, on every replica; and votes are not forgotten.

mod membership;
mod set;
mod votes;

use std::collections::BTreeMap;

use crate::{Final, Guarantee, Replica, Run, Seen, Verdict};

pub(super) fn check(run: &Run<'_>, verdict: &mut Verdict) {
    revisions(run, verdict);
    histories(run, verdict);
    set::check(run, verdict);
    votes::check(run, verdict);
    membership::check(run, verdict);
}

/// The last final read of each replica, with the event.
fn finals<'h>(run: &Run<'h>) -> BTreeMap<Replica, (&'h Final, usize)> {
    let finals = run.seen().filter_map(|(place, _, seen)| match seen {
        Seen::Final(last) => Some((last.replica, (last, place))),
        _ => None,
    });
    finals.collect()
}

fn revisions(run: &Run<'_>, verdict: &mut Verdict) {
    let finals = finals(run);
    for replica in run.replicas() {
        if !finals.contains_key(&replica) {
            verdict.doubt(format!("{replica} was not read at the end"));
        }
    }
    let Some((reference, _)) = finals.values().max_by_key(|(last, _)| last.rev.number) else {
        verdict.doubt("no replica was read at the end");
        return;
    };
    let history = reference.rev.history;
    let growths = run.commits.of_history(history);
    verdict.count("revisions seen", growths.len() as u64);
    for (replica, (last, place)) in &finals {
        if last.rev.history != history {
            let what = format!(
                "{replica} ends in another history than {}",
                reference.replica
            );
            verdict.violate(Guarantee::Durable, what, [*place]);
            continue;
        }
        // What the others' final reads show was seen before those reads, or in them.
        let newest = growths
            .iter()
            .rfind(|growth| growth.number > last.rev.number);
        if let Some(growth) = newest {
            let what = format!(
                "{replica} ends at {}, and r{} was seen",
                last.rev, growth.number
            );
            verdict.violate(Guarantee::Durable, what, [growth.place, *place]);
        }
    }
}

/// A history is replaced only on purpose.
fn histories(run: &Run<'_>, verdict: &mut Verdict) {
    let named: Vec<_> = run
        .commits
        .newest()
        .filter(|(rev, _)| rev.history != 0)
        .collect();
    verdict.count("histories", named.len() as u64);
    let meant = run
        .faults
        .spans()
        .iter()
        .filter(|span| span.effect().new_history);
    if named.len() > meant.count() + 1 {
        let places = named
            .iter()
            .filter_map(|(rev, _)| run.commits.of_history(rev.history).first());
        let places: Vec<usize> = places.map(|growth| growth.place).collect();
        let what = "there is another history, and nobody restored one";
        verdict.violate(Guarantee::Durable, what, places);
    }
}
