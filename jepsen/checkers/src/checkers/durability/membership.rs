//! No two disjoint quorums: each configuration shares one with the configuration before it.

use std::collections::BTreeSet;

use crate::{Committed, Guarantee, Payload, Run, Verdict};

pub(super) fn check(run: &Run<'_>, verdict: &mut Verdict) {
    let mut last: Option<(&Committed<'_>, &[BTreeSet<u64>])> = None;
    for committed in run.timeline.entries() {
        let Payload::Membership(configs) = &committed.entry.payload else {
            continue;
        };
        verdict.count("memberships", 1);
        if let Some((before, old)) = last.filter(|(_, old)| !follows(old, configs)) {
            let what = format!("the voters went from {old:?} to {configs:?} in one step");
            verdict.violate(Guarantee::Durable, what, [before.place, committed.place]);
        }
        last = Some((committed, configs));
    }
}

/// Whether a majority of the one always meets a majority of the other: they share a set of
/// voters, or their only sets differ by one voter.
fn follows(old: &[BTreeSet<u64>], new: &[BTreeSet<u64>]) -> bool {
    let shared = new.iter().any(|config| old.contains(config));
    let close = match (old, new) {
        ([old], [new]) => old.symmetric_difference(new).count() <= 1,
        _ => false,
    };
    // The very first configuration may be empty: nobody has voted yet.
    shared || close || old.iter().all(BTreeSet::is_empty)
}
