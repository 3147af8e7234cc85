//! How far each replica, and the source, were behind.
//!
//! A replica's lag is the age of the oldest revision that was known to be committed and that the
//! replica did not have. The source's lag is from the end of a write at the API server to the
//! first sight of the revision that holds it.

use std::collections::BTreeMap;

use lockstep_jepsen_checkers::{
    Call, Ended, Payload, Replica, Return, Rev, Run, Seen, SourceStep, Written,
};
use lockstep_jepsen_model::{Kind, ObjectKey};

use crate::clock::real;
use crate::plot::{Colour, Mark, Plot, Series, seconds, shades, time_axis};
use crate::quantiles::Quantiles;
use crate::scale::Scale;
use crate::thin::Point;

/// A replica that is up is looked at more often than this. Unit: seconds.
const LOOKED_AT: f64 = 3.0;

/// As many parts of a run are told apart.
const PARTS: f64 = 400.0;

/// How long ago something was, and when. Unit: nanoseconds.
type Lag = (u64, u64);

pub(crate) fn plot(run: &Run<'_>) -> Plot {
    let replicas = of_replicas(run).into_iter();
    let mut series: Vec<Series> = replicas
        .enumerate()
        .map(|(number, (replica, lags))| {
            let colour = Colour::nth(number);
            let mark = Mark::Line(LOOKED_AT);
            let mut series = drawn(run, &replica.to_string(), (colour, mark), lags);
            series.points = peaks(&series.points, seconds(run, run.end()));
            series
        })
        .collect();
    let source = of_source(run);
    series.push(drawn(run, "source", (Colour::D, Mark::Dots), source));
    let values = series
        .iter()
        .flat_map(|it| it.points.iter().map(|(_, y)| *y));
    Plot {
        title: "Lag of revisions",
        x: time_axis(run),
        y: (Scale::lengths(values), "behind by"),
        shades: shades(run),
        limit: Vec::new(),
        series,
    }
}

/// Of many lags in a part of the run, the largest: how often a replica was looked at just before
/// it was told says nothing.
fn peaks(points: &[Point], length: f64) -> Vec<Point> {
    let part = (length / PARTS).max(f64::EPSILON);
    let same = |a: &Point, b: &Point| (a.0 / part).floor() == (b.0 / part).floor();
    let highest = |points: &[Point]| points.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
    points.chunk_by(same).filter_map(highest).collect()
}

fn drawn(run: &Run<'_>, name: &str, (colour, mark): (Colour, Mark), lags: Vec<Lag>) -> Series {
    let quantiles = Quantiles::of(lags.iter().map(|(_, lag)| *lag).collect());
    let says = quantiles.map_or("not seen".to_owned(), |it| it.shown());
    let points = lags.iter().map(|(at, lag)| (seconds(run, *at), real(*lag)));
    Series {
        name: format!("{name}: {says}"),
        colour,
        mark,
        points: points.collect(),
    }
}

fn of_replicas(run: &Run<'_>) -> BTreeMap<Replica, Vec<Lag>> {
    let mut lags: BTreeMap<Replica, Vec<Lag>> = BTreeMap::new();
    for (_, at, seen) in run.seen() {
        let (replica, rev, at) = match seen {
            Seen::Digest(observed) => (observed.replica, observed.rev, at),
            // What was committed after the question need not be in the answer.
            Seen::Claim(claim) => match claim.rev {
                Some(rev) => (claim.replica, rev, claim.asked_at),
                None => continue,
            },
            _ => continue,
        };
        lags.entry(replica)
            .or_default()
            .push((at, behind(run, rev, at)));
    }
    for lags in lags.values_mut() {
        lags.sort_unstable();
    }
    lags
}

/// How long the revision after this one had been known at `at`; 0 if it was not. Unit: nanoseconds.
pub(crate) fn behind(run: &Run<'_>, rev: Rev, at: u64) -> u64 {
    let next = run.commits.beyond(rev.history, rev.number);
    next.map_or(0, |growth| at.saturating_sub(growth.at))
}

fn of_source(run: &Run<'_>) -> Vec<Lag> {
    let committed = committed_versions(run);
    let mut lags = Vec::new();
    for operation in run.operations() {
        let (Call::TruthWrite(write), Some((_, at, Ended::Ok(Return::TruthWrite(versions))))) =
            (operation.call, operation.end)
        else {
            continue;
        };
        for (written, version) in write.writes.iter().zip(versions) {
            let kind = match written {
                Written::Put(object) => ObjectKey::of(object).ok().map(|key| key.kind),
                // A deletion leaves no version behind.
                Written::Delete(_) => None,
            };
            let seen = kind.and_then(|kind| committed.get(&(kind, *version)));
            lags.extend(seen.map(|seen| (at, seen.saturating_sub(at))));
        }
    }
    lags
}

/// When the revision that holds a version of an object was first seen. Unit: nanoseconds.
fn committed_versions(run: &Run<'_>) -> BTreeMap<(Kind, u64), u64> {
    let mut committed = BTreeMap::new();
    for (_, at, seen) in run.seen() {
        let Seen::Entry(entry) = seen else { continue };
        let Payload::Batch { source, .. } = &entry.payload else {
            continue;
        };
        let before = entry.rev.number.saturating_sub(1);
        let growth = run.commits.beyond(entry.rev.history, before);
        let first = growth.map_or(at, |growth| growth.at);
        for step in source.iter() {
            if let SourceStep::Object { kind, version, .. } = step {
                committed.entry((*kind, *version)).or_insert(first);
            }
        }
    }
    committed
}

#[cfg(test)]
mod tests {
    use super::peaks;

    #[test]
    fn of_each_part_the_largest_is_kept_when_it_was() {
        let points = [(0.1, 5.0), (0.2, 9.0), (0.3, 1.0), (1.5, 2.0)];
        assert_eq!(peaks(&points, 400.0), [(0.2, 9.0), (1.5, 2.0)]);
    }
}
