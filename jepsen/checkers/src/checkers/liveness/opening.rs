//! A stream that is opened is answered in time; and a group without a quorum still serves what
//! it has.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Claim, Effect, Guarantee, Replica, Run, Seen, Stream, Verdict};

/// Refusals that say something about the replica, not about the question.
const UNSERVED: &[&str] = &[
    "UNAVAILABLE",
    "DEADLINE_EXCEEDED",
    "INTERNAL",
    "UNKNOWN",
    "RESOURCE_EXHAUSTED",
];

pub(super) fn check(run: &Run<'_>, verdict: &mut Verdict) {
    let synced = synced(run);
    for stream in run.streams.iter().filter(|stream| stream.open.reads) {
        verdict.count("streams opened", 1);
        calm(run, stream, verdict);
        alone(run, stream, &synced, verdict);
    }
}

/// Without a fault the first message comes in time, and nobody is turned away.
fn calm(run: &Run<'_>, stream: &Stream<'_>, verdict: &mut Verdict) {
    let times = &run.limits.times;
    let deadline = stream.at + times.first_message;
    let since = stream.at.saturating_sub(times.recover);
    let judged = run.well_from().is_some_and(|well| stream.at >= well);
    if !judged || deadline > run.end() || run.faults.any(since, deadline).is_some() {
        return;
    }
    if let Some((place, _, why)) = unserved(stream) {
        let what = format!("{} turned a stream away: {why}", stream.open.replica);
        verdict.violate(Guarantee::Continuity, what, [stream.place, place]);
        return;
    }
    let told = stream.heard.first().map(|heard| heard.at);
    let over = stream.over();
    if told.or(over).is_none_or(|first| first > deadline) {
        let what = format!(
            "{} said nothing in time to a new stream",
            stream.open.replica
        );
        let evidence = stream.heard.first().map(|heard| heard.place);
        verdict.violate(
            Guarantee::WholeFirst,
            what,
            [stream.place].into_iter().chain(evidence),
        );
    }
}

/// Where no replica can be fresher, one that has state serves it.
fn alone(
    run: &Run<'_>,
    stream: &Stream<'_>,
    synced: &BTreeMap<Replica, u64>,
    verdict: &mut Verdict,
) {
    let replica = stream.open.replica;
    let Some((place, at, why)) = unserved(stream) else {
        return;
    };
    let limit = run.limits.times.fresh + run.limits.times.fresh_grace;
    let before = stream.at.saturating_sub(limit);
    let (mut cut, mut away): (BTreeSet<Replica>, BTreeSet<Replica>) = <_>::default();
    for span in run
        .faults
        .spans()
        .iter()
        .filter(|span| span.overlaps(before, at))
    {
        let effect = span.effect();
        if span.from <= before && span.to >= at {
            cut.extend(&effect.isolated);
            cut.extend(effect.down.iter().chain(&effect.paused));
        }
        away.extend(disabled(effect));
    }
    let all = run.replicas();
    let has_state = synced.get(&replica).is_some_and(|since| *since < stream.at);
    if has_state && !away.contains(&replica) && all.is_subset(&cut) {
        let what = format!("{replica} turned a stream away while no replica can be fresher: {why}");
        verdict.violate(Guarantee::FreshOrSaysSo, what, [stream.place, place]);
    }
}

/// Whoever cannot be asked at all, or may have lost its state.
fn disabled(effect: &Effect) -> impl Iterator<Item = Replica> {
    let sets = [
        &effect.down,
        &effect.paused,
        &effect.clientless,
        &effect.damaged,
    ];
    sets.into_iter().flatten().copied()
}

fn unserved<'h>(stream: &Stream<'h>) -> Option<(usize, u64, &'h str)> {
    let refused = stream.refused;
    refused.filter(|(_, _, why)| UNSERVED.iter().any(|code| why.contains(code)))
}

/// Since when each replica is known to have state.
fn synced(run: &Run<'_>) -> BTreeMap<Replica, u64> {
    let mut synced = BTreeMap::new();
    for (_, at, seen) in run.seen() {
        let replica = match seen {
            Seen::Claim(Claim {
                replica,
                rev: Some(rev),
                ..
            }) if rev.number > 0 => *replica,
            Seen::Digest(observed) if observed.rev.number > 0 => observed.replica,
            _ => continue,
        };
        synced.entry(replica).or_insert(at);
    }
    synced
}
