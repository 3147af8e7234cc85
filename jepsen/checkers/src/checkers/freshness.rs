//! C6: who says that it is fresh is fresh, and who is not says so, on every surface alike.
//!
//! A claim was made at some moment between the question and the answer. Each rule below holds
//! for every such moment, so a violation is one whichever it was.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Claim, FaultSpan, Guarantee, LifeState, Replica, Run, Seen, Surface, Verdict};

/// A claim, the event that holds it, and when the answer came.
struct Claimed {
    claim: Claim,
    place: usize,
    at: u64,
}

/// When a replica did not run: from, to.
type Pause = (Replica, u64, u64);

/// When a replica's process changed.
type Lives = BTreeMap<Replica, BTreeSet<u64>>;

/// Headers round an age down to whole milliseconds.
const HEADER_UNIT: u64 = 1_000_000;

pub(super) fn check(run: &Run<'_>, verdict: &mut Verdict) {
    let claims = claims(run);
    let pauses = pauses(run);
    let lives = lives(run);
    for claimed in &claims {
        verdict.count("claims", 1);
        sound(run, claimed, verdict);
        honest(run, claimed, verdict);
        not_from_a_pause(&pauses, claimed, verdict);
        recovered(run, &lives, claimed, verdict);
    }
    for span in run.faults.spans() {
        cut_off(run, span, &claims, verdict);
        silent(run, span, &claims, verdict);
    }
    let surfaces: BTreeSet<Surface> = claims.iter().map(|it| it.claim.surface).collect();
    verdict.count("surfaces", surfaces.len() as u64);
    if claims.is_empty() {
        verdict.doubt("no replica said how fresh it is");
    }
}

fn claims(run: &Run<'_>) -> Vec<Claimed> {
    let own = run.seen().filter_map(|(place, at, seen)| match seen {
        Seen::Claim(claim) => Some(Claimed {
            claim: claim.clone(),
            place,
            at,
        }),
        _ => None,
    });
    let headers = run.streams.iter().filter_map(|stream| {
        let (place, at, opened) = stream.opened?;
        let claim = Claim {
            replica: stream.open.replica,
            surface: Surface::Headers,
            asked_at: stream.at,
            fresh: !opened.stale?,
            source_fresh: None,
            ready: None,
            rev: opened.rev,
            age: opened.age_ms.map(|age| (age + 1) * HEADER_UNIT),
        };
        Some(Claimed { claim, place, at })
    });
    own.chain(headers).collect()
}

/// F1: a fresh replica has applied all that was committed before the limit.
fn sound(run: &Run<'_>, claimed: &Claimed, verdict: &mut Verdict) {
    let claim = &claimed.claim;
    let limit = run.limits.times.fresh;
    if !claim.fresh {
        return;
    }
    // Headers carry one unit more than the replica said.
    let rounded = if claim.surface == Surface::Headers {
        HEADER_UNIT
    } else {
        0
    };
    if let Some(age) = claim.age.filter(|age| *age > limit + rounded) {
        let what = format!(
            "{} says that it is fresh, at an age of {age} ns",
            claim.replica
        );
        verdict.violate(Guarantee::FreshOrSaysSo, what, [claimed.place]);
    }
    let Some(rev) = claim.rev else { return };
    verdict.count("fresh claims with a revision", 1);
    let before = claim.asked_at.checked_sub(limit);
    let committed = before.and_then(|before| run.commits.by(rev.history, before));
    if let Some(growth) = committed.filter(|growth| growth.number > rev.number) {
        let what = format!(
            "{} says that it is fresh at {rev}, and r{} was committed before the limit",
            claim.replica, growth.number
        );
        verdict.violate(
            Guarantee::FreshOrSaysSo,
            what,
            [growth.place, claimed.place],
        );
    }
}

/// The claimed age is not below the true one.
fn honest(run: &Run<'_>, claimed: &Claimed, verdict: &mut Verdict) {
    let claim = &claimed.claim;
    let (Some(rev), Some(age)) = (claim.rev, claim.age) else {
        return;
    };
    verdict.count("ages", 1);
    let as_of = claim.asked_at.checked_sub(age);
    let committed = as_of.and_then(|as_of| run.commits.by(rev.history, as_of));
    if let Some(growth) = committed.filter(|growth| growth.number > rev.number) {
        let what = format!(
            "{} claims an age of {age} ns at {rev}, and r{} is older than that",
            claim.replica, growth.number
        );
        verdict.violate(
            Guarantee::FreshOrSaysSo,
            what,
            [growth.place, claimed.place],
        );
    }
}

/// F4: nobody learns anything while it is paused.
fn not_from_a_pause(pauses: &[Pause], claimed: &Claimed, verdict: &mut Verdict) {
    let claim = &claimed.claim;
    let Some(age) = claim.age.filter(|_| claim.fresh) else {
        return;
    };
    let earliest = claim.asked_at.saturating_sub(age);
    let latest = claimed.at.saturating_sub(age);
    let mut pauses = pauses
        .iter()
        .filter(|(replica, ..)| *replica == claim.replica);
    if pauses.any(|(_, from, to)| *from < earliest && latest < *to) {
        let what = format!(
            "{} says that it was fresh while it was paused",
            claim.replica
        );
        verdict.violate(Guarantee::FreshOrSaysSo, what, [claimed.place]);
    }
}

