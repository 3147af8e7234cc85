//! How long things took, from the write at the API server to the client that was told.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use lockstep_jepsen_checkers::{Call, Ended, OperationSpan, Run, Seen, Written};
use lockstep_jepsen_model::{Cluster, Kind, Message, ObjectKey};

use crate::clock::real;
use crate::plot::{Colour, Mark, Plot, Series, seconds, shades, time_axis};
use crate::quantiles::Quantiles;
use crate::scale::Scale;

/// When something ended, and how long it took. Unit: nanoseconds.
type Took = (u64, u64);

pub(crate) fn plot(run: &Run<'_>) -> Plot {
    let operations = run.operations();
    let ok = |it: &OperationSpan<'_>| matches!(it.end, Some((_, _, Ended::Ok(_))));
    let series = vec![
        drawn(run, "proposed to committed", Colour::A, committing(run)),
        drawn(run, "committed to told", Colour::B, telling(run)),
        drawn(run, "written to told", Colour::C, end_to_end(run)),
        drawn(run, "operations, ok", Colour::D, taking(&operations, ok)),
        drawn(
            run,
            "operations, failed or unknown",
            Colour::Bad,
            taking(&operations, |it| it.end.is_some() && !ok(it)),
        ),
    ];
    let values = series
        .iter()
        .flat_map(|it| it.points.iter().map(|(_, y)| *y));
    Plot {
        title: "Latency",
        x: time_axis(run),
        y: (Scale::lengths(values), "took"),
        shades: shades(run),
        limit: Vec::new(),
        series,
    }
}

fn drawn(run: &Run<'_>, name: &str, colour: Colour, took: Vec<Took>) -> Series {
    let quantiles = Quantiles::of(took.iter().map(|(_, took)| *took).collect());
    let says = quantiles.map_or("none".to_owned(), |it| it.shown());
    let points = took
        .iter()
        .map(|(at, took)| (seconds(run, *at), real(*took)));
    Series {
        name: format!("{name}: {says}"),
        colour,
        mark: Mark::Dots,
        points: points.collect(),
    }
}

fn committing(run: &Run<'_>) -> Vec<Took> {
    let acks = run.seen().filter_map(|(_, at, seen)| match seen {
        Seen::Ack(ack) => Some((at, at.saturating_sub(ack.proposed_at))),
        _ => None,
    });
    acks.collect()
}

/// From the first sight of a revision to each client that is told of it; what a stream is told
/// first is not news.
pub(crate) fn telling(run: &Run<'_>) -> Vec<Took> {
    let mut took = Vec::new();
    for stream in &run.streams {
        for heard in stream.heard.iter().skip(1) {
            let Some(rev) = heard.told.rev else { continue };
            let before = rev.number.saturating_sub(1);
            let first = run.commits.beyond(rev.history, before);
            took.extend(first.map(|first| (heard.at, heard.at.saturating_sub(first.at))));
        }
    }
    took
}

/// From the begin of the newest write of an address to each client that is told of it as news.
fn end_to_end(run: &Run<'_>) -> Vec<Took> {
    let written = written(run);
    let mut took = Vec::new();
    for stream in &run.streams {
        let mut told: BTreeSet<IpAddr> = BTreeSet::new();
        for (number, heard) in stream.heard.iter().enumerate() {
            let Message::Add { endpoints, .. } = &heard.told.message else {
                continue;
            };
            for address in endpoints.keys() {
                let is_news = told.insert(address.ip()) && number > 0;
                let times = written.get(&address.ip()).filter(|_| is_news);
                let newest = times.and_then(|times| times.range(..=heard.at).next_back());
                took.extend(newest.map(|newest| (heard.at, heard.at - newest)));
            }
        }
    }
    took
}

/// When each address was written into a slice. Unit: nanoseconds.
fn written(run: &Run<'_>) -> BTreeMap<IpAddr, BTreeSet<u64>> {
    let mut written: BTreeMap<IpAddr, BTreeSet<u64>> = BTreeMap::new();
    let mut known: BTreeMap<ObjectKey, BTreeSet<IpAddr>> = BTreeMap::new();
    for operation in run.operations() {
        let Call::TruthWrite(write) = operation.call else {
            continue;
        };
        for object in &write.writes {
            let Written::Put(object) = object else {
                continue;
            };
            let Ok(key) = ObjectKey::of(object) else {
                continue;
            };
            if key.kind != Kind::EndpointSlice {
                continue;
            }
            let shown = Cluster::exposed(object).into_iter().map(|it| it.ip);
            let shown: BTreeSet<IpAddr> = shown.collect();
            let before = known.insert(key, shown.clone()).unwrap_or_default();
            // An address that the slice had already is no news of this write.
            for ip in shown.difference(&before) {
                written.entry(*ip).or_default().insert(operation.from);
            }
        }
    }
    written
}

fn taking(
    operations: &[OperationSpan<'_>],
    wanted: impl Fn(&OperationSpan<'_>) -> bool,
) -> Vec<Took> {
    let wanted = operations.iter().filter(|it| wanted(it));
    let took = wanted.filter_map(|it| {
        let (_, at, _) = it.end?;
        Some((at, at.saturating_sub(it.from)))
    });
    took.collect()
}
