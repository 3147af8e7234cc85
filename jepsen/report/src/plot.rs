//! A picture with two axes, what was wrong meanwhile, and a legend in words.

use lockstep_jepsen_checkers::Run;

use crate::clock::real;
use crate::picture::{Anchor, Area, Picture};
use crate::scale::Scale;
use crate::thin::{self, Point};

const WIDTH: f64 = 960.0;
const PLOT: Area = Area {
    x: 80.0,
    y: 40.0,
    width: 860.0,
    height: 320.0,
};
const LEGEND_LINE: f64 = 20.0;

/// What a plot shows.
pub(crate) struct Plot {
    /// What it is.
    pub(crate) title: &'static str,
    /// From left to right, with its name.
    pub(crate) x: (Scale, &'static str),
    /// From bottom to top, with its name.
    pub(crate) y: (Scale, &'static str),
    /// From, to, and what it is.
    pub(crate) shades: Vec<(f64, f64, String)>,
    /// A line that something must stay on one side of, as values.
    pub(crate) limit: Vec<Point>,
    /// What was measured.
    pub(crate) series: Vec<Series>,
}

/// Values of one kind.
pub(crate) struct Series {
    /// Its name, and what the numbers say in words.
    pub(crate) name: String,
    /// Its colour.
    pub(crate) colour: Colour,
    /// How it is drawn.
    pub(crate) mark: Mark,
    /// The values; those of a line by rising x.
    pub(crate) points: Vec<Point>,
}

/// Colours that can be told apart, also without seeing red or green.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Colour {
    /// Blue.
    A,
    /// Orange.
    B,
    /// Green.
    C,
    /// Violet.
    D,
    /// Turquoise.
    E,
    /// Pink.
    F,
    /// Red: what must not be.
    Bad,
}

/// How values are drawn.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) enum Mark {
    /// Joined, but for gaps in which nobody looked. Unit of the gap: that of the x axis.
    Line(f64),
    /// Each alone.
    Dots,
}

// === impl Plot ===

impl Plot {
    /// As a file.
    pub(crate) fn svg(&self) -> String {
        let rows = self.series.iter().map(|_| LEGEND_LINE).sum::<f64>();
        let height = PLOT.y + PLOT.height + 50.0 + rows.max(LEGEND_LINE);
        let mut picture = Picture::new(WIDTH, height, self.title);
        picture.text("title", (PLOT.x, 24.0), Anchor::Start, self.title);
        self.draw_faults(&mut picture);
        self.draw_axes(&mut picture);
        let limit: Vec<Point> = self.limit.iter().map(|point| self.at(*point)).collect();
        picture.line("limit", &limit);
        for series in &self.series {
            self.draw(series, &mut picture);
        }
        self.draw_legend(&mut picture);
        picture.finish()
    }

    fn at(&self, (x, y): Point) -> Point {
        let from_left = self.x.0.place(x) * PLOT.width;
        let from_bottom = self.y.0.place(y) * PLOT.height;
        (PLOT.x + from_left, PLOT.y + PLOT.height - from_bottom)
    }

    fn draw_faults(&self, picture: &mut Picture) {
        for (from, to, what) in &self.shades {
            let (x, _) = self.at((*from, 0.0));
            let (end, _) = self.at((*to, 0.0));
            let area = Area {
                x,
                width: (end - x).max(1.0),
                ..PLOT
            };
            picture.area("fault", area, what);
        }
    }

    fn draw_axes(&self, picture: &mut Picture) {
        let (left, bottom) = (PLOT.x, PLOT.y + PLOT.height);
        for (value, text) in self.x.0.marks() {
            let (x, _) = self.at((value, 0.0));
            picture.line("grid", &[(x, PLOT.y), (x, bottom)]);
            picture.text("dim", (x, bottom + 16.0), Anchor::Middle, &text);
        }
        for (value, text) in self.y.0.marks() {
            let (_, y) = self.at((0.0, value));
            picture.line("grid", &[(left, y), (left + PLOT.width, y)]);
            picture.text("dim", (left - 8.0, y + 4.0), Anchor::End, &text);
        }
        let below = (left + PLOT.width, bottom + 34.0);
        picture.text("ink", below, Anchor::End, self.x.1);
        let above = (left + PLOT.width, PLOT.y - 10.0);
        picture.text("ink", above, Anchor::End, self.y.1);
    }

    fn draw(&self, series: &Series, picture: &mut Picture) {
        let colour = series.colour.class();
        match series.mark {
            Mark::Line(gap) => {
                let is_near = |a: &Point, b: &Point| b.0 - a.0 <= gap;
                for run in series.points.chunk_by(is_near) {
                    let placed = run.iter().map(|point| self.at(*point));
                    picture.line(&format!("line {colour}"), &thin::line(placed));
                }
            }
            Mark::Dots => {
                let placed = series.points.iter().map(|point| self.at(*point));
                picture.dots(&format!("dot {colour}"), &thin::dots(placed));
            }
        }
    }

    fn draw_legend(&self, picture: &mut Picture) {
        let mut y = PLOT.y + PLOT.height + 56.0;
        if self.series.iter().all(|series| series.points.is_empty()) {
            let nothing = "nothing of this was written into the history";
            picture.text("ink", (PLOT.x, y), Anchor::Start, nothing);
            return;
        }
        for series in &self.series {
            let key = Area {
                x: PLOT.x,
                y: y - 9.0,
                width: 10.0,
                height: 10.0,
            };
            picture.area(&format!("key {}", series.colour.class()), key, &series.name);
            picture.text("ink", (PLOT.x + 18.0, y), Anchor::Start, &series.name);
            y += LEGEND_LINE;
        }
    }
}

// === impl Colour ===

impl Colour {
    /// For replicas, by their number; violet is left to the source.
    pub(crate) fn nth(number: usize) -> Self {
        [Self::A, Self::B, Self::C, Self::E, Self::F][number % 5]
    }

    const fn class(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::B => "b",
            Self::C => "c",
            Self::D => "d",
            Self::E => "e",
            Self::F => "f",
            Self::Bad => "bad",
        }
    }
}

/// The axis of the run's time, from its first event. Unit: seconds.
pub(crate) fn time_axis(run: &Run<'_>) -> (Scale, &'static str) {
    let length = run.end().saturating_sub(start(run));
    (Scale::seconds(real(length) / 1e9), "time in the run")
}

/// The run's faults, to shade them. Unit: seconds.
pub(crate) fn shades(run: &Run<'_>) -> Vec<(f64, f64, String)> {
    let spans = run.faults.spans().iter();
    let shades = spans.map(|span| {
        let to = span.to.min(run.end());
        let class = span.fault.class.clone();
        (seconds(run, span.from), seconds(run, to), class)
    });
    shades.collect()
}

/// A moment of the run, in seconds from its first event.
pub(crate) fn seconds(run: &Run<'_>, at: u64) -> f64 {
    real(at.saturating_sub(start(run))) / 1e9
}

/// The time of the first event. Unit: nanoseconds.
pub(crate) fn start(run: &Run<'_>) -> u64 {
    run.history.events().first().map_or(0, |event| event.at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_of_nothing_says_so() {
        let plot = Plot {
            title: "lag",
            x: (Scale::seconds(1.0), "time"),
            y: (Scale::lengths([]), "lag"),
            shades: Vec::new(),
            limit: Vec::new(),
            series: Vec::new(),
        };
        let text = plot.svg();
        assert!(text.contains("nothing of this was written"), "{text}");
    }
}
