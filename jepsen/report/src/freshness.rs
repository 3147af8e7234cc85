//! The age that each claim names against the age that it had at least: nobody may lie under the
//! line at which both are equal.

use lockstep_jepsen_checkers::{Run, Seen, Surface};

use crate::clock::real;
use crate::lag::behind;
use crate::plot::{Colour, Mark, Plot, Series};
use crate::scale::Scale;
use crate::thin::Point;

/// Headers round an age down to whole milliseconds. Unit: nanoseconds.
const HEADER_UNIT: u64 = 1_000_000;

pub(crate) fn plot(run: &Run<'_>) -> Plot {
    let claims = claims(run);
    let largest = claims
        .iter()
        .flat_map(|(_, true_age, claimed)| [*true_age, *claimed]);
    let scale = Scale::lengths(largest.map(real));
    let series = [
        (Colour::A, "fresh, and not older than said", true, false),
        (Colour::B, "stale, and not older than said", false, false),
        (Colour::Bad, "older than said", true, true),
    ];
    let series = series.map(|(colour, name, fresh, lies)| {
        let of_it = claims.iter().filter(|(is_fresh, true_age, claimed)| {
            let is_lie = true_age > claimed;
            is_lie == lies && (lies || *is_fresh == fresh)
        });
        let points: Vec<Point> = of_it
            .map(|(_, true_age, claimed)| (real(*true_age), real(*claimed)))
            .collect();
        Series {
            name: format!("{name}: {} claims", points.len()),
            colour,
            mark: Mark::Dots,
            points,
        }
    });
    let Scale::Lengths(from, to) = scale else {
        return plot_of(scale, Vec::new(), Vec::new());
    };
    plot_of(scale, vec![(from, from), (to, to)], series.into())
}

fn plot_of(scale: Scale, limit: Vec<Point>, series: Vec<Series>) -> Plot {
    Plot {
        title: "Freshness: what replicas claim, and what is true",
        x: (scale, "true age, at least"),
        y: (scale, "claimed age"),
        shades: Vec::new(),
        limit,
        series,
    }
}

/// Whether it says fresh, the true age at the time of asking, and the claimed one.
type Claimed = (bool, u64, u64);

fn claims(run: &Run<'_>) -> Vec<Claimed> {
    let own = run.seen().filter_map(|(_, _, seen)| match seen {
        Seen::Claim(claim) if claim.surface != Surface::Headers => {
            let true_age = behind(run, claim.rev?, claim.asked_at);
            Some((claim.fresh, true_age, claim.age?))
        }
        _ => None,
    });
    let headers = run.streams.iter().filter_map(|stream| {
        let (_, _, opened) = stream.opened?;
        let claimed = (opened.age_ms? + 1) * HEADER_UNIT;
        let true_age = behind(run, opened.rev?, stream.at);
        Some((!opened.stale?, true_age, claimed))
    });
    own.chain(headers).collect()
}
