//! What a lane holds, and the lanes of violations and faults.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lockstep_jepsen_checkers::{Judgement, Run};

use super::Ruler;
use crate::picture::escaped;

/// One row of the page.
#[derive(Default)]
pub(super) struct Lane {
    /// Its name, as HTML.
    pub(super) name: String,
    /// Unit: dots of a screen.
    pub(super) height: u32,
    /// By class, the path of all shapes of it: few elements, however much happened.
    pub(super) shapes: BTreeMap<&'static str, String>,
    /// Moments that can be clicked.
    pub(super) flags: Vec<Flag>,
    /// Where, how far from the top, what.
    pub(super) texts: Vec<(f64, u32, String)>,
}

/// A moment that can be clicked.
pub(super) struct Flag {
    /// How it looks.
    pub(super) class: &'static str,
    /// Where.
    pub(super) x: f64,
    /// Its upper end.
    pub(super) from: u32,
    /// Its lower end.
    pub(super) to: u32,
    /// The event, by its place in the history.
    pub(super) place: usize,
    /// What it is.
    pub(super) says: String,
}

// === impl Lane ===

impl Lane {
    pub(super) fn new(name: &str, height: u32) -> Self {
        Self {
            name: escaped(name),
            height,
            ..Self::default()
        }
    }

    /// Whether anything is drawn on it.
    pub(super) fn is_filled(&self) -> bool {
        self.shapes.values().any(|shape| !shape.is_empty())
    }

    /// Fills a part of the lane, from `x` to `end` and from `top` to `bottom`.
    pub(super) fn fill(&mut self, class: &'static str, (x, end): (f64, f64), rows: (u32, u32)) {
        let (top, bottom) = rows;
        // What is shorter than a dot of the whole run is seen all the same.
        let end = end.max(x + 40.0);
        let shapes = self.shapes.entry(class).or_default();
        // Writing to a string cannot fail.
        let _ = write!(shapes, "M{x:.0} {top}H{end:.0}V{bottom}H{x:.0}z");
    }

    /// A line of steps through places by rising x, with heights from 0 to 1 between two rows.
    pub(super) fn steps(&mut self, class: &'static str, steps: &[(f64, f64)], rows: (u32, u32)) {
        let (top, bottom) = (f64::from(rows.0), f64::from(rows.1));
        let shapes = self.shapes.entry(class).or_default();
        for (number, (x, height)) in steps.iter().enumerate() {
            let y = bottom - height.clamp(0.0, 1.0) * (bottom - top);
            let _ = match number {
                0 => write!(shapes, "M{x:.0} {y:.1}"),
                _ => write!(shapes, "H{x:.0}V{y:.1}"),
            };
        }
    }

    /// Columns side by side, with heights from 0 to 1 between two rows.
    pub(super) fn columns(&mut self, class: &'static str, heights: &[f64], rows: (u32, u32)) {
        let (top, bottom) = (f64::from(rows.0), f64::from(rows.1));
        let width = super::SPAN / crate::clock::real(heights.len() as u64).max(1.0);
        let shapes = self.shapes.entry(class).or_default();
        let mut x = 0.0;
        for height in heights {
            let y = bottom - height.clamp(0.0, 1.0) * (bottom - top);
            if *height > 0.0 {
                let _ = write!(
                    shapes,
                    "M{x:.0} {bottom:.0}V{y:.1}H{:.0}V{bottom:.0}z",
                    x + width
                );
            }
            x += width;
        }
    }
}

/// Every violation that was kept, at the last event that shows it.
pub(super) fn violations(run: &Run<'_>, judgement: &Judgement, ruler: Ruler) -> Lane {
    let mut lane = Lane::new("violations", 18);
    for verdict in &judgement.verdicts {
        for violation in &verdict.violations {
            let place = violation.evidence.last().copied().unwrap_or_default();
            let at = run.history.events().get(place).map_or(0, |event| event.at);
            lane.flags.push(Flag {
                class: "bad",
                x: ruler.place(at),
                from: 1,
                to: 17,
                place,
                says: format!("{}: {}", verdict.checker.name(), violation.what),
            });
        }
    }
    lane
}

/// One lane for each class of fault.
pub(super) fn faults(run: &Run<'_>, ruler: Ruler) -> Vec<Lane> {
    let mut lanes: BTreeMap<&str, Lane> = BTreeMap::new();
    for span in run.faults.spans() {
        let class = span.fault.class.as_str();
        let lane = lanes.entry(class).or_insert_with(|| Lane::new(class, 14));
        let (from, to) = (ruler.place(span.from), ruler.place(span.to));
        lane.fill("fault", (from, to), (2, 12));
        lane.flags.push(Flag {
            class: "start",
            x: from,
            from: 1,
            to: 13,
            place: span.place,
            says: format!("fault {}: {class}", span.fault.id),
        });
    }
    lanes.into_values().collect()
}
