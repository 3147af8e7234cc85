//! C11: nothing grows without end, and what grew with a storm goes again.

use std::collections::BTreeMap;

use crate::{Guarantee, Phase, Process, Replica, Resources, Run, Seen, Sizes, Verdict, What};

/// Samples before the first fault that make a baseline.
const BASELINE_MIN: usize = 3;

/// One look at one replica.
type Sample<'h> = (usize, u64, &'h Resources);

/// Something that a replica uses: its name, how to read it, and its limit.
type Measure = (&'static str, fn(&Resources) -> Option<u64>, Option<u64>);

pub(super) fn check(run: &Run<'_>, verdict: &mut Verdict) {
    let sizes = &run.limits.sizes;
    let samples = samples(run);
    if samples.is_empty() {
        verdict.doubt("nobody looked at what the replicas use");
    }
    for (replica, samples) in &samples {
        verdict.count("samples", samples.len() as u64);
        for measure in &measures(sizes) {
            bounded(*replica, samples, measure, verdict);
        }
        let first = run
            .faults
            .spans()
            .first()
            .map_or(u64::MAX, |span| span.from);
        let split = samples.partition_point(|(_, at, _)| *at < first);
        let settled = run.phase(Phase::Settled).map(|(_, at)| at);
        let last = samples
            .iter()
            .rfind(|(_, at, _)| Some(*at) >= settled && settled.is_some());
        let (Some(last), true) = (last, split >= BASELINE_MIN) else {
            verdict.doubt(format!(
                "{replica} was not looked at before the faults and at the end"
            ));
            continue;
        };
        let calm = samples.get(..split).unwrap_or_default();
        returned(sizes, (*replica, calm), *last, verdict);
    }
}

fn samples<'h>(run: &Run<'h>) -> BTreeMap<Replica, Vec<Sample<'h>>> {
    let mut samples: BTreeMap<Replica, Vec<Sample<'h>>> = BTreeMap::new();
    for (place, event) in run.events() {
        if let (Process::Observer(replica), What::Seen(Seen::Resources(used))) =
            (event.process, &event.what)
        {
            samples
                .entry(replica)
                .or_default()
                .push((place, event.at, used));
        }
    }
    samples
}

fn measures(sizes: &Sizes) -> [Measure; 5] {
    [
        (
            "bytes of memory",
            |used| used.rss_bytes,
            sizes.rss_bytes_max,
        ),
        ("open files", |used| used.fds, sizes.fds_max),
        (
            "bytes on its disk",
            |used| used.disk_bytes,
            sizes.disk_bytes_max,
        ),
        (
            "batches waiting",
            |used| used.proposals,
            sizes.proposals_max,
        ),
        (
            "answers waiting for one client",
            |used| used.pending_max,
            Some(sizes.pending_max),
        ),
    ]
}

fn bounded(replica: Replica, samples: &[Sample<'_>], measure: &Measure, verdict: &mut Verdict) {
    let (name, read, Some(max)) = *measure else {
        return;
    };
    let over = samples
        .iter()
        .find(|(_, _, used)| read(used).is_some_and(|value| value > max));
    if let Some((place, _, used)) = over {
        let value = read(used).unwrap_or_default();
        let what = format!("{replica} has {value} {name}; {max} are allowed");
        verdict.violate(Guarantee::Bounded, what, [*place]);
    }
}

/// When all is over a replica uses about what it used before.
fn returned(
    sizes: &Sizes,
    (replica, calm): (Replica, &[Sample<'_>]),
    (place, _, last): Sample<'_>,
    verdict: &mut Verdict,
) {
    let grown: [Measure; 2] = [
        (
            "bytes of memory",
            |used| used.rss_bytes,
            Some(sizes.growth_bytes_free),
        ),
        ("open files", |used| used.fds, Some(16)),
    ];
    for (name, read, free) in grown {
        let mut before: Vec<u64> = calm.iter().filter_map(|(_, _, used)| read(used)).collect();
        before.sort_unstable();
        let (Some(median), Some(now)) = (before.get(before.len() / 2).copied(), read(last)) else {
            continue;
        };
        verdict.count("returns to the baseline", 1);
        let allowed =
            median + (median / 100 * sizes.growth_percent_max).max(free.unwrap_or_default());
        if now > allowed {
            let what =
                format!("{replica} ends with {now} {name}, and had {median} before the faults");
            let baseline = calm.first().map(|(place, _, _)| *place);
            verdict.violate(
                Guarantee::Bounded,
                what,
                baseline.into_iter().chain([place]),
            );
        }
    }
}
