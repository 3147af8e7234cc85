//! C7: the log obeys its own rules: one voice for each term, revisions that stand for changes,
//! relists that come whole, and a source that never goes back.

mod source;

use crate::{Committed, Guarantee, Payload, Replica, Run, Seen, Verdict};

pub(super) fn check(run: &Run<'_>, verdict: &mut Verdict) {
    let entries = run.timeline.entries();
    if entries.is_empty() {
        verdict.doubt("no entry of the log was seen");
        return;
    }
    if let Some(index) = run.timeline.gap() {
        verdict.doubt(format!("entry {index} of the log was not seen"));
        return;
    }
    verdict.count("entries", entries.len() as u64);
    for pair in entries.windows(2) {
        if let [before, entry] = pair {
            terms(before, entry, verdict);
            revisions(before, entry, verdict);
        }
    }
    source::check(run, verdict);
    watchers(run, verdict);
}

fn terms(before: &Committed<'_>, now: &Committed<'_>, verdict: &mut Verdict) {
    if now.entry.term < before.entry.term {
        let what = format!(
            "entry {} is of term {}, the one before it of term {}",
            now.entry.index, now.entry.term, before.entry.term
        );
        verdict.violate(Guarantee::OneVoice, what, [before.place, now.place]);
    }
}

/// A revision moves by one, with an accepted batch that changes something, when it is complete.
fn revisions(before: &Committed<'_>, now: &Committed<'_>, verdict: &mut Verdict) {
    let (old, new) = (before.entry.rev, now.entry.rev);
    let index = now.entry.index;
    let evidence = [before.place, now.place];
    if old.history != new.history {
        verdict.count("histories", 1);
        return;
    }
    if new.number == old.number {
        if now.changed {
            let what = format!("entry {index} changes content and makes no revision");
            verdict.violate(Guarantee::Agreement, what, evidence);
        }
        return;
    }
    verdict.count("revisions", 1);
    if new.number != old.number + 1 {
        let what = format!("entry {index} takes the revision from {old} to {new}");
        verdict.violate(Guarantee::Agreement, what, evidence);
    }
    let (guarantee, what) = match &now.entry.payload {
        Payload::Batch { term, .. } if *term != now.entry.term => (
            Guarantee::OneVoice,
            format!(
                "entry {index} of term {} holds a batch of term {term}, and it was taken",
                now.entry.term
            ),
        ),
        Payload::Batch { part, .. } if !part.is_last() => (
            Guarantee::NoFalseWithdrawal,
            format!(
                "part {} of {} in entry {index} is visible alone",
                part.number, part.of
            ),
        ),
        Payload::Batch { .. } if now.changed => return,
        Payload::Batch { .. } => (
            Guarantee::NoChurn,
            format!("entry {index} changes nothing and makes a revision"),
        ),
        Payload::Blank | Payload::Membership(_) => (
            Guarantee::Agreement,
            format!("entry {index} holds no batch and makes a revision"),
        ),
    };
    verdict.violate(guarantee, what, evidence);
}

/// Two replicas may both watch for a moment, when leadership moves.
fn watchers(run: &Run<'_>, verdict: &mut Verdict) {
    let mut since: Option<(u64, usize, &[Replica])> = None;
    for (place, at, seen) in run.seen() {
        let Seen::Watches(replicas) = seen else {
            continue;
        };
        verdict.count("looks at the watches", 1);
        since = match since {
            _ if replicas.len() < 2 => None,
            Some(since) if since.2 == replicas.as_slice() => Some(since),
            Some(_) | None => Some((at, place, replicas)),
        };
        let limit = run.limits.times.two_watchers;
        let Some((from, first, both)) = since.filter(|(from, ..)| at - from > limit) else {
            continue;
        };
        // A replica that is cut off may not have noticed yet.
        match run
            .faults
            .any(from.saturating_sub(run.limits.times.recover), at)
        {
            Some(span) => verdict.excuse("several replicas watch", place, span.fault.id),
            None => {
                let what = format!("{} replicas watch the source at once", both.len());
                verdict.violate(Guarantee::OneVoice, what, [first, place]);
                since = None;
            }
        }
    }
}
