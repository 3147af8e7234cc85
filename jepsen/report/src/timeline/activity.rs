//! Lanes of the group as a whole: how late clients were told, acknowledgements, operations.

use lockstep_jepsen_checkers::{Ended, Run, Seen};

use super::{Ruler, SPAN, lanes::Lane};
use crate::clock::{length, real};
use crate::latency::telling;
use crate::quantiles::Quantiles;
use crate::scale::Scale;

/// Columns of a lane.
const COLUMNS: usize = 1000;

/// How often something happened, in each of equal parts of the run.
pub(super) struct Counts {
    ruler: Ruler,
    counts: Vec<u64>,
}

// === impl Counts ===

impl Counts {
    pub(super) fn new(ruler: Ruler) -> Self {
        Self {
            ruler,
            counts: vec![0; COLUMNS],
        }
    }

    pub(super) fn count(&mut self, at: u64) {
        if let Some(count) = self.counts.get_mut(column(self.ruler, at)) {
            *count += 1;
        }
    }

    pub(super) fn most(&self) -> u64 {
        self.counts.iter().copied().max().unwrap_or(0)
    }

    /// From 0 to 1, where 1 is `most`.
    pub(super) fn heights(&self, most: u64) -> Vec<f64> {
        let most = real(most.max(1));
        self.counts
            .iter()
            .map(|count| real(*count) / most)
            .collect()
    }
}

/// The part of the run in which a moment lies.
fn column(ruler: Ruler, at: u64) -> usize {
    let columns = real(COLUMNS as u64);
    let column = ruler.place(at) / SPAN * columns;
    // From 0 to the number of columns.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a part of 0 to 1000"
    )]
    let column = column as usize;
    column.min(COLUMNS - 1)
}

pub(super) fn lanes(run: &Run<'_>, ruler: Ruler) -> Vec<Lane> {
    let lanes = [
        told(run, ruler),
        acknowledged(run, ruler),
        operations(run, ruler),
    ];
    lanes.into_iter().filter(Lane::is_filled).collect()
}

/// From commit to clients: half, 99 of 100, and the slowest of each column.
fn told(run: &Run<'_>, ruler: Ruler) -> Lane {
    let mut columns: Vec<Vec<u64>> = vec![Vec::new(); COLUMNS];
    let took = telling(run);
    for (at, took) in &took {
        if let Some(column) = columns.get_mut(column(ruler, *at)) {
            column.push(*took);
        }
    }
    let scale = Scale::lengths(took.iter().map(|(_, took)| real(*took)));
    let quantiles: Vec<Option<Quantiles>> = columns.into_iter().map(Quantiles::of).collect();
    let of = |pick: fn(&Quantiles) -> u64| -> Vec<f64> {
        let heights = quantiles.iter();
        let heights = heights.map(|it| it.as_ref().map_or(0.0, |it| scale.place(real(pick(it)))));
        heights.collect()
    };
    let longest = took.iter().map(|(_, took)| *took).max().unwrap_or(0);
    let name = format!("committed to told, at most {}", length(real(longest)));
    let mut lane = Lane::new(&name, 60);
    let rows = (2, 58);
    lane.columns("slowest", &of(|it| it.max), rows);
    lane.columns("slow", &of(|it| it.p99), rows);
    lane.columns("typical", &of(|it| it.p50), rows);
    lane
}

fn acknowledged(run: &Run<'_>, ruler: Ruler) -> Lane {
    let mut acks = Counts::new(ruler);
    for (_, at, seen) in run.seen() {
        if let Seen::Ack(_) = seen {
            acks.count(at);
        }
    }
    let most = acks.most();
    let mut lane = Lane::new(&format!("acknowledged, {}", rate(ruler, most)), 40);
    lane.columns("told", &acks.heights(most), (2, 38));
    lane
}

fn operations(run: &Run<'_>, ruler: Ruler) -> Lane {
    let mut all = Counts::new(ruler);
    let mut bad = Counts::new(ruler);
    for operation in run.operations() {
        let Some((_, at, ended)) = operation.end else {
            continue;
        };
        all.count(at);
        if !matches!(ended, Ended::Ok(_)) {
            bad.count(at);
        }
    }
    let most = all.most();
    let mut lane = Lane::new(
        &format!("operations, {}; red: not ok", rate(ruler, most)),
        40,
    );
    lane.columns("told", &all.heights(most), (2, 38));
    lane.columns("refused", &bad.heights(most), (2, 38));
    lane
}

/// A count of one column, a second.
fn rate(ruler: Ruler, most: u64) -> String {
    let column = real(ruler.length) / real(COLUMNS as u64) / 1e9;
    format!("at most {}/s", crate::clock::short(real(most) / column))
}
