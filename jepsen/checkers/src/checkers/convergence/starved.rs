//! Starvation: while nothing is wrong, a changed answer reaches each of its streams in time,
//! however busy others are.

use std::sync::Arc;

use lockstep_jepsen_model::Expected;

use crate::{Guarantee, Rev, Run, Stream, Verdict};

/// From commit to client. Unit: nanoseconds.
type Lags = Vec<u64>;

pub(super) fn check(run: &Run<'_>, verdict: &mut Verdict) {
    let Some(well) = run.well_from() else { return };
    let busy = median_changes(run);
    let (mut hot, mut idle): (Lags, Lags) = (Vec::new(), Vec::new());
    for stream in run.streams.iter().filter(|stream| stream.open.reads) {
        let answers = run.timeline.answers(&stream.open.question);
        let lags = if answers.len() > busy {
            &mut hot
        } else {
            &mut idle
        };
        for (rev, _) in answers.iter().skip(1) {
            follow(run, stream, (*rev, well), lags, verdict);
        }
    }
    let names = [
        (
            &mut hot,
            [
                "busy answers",
                "busy lag p50 ms",
                "busy lag p99 ms",
                "busy lag max ms",
            ],
        ),
        (
            &mut idle,
            [
                "idle answers",
                "idle lag p50 ms",
                "idle lag p99 ms",
                "idle lag max ms",
            ],
        ),
    ];
    for (lags, [total, p50, p99, max]) in names {
        lags.sort_unstable();
        verdict.count(total, lags.len() as u64);
        for (name, percent) in [(p50, 50), (p99, 99), (max, 100)] {
            verdict.count(name, quantile_ms(lags, percent));
        }
    }
}

/// How long one stream waited for one change of its answer, if that can be judged.
fn follow(
    run: &Run<'_>,
    stream: &Stream<'_>,
    (rev, well): (Rev, u64),
    lags: &mut Lags,
    verdict: &mut Verdict,
) {
    let older = rev.number.saturating_sub(1);
    let Some(growth) = run.commits.beyond(rev.history, older) else {
        return;
    };
    let times = &run.limits.times;
    let deadline = growth.at.saturating_add(times.converge);
    let since = growth.at.saturating_sub(times.recover);
    let listening = stream
        .heard
        .first()
        .is_some_and(|first| first.at < growth.at);
    let open = stream.over().is_none_or(|over| over > deadline);
    if !listening || !open || deadline > run.end() || growth.at < well {
        return;
    }
    if run.faults.any(since, deadline).is_some() {
        return;
    }
    let reached = stream.heard.partition_point(|heard| {
        heard
            .told
            .rev
            .is_none_or(|label| run.timeline.order(label) < run.timeline.order(rev))
    });
    match stream
        .heard
        .get(reached)
        .filter(|heard| heard.at <= deadline)
    {
        Some(heard) => lags.push(heard.at.saturating_sub(growth.at)),
        None if is_needless(run, stream, reached, rev) => {}
        None => {
            let last = reached
                .checked_sub(1)
                .and_then(|last| stream.heard.get(last));
            let at = last.map_or(stream.place, |heard| heard.place);
            let authority = &stream.open.question.authority;
            let what = format!("{authority} changed at {rev}, and a stream was not told in time");
            verdict.violate(Guarantee::Convergence, what, [growth.place, at]);
        }
    }
}

/// Whether a later change took the first one back, so that there was nothing to tell.
fn is_needless(run: &Run<'_>, stream: &Stream<'_>, reached: usize, rev: Rev) -> bool {
    let last = reached
        .checked_sub(1)
        .and_then(|last| stream.heard.get(last));
    let question = &stream.open.question;
    let told = last.and_then(|heard| run.timeline.at(question, heard.told.rev?));
    let Some(told) = told else { return true };
    let later = run.timeline.answers(question).iter();
    let mut later =
        later.filter(|(known, _)| run.timeline.order(*known) >= run.timeline.order(rev));
    later.any(|(_, answer)| is_alike(answer, told))
}

fn is_alike(one: &Arc<Expected>, other: &Arc<Expected>) -> bool {
    // Only what a client holds counts; an absent service and an empty one look the same.
    one == other || (one.set().is_some() && one.set() == other.set())
}

fn median_changes(run: &Run<'_>) -> usize {
    let streams = run.streams.iter();
    let changes = streams.map(|stream| run.timeline.answers(&stream.open.question).len());
    let mut changes: Vec<usize> = changes.collect();
    changes.sort_unstable();
    changes.get(changes.len() / 2).copied().unwrap_or_default()
}

/// The value that `percent` of the values do not exceed, in milliseconds; zero of none.
fn quantile_ms(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).map_or(0, |lag| lag / 1_000_000)
}
