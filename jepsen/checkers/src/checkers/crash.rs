//! C12: nothing crashes that nobody killed.

use crate::{Guarantee, LifeState, Process, Replica, Run, Seen, Verdict, What};

/// What a replica writes when something is badly wrong.
const SUSPICIOUS: &[&str] = &[
    "panicked at",
    "Fatal",
    "AddressSanitizer",
    "ThreadSanitizer",
    "stack overflow",
    "double free",
    "SIGSEGV",
    "assertion failed",
    "assertion `",
];

/// Whether a line of a log belongs into a history.
#[must_use]
pub fn is_suspicious(line: &str) -> bool {
    SUSPICIOUS.iter().any(|mark| line.contains(mark))
}

pub(super) fn check(run: &Run<'_>, verdict: &mut Verdict) {
    for (place, event) in run.events() {
        match &event.what {
            What::Seen(Seen::LogLine(line)) if is_suspicious(line) => {
                let replica = match event.process {
                    Process::Observer(replica) => replica.to_string(),
                    Process::Client(_) | Process::Stream(_) | Process::Nemesis => {
                        "a replica".into()
                    }
                };
                let what = format!("{replica} wrote: {line}");
                verdict.violate(Guarantee::Continuity, what, [place]);
            }
            What::Seen(Seen::Life(life)) => {
                verdict.count("changes of life", 1);
                let at = (place, event.at);
                match life.state {
                    LifeState::Down(code) => ended(run, verdict, (life.replica, code), at),
                    LifeState::Quarantined => quarantined(run, verdict, life.replica, at),
                    LifeState::Up | LifeState::Paused => {}
                }
            }
            What::Seen(_) | What::Invoke(_) | What::Ok(_) | What::Fail(..) | What::Unknown(..) => {}
        }
    }
    if !verdict.counts.contains_key("changes of life") {
        verdict.doubt("no replica's process was watched");
    }
}

/// An end is excused by whoever killed the replica, damaged it, or stopped the run.
fn ended(
    run: &Run<'_>,
    verdict: &mut Verdict,
    (replica, code): (Replica, Option<i32>),
    (place, at): (usize, u64),
) {
    let since = at.saturating_sub(run.limits.times.recover);
    let what = match code {
        Some(code) => format!("{replica} ended with {code}"),
        None => format!("{replica} was ended by a signal"),
    };
    let spans = run.faults.spans().iter();
    let mut killing = spans.filter(|span| {
        let effect = span.effect();
        span.overlaps(since, at)
            && (effect.down.contains(&replica) || effect.damaged.contains(&replica))
    });
    let settled = run
        .phase(crate::Phase::Done)
        .is_some_and(|(done, _)| done < place);
    match killing.next() {
        Some(span) => verdict.excuse(what, place, span.fault.id),
        None if settled => {}
        None => verdict.violate(Guarantee::Continuity, what, [place]),
    }
}

/// A replica that finds itself damaged or divergent was damaged by a fault, or is.
fn quarantined(run: &Run<'_>, verdict: &mut Verdict, replica: Replica, (place, at): (usize, u64)) {
    let what = format!("{replica} found itself damaged or divergent");
    let mut spans = run.faults.spans().iter();
    // Damage is noticed when it is read, perhaps long after.
    let damage = spans.find(|span| span.from <= at && span.effect().damaged.contains(&replica));
    match damage {
        Some(span) => verdict.excuse(what, place, span.fault.id),
        None => verdict.violate(Guarantee::Durable, what, [place]),
    }
}