fn pauses(run: &Run<'_>) -> Vec<Pause> {
    let mut pauses: Vec<Pause> = Vec::new();
    for (_, at, seen) in run.seen() {
        let Seen::Life(life) = seen else { continue };
        let open = pauses
            .iter_mut()
            .rev()
            .find(|(replica, ..)| *replica == life.replica);
        let open = open.filter(|(_, _, to)| *to == u64::MAX);
        match (&life.state, open) {
            (LifeState::Paused, None) => pauses.push((life.replica, at, u64::MAX)),
            (LifeState::Up | LifeState::Down(_), Some(open)) => open.2 = at,
            (LifeState::Paused, Some(_)) | (LifeState::Up | LifeState::Down(_), None) => {}
            (LifeState::Quarantined, _) => {}
        }
    }
    pauses
}

/// F3: with nothing wrong for long enough, a replica is fresh.
fn recovered(run: &Run<'_>, lives: &Lives, claimed: &Claimed, verdict: &mut Verdict) {
    let claim = &claimed.claim;
    let since = claim.asked_at.saturating_sub(run.limits.times.recover);
    if claim.fresh || run.well_from().is_none_or(|well| claim.asked_at < well) {
        return;
    }
    let what = format!("{} says that it is stale", claim.replica);
    match run.faults.any(since, claimed.at) {
        Some(span) => verdict.excuse(what, claimed.place, span.fault.id),
        None if is_young(lives, claim.replica, since, claimed.at) => {}
        None => {
            let what = format!("{what}, and nothing is wrong");
            verdict.violate(Guarantee::FreshOrSaysSo, what, [claimed.place]);
        }
    }
}

/// Whether a replica's process changed between two moments.
fn is_young(lives: &Lives, replica: Replica, since: u64, until: u64) -> bool {
    let changes = lives.get(&replica);
    changes.is_some_and(|changes| changes.range(since..=until).next().is_some())
}

fn lives(run: &Run<'_>) -> Lives {
    let mut lives = Lives::new();
    for (_, at, seen) in run.seen() {
        if let Seen::Life(life) = seen {
            lives.entry(life.replica).or_default().insert(at);
        }
    }
    lives
}

/// F2: who is cut off says so after the limit.
fn cut_off(run: &Run<'_>, span: &FaultSpan<'_>, claims: &[Claimed], verdict: &mut Verdict) {
    let times = &run.limits.times;
    let from = span.from.saturating_add(times.fresh + times.fresh_grace);
    for replica in &span.effect().isolated {
        let there = claims
            .iter()
            .filter(|claimed| claimed.claim.replica == *replica);
        let mut there = there
            .filter(|claimed| claimed.claim.asked_at > from && claimed.at < span.to)
            .peekable();
        let long = from < span.to.min(run.end());
        if long && there.peek().is_none() && !is_down(run, *replica, from, span.to) {
            let fault = span.fault.id;
            verdict.doubt(format!(
                "{replica} was cut off by fault {fault}, and not asked then"
            ));
        }
        for claimed in there {
            verdict.count("claims of the cut off", 1);
            if claimed.claim.fresh {
                let what = format!(
                    "{replica} is cut off and says that it is fresh ({:?})",
                    claimed.claim.surface
                );
                verdict.violate(Guarantee::FreshOrSaysSo, what, [span.place, claimed.place]);
            }
        }
    }
}

/// Whether a replica cannot be asked at some moment of a time: it is killed, paused or out of
/// reach.
fn is_down(run: &Run<'_>, replica: Replica, from: u64, to: u64) -> bool {
    let mut spans = run.faults.spans().iter();
    spans.any(|span| {
        let effect = span.effect();
        let away = [&effect.down, &effect.paused, &effect.clientless];
        span.overlaps(from, to) && away.iter().any(|set| set.contains(&replica))
    })
}

/// F5: who has a silent source says so after its limit, on every replica.
fn silent(run: &Run<'_>, span: &FaultSpan<'_>, claims: &[Claimed], verdict: &mut Verdict) {
    let times = &run.limits.times;
    // The age of the source travels with the probe, which may be as old as the limit.
    let delay = times.source_fresh + times.fresh + times.fresh_grace;
    let from = span.from.saturating_add(delay);
    if !span.effect().source_silent || from >= span.to.min(run.end()) {
        return;
    }
    let asked = claims
        .iter()
        .filter(|claimed| claimed.claim.asked_at > from && claimed.at < span.to);
    let mut seen = 0;
    for claimed in asked {
        let Some(fresh) = claimed.claim.source_fresh else {
            continue;
        };
        seen += 1;
        if fresh {
            let what = format!(
                "{} has a silent source and calls it fresh",
                claimed.claim.replica
            );
            verdict.violate(Guarantee::FreshOrSaysSo, what, [span.place, claimed.place]);
        }
    }
    verdict.count("claims of a silent source", seen);
    if seen == 0 {
        let fault = span.fault.id;
        verdict.doubt(format!(
            "the source was silent by fault {fault}, and nobody was asked then"
        ));
    }
}
