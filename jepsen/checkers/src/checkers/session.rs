//! C3: nobody is taken back. A new stream begins no earlier than what its client has seen, than
//! its token, and than everything that was committed before it was opened.
//!
//! A stream that is marked stale may be older, but only while a fault explains the mark.

use std::collections::BTreeMap;

use crate::{Guarantee, Rev, Run, Stream, Verdict};

/// The newest revision that something vouches for, and the event that shows it.
type Floor = (Rev, usize);

pub(super) fn check(run: &Run<'_>, verdict: &mut Verdict) {
    let seen = seen_by_clients(run);
    for stream in &run.streams {
        let Some((first, place)) = first_label(stream) else {
            continue;
        };
        verdict.count("streams", 1);
        if stream
            .heard
            .first()
            .is_some_and(|heard| heard.place == place)
        {
            token(stream, first, place, verdict);
        }
        let stale = stream.is_marked_stale();
        if stale && !is_excused(run, stream, verdict) {
            continue;
        }
        let client = seen.get(&stream.open.client).map(Vec::as_slice);
        let client = client.and_then(|seen| newest_before(seen, stream.place, first.history));
        let growth = run.commits.by(first.history, stream.at);
        let committed = growth.map(|growth| (Rev::new(first.history, growth.number), growth.place));
        let floors = [
            (client, "its client has seen"),
            (committed, "was committed before"),
        ];
        for (floor, why) in floors {
            match floor.filter(|(floor, _)| first.number < floor.number) {
                Some(_) if stale => verdict.count("older, and marked stale", 1),
                Some((floor, at)) => {
                    let what = format!("a stream begins at {first}, and {floor} {why}");
                    verdict.violate(Guarantee::Monotonic, what, [at, stream.place, place]);
                }
                None => {}
            }
        }
    }
    if verdict.counts.get("streams").is_none_or(|count| *count < 2) {
        verdict.doubt("fewer than two streams have labels");
    }
}

fn first_label(stream: &Stream<'_>) -> Option<Floor> {
    let message = stream
        .heard
        .first()
        .and_then(|heard| Some((heard.told.rev?, heard.place)));
    let headers = stream
        .opened
        .and_then(|(place, _, opened)| Some((opened.rev?, place)));
    message.or(headers)
}

fn token(stream: &Stream<'_>, first: Rev, place: usize, verdict: &mut Verdict) {
    let Some(min) = stream.open.min.filter(|min| min.history == first.history) else {
        return;
    };
    verdict.count("tokens", 1);
    if first.number < min.number {
        let what = format!("a stream begins at {first}, and its token asks for {min}");
        verdict.violate(Guarantee::Monotonic, what, [stream.place, place]);
    }
}

/// Whether a fault explains that the replica calls itself stale.
fn is_excused(run: &Run<'_>, stream: &Stream<'_>, verdict: &mut Verdict) -> bool {
    let until = stream.heard.first().map_or(stream.at, |heard| heard.at);
    let since = stream.at.saturating_sub(run.limits.times.recover);
    let what = format!("{} calls itself stale", stream.open.replica);
    if let Some(span) = run.faults.any(since, until) {
        verdict.excuse(what, stream.place, span.fault.id);
        return true;
    }
    if run.well_from().is_none_or(|well| since < well) {
        verdict.count("stale before the group was well", 1);
        return true;
    }
    let what = format!("{what}, and no fault explains it");
    verdict.violate(Guarantee::FreshOrSaysSo, what, [stream.place]);
    false
}

/// What each client has seen, in order.
fn seen_by_clients(run: &Run<'_>) -> BTreeMap<u64, Vec<Floor>> {
    let mut seen: BTreeMap<u64, Vec<Floor>> = BTreeMap::new();
    for stream in &run.streams {
        let of_client = seen.entry(stream.open.client).or_default();
        let labels = stream
            .heard
            .iter()
            .filter_map(|heard| Some((heard.told.rev?, heard.place)));
        of_client.extend(labels);
    }
    for of_client in seen.values_mut() {
        of_client.sort_unstable_by_key(|(_, place)| *place);
        // What was seen stays seen: from here on each carries the newest of its history.
        let mut newest: BTreeMap<u128, Floor> = BTreeMap::new();
        for floor in of_client {
            let known = newest.entry(floor.0.history).or_insert(*floor);
            if known.0.number < floor.0.number {
                *known = *floor;
            }
            *floor = (known.0, floor.1);
        }
    }
    seen
}

/// The newest revision of a history that was seen before an event.
fn newest_before(seen: &[Floor], place: usize, history: u128) -> Option<Floor> {
    let before = seen.partition_point(|(_, at)| *at < place);
    let mut before = seen.get(..before)?.iter().rev();
    before.find(|(rev, _)| rev.history == history).copied()
}
