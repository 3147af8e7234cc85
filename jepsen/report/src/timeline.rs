//! `timeline.html`: one page, no network, time from left to right.
//!
//! ```text
//! verdicts
//! violations      |        ⚑
//! cut             |     ▬▬▬▬
//! n1              |  life, lead with its term, freshness, messages, revision
//! n2, n3          |
//! told, written   |  lag of streams, acknowledgements, operations
//! events          |  those of the visible time that stand out
//! ```
//!
//! Lanes are stretched drawings of [`SPAN`] units each, so a closer look is another view box.

mod activity;
mod lanes;
mod notable;
mod ribbons;

use std::fmt::Write as _;

use lockstep_jepsen_checkers::{Judgement, Run, Validity};
use serde_json::json;

use crate::clock::{length, real};
use crate::markdown::counts;
use crate::picture::escaped;
use crate::plot::{seconds, start};
use crate::scale::Scale;

use lanes::Lane;

/// The length of the run in the units of the lanes.
const SPAN: f64 = 100_000.0;

const CSS: &str = include_str!("timeline/page.css");
const SCRIPT: &str = include_str!("timeline/page.js");

/// From moments to places in a lane.
#[derive(Copy, Clone)]
struct Ruler {
    start: u64,
    length: u64,
}

// === impl Ruler ===

impl Ruler {
    fn of(run: &Run<'_>) -> Self {
        let start = start(run);
        Self {
            start,
            length: run.end().saturating_sub(start).max(1),
        }
    }

    /// The place of a moment; the end of the run for later ones.
    fn place(self, at: u64) -> f64 {
        let since = at.saturating_sub(self.start).min(self.length);
        real(since) / real(self.length) * SPAN
    }
}

/// The whole page.
pub(crate) fn page(run: &Run<'_>, judgement: &Judgement) -> String {
    let ruler = Ruler::of(run);
    let verdict = judgement.validity();
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <title>Run: {verdict}</title>\n<style>{CSS}</style></head><body>\n\
         <h1>Run: <b class=\"{verdict}\">{verdict}</b></h1>\n"
    );
    verdicts(run, judgement, &mut html);
    html.push_str(
        "<p class=\"help\">Drag to look closer, double-click for the whole run, click for what \
         happened there.</p>\n<div id=\"chart\">\n",
    );
    axis(run, ruler, &mut html);
    let mut lanes = vec![lanes::violations(run, judgement, ruler)];
    lanes.extend(lanes::faults(run, ruler));
    lanes.extend(ribbons::replicas(run, judgement, ruler));
    lanes.extend(activity::lanes(run, ruler));
    for lane in &lanes {
        draw(lane, &mut html);
    }
    html.push_str(
        "</div>\n<div id=\"detail\"></div>\n<h2>Events that stand out</h2>\n\
         <input id=\"filter\" placeholder=\"filter\" aria-label=\"filter\">\
         <span id=\"shown\"></span>\n<table id=\"events\"></table>\n",
    );
    data(run, judgement, ruler, &mut html);
    let _ = write!(html, "<script>{SCRIPT}</script>\n</body></html>\n");
    html
}

fn verdicts(run: &Run<'_>, judgement: &Judgement, html: &mut String) {
    html.push_str("<table class=\"verdicts\">\n");
    for verdict in &judgement.verdicts {
        let validity = verdict.validity();
        // Writing to a string cannot fail.
        let _ = writeln!(
            html,
            "<tr><td>{}</td><td class=\"{validity}\">{validity}</td><td>{}</td></tr>",
            verdict.checker.name(),
            escaped(&counts(verdict))
        );
        if validity == Validity::Valid {
            continue;
        }
        for violation in &verdict.violations {
            let place = violation.evidence.last().copied().unwrap_or_default();
            let event = run.history.events().get(place);
            let at = event.map_or(0.0, |event| seconds(run, event.at));
            let _ = writeln!(
                html,
                "<tr><td></td><td></td><td><a href=\"#detail\" data-line=\"{}\">{at:.3} s</a> \
                 <b>{}</b>: {}<br><i>{}</i></td></tr>",
                place + 1,
                violation.guarantee,
                escaped(&violation.what),
                violation.guarantee.sentence()
            );
        }
        for doubt in &verdict.doubts {
            let doubt = escaped(doubt);
            let _ = writeln!(html, "<tr><td></td><td></td><td>unknown: {doubt}</td></tr>");
        }
    }
    html.push_str("</table>\n");
}

fn axis(run: &Run<'_>, ruler: Ruler, html: &mut String) {
    let length = real(ruler.length) / 1e9;
    html.push_str("<div class=\"row axis\"><div class=\"name\">time</div><div class=\"lane\">");
    for (value, text) in Scale::seconds(length).marks() {
        let _ = write!(
            html,
            "<span data-x=\"{:.0}\">{text}</span>",
            value / length * SPAN
        );
    }
    let _ = writeln!(html, "</div></div>");
    let _ = writeln!(
        html,
        "<!-- {} events in {} -->",
        run.history.events().len(),
        self::length(real(ruler.length))
    );
}

fn draw(lane: &Lane, html: &mut String) {
    let height = lane.height;
    let _ = write!(
        html,
        "<div class=\"row\"><div class=\"name\">{}</div><div class=\"lane\" \
         style=\"height:{height}px\"><svg viewBox=\"0 0 {SPAN} {height}\" data-h=\"{height}\" \
         preserveAspectRatio=\"none\">",
        lane.name
    );
    for (class, path) in &lane.shapes {
        if !path.is_empty() {
            let _ = write!(html, "<path class=\"{class}\" d=\"{path}\"/>");
        }
    }
    for flag in &lane.flags {
        let (class, says) = (flag.class, escaped(&flag.says));
        let _ = write!(
            html,
            "<path class=\"flag {class}\" data-line=\"{}\" d=\"M{:.0} {}V{}\"><title>{says}</title></path>",
            flag.place + 1,
            flag.x,
            flag.from,
            flag.to
        );
    }
    html.push_str("</svg>");
    for (x, y, text) in &lane.texts {
        let text = escaped(text);
        let _ = write!(
            html,
            "<span data-x=\"{x:.0}\" style=\"top:{y}px\">{text}</span>"
        );
    }
    html.push_str("</div></div>\n");
}

/// What the script needs: the length of the run, and the events that stand out.
fn data(run: &Run<'_>, judgement: &Judgement, ruler: Ruler, html: &mut String) {
    let events = notable::events(run, judgement, ruler);
    let data = json!({"seconds": real(ruler.length) / 1e9, "span": SPAN, "events": events});
    // Nothing in it may end the element.
    let data = data.to_string().replace('<', "\\u003c");
    let _ = writeln!(
        html,
        "<script type=\"application/json\" id=\"data\">{data}</script>"
    );
}
