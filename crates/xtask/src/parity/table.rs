//! A report for people: one line a scenario, then each difference.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use super::report::{Counts, Outcome, Report, Row};
use crate::report::spoken;

const EQUAL: Style = AnsiColor::Green.on_default();
const RIGHT: Style = AnsiColor::Cyan.on_default();
const NOT_SERVED: Style = AnsiColor::Yellow.on_default();
const DIFFERENT: Style = AnsiColor::Red.on_default().bold();
const HEADING: Style = Style::new().bold();

/// The table; in colour, which whoever prints it takes away where it is not wanted.
#[must_use]
pub fn table(report: &Report) -> String {
    let names = report.rows.iter().map(|row| row.scenario.len());
    let width = names.max().unwrap_or(0).max("scenario".len());
    let mut text = format!(
        "{HEADING}{:<width$}  {:<10}  {:>5}  {:>5}  {:>10}  {:>9}  why{HEADING:#}\n",
        "scenario", "outcome", "equal", "right", "not served", "different"
    );
    for row in &report.rows {
        let line = Line {
            name: &row.scenario,
            outcome: worst(row),
            counts: row.counts(),
            why: &row.reasons().join("; "),
        };
        text.push_str(&line.text(width));
    }
    let total = report.total();
    let took = spoken(std::time::Duration::from_millis(report.took_ms));
    let line = Line {
        name: "total",
        outcome: if total.different == 0 {
            (EQUAL, "parity")
        } else {
            (DIFFERENT, "different")
        },
        counts: total,
        why: &format!(
            "{} scenarios on the {} API server in {took}",
            report.rows.len(),
            report.api
        ),
    };
    text.push_str(&line.text(width));
    text
}

struct Line<'a> {
    name: &'a str,
    outcome: (Style, &'static str),
    counts: Counts,
    why: &'a str,
}

impl Line<'_> {
    fn text(&self, width: usize) -> String {
        let Counts {
            equal,
            right,
            not_served,
            different,
        } = self.counts;
        let (style, outcome) = self.outcome;
        let line = format!(
            "{:<width$}  {style}{outcome:<10}{style:#}  {equal:>5}  {right:>5}  \
             {not_served:>10}  {different:>9}  {}",
            self.name, self.why
        );
        format!("{}\n", line.trim_end())
    }
}

fn worst(row: &Row) -> (Style, &'static str) {
    match row.worst() {
        Outcome::Equal => (EQUAL, "equal"),
        Outcome::Right(_) => (RIGHT, "right"),
        Outcome::NotServed(_) => (NOT_SERVED, "not served"),
        Outcome::Different(_) => (DIFFERENT, "different"),
    }
}

/// Every difference, each once with all the places where it was seen; empty without any.
#[must_use]
pub fn differences(report: &Report) -> String {
    let mut text = String::new();
    for row in &report.rows {
        let mut seen: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
        for it in &row.streams {
            if let Outcome::Different(how) = &it.outcome {
                let place = format!("{} {}", it.configuration, it.client);
                seen.entry((&it.stream, how)).or_default().push(place);
            }
        }
        for ((stream, how), places) in seen {
            let places = places.join(", ");
            let head = format!("{} {stream} ({places})", row.scenario);
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "\n{DIFFERENT}{head}{DIFFERENT:#}\n{}\n",
                how.trim_end()
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parity::StreamOutcome;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    fn row(scenario: &str, outcomes: Vec<Outcome>) -> Row {
        let clients = ["leader", "follower"].into_iter().cycle();
        let streams = outcomes.into_iter().zip(clients);
        let streams = streams.map(|(outcome, client)| StreamOutcome {
            stream: "get".to_owned(),
            configuration: "chart".to_owned(),
            client: client.to_owned(),
            outcome,
        });
        Row {
            scenario: scenario.to_owned(),
            streams: streams.collect(),
        }
    }

    fn report(rows: Vec<Row>) -> Report {
        Report {
            api: "simulated".to_owned(),
            took_ms: 2_500,
            rows,
        }
    }

    #[test]
    fn a_scenario_is_one_line_with_its_counts_and_reasons() {
        let report = report(vec![
            row("012-basic", vec![Outcome::Equal, Outcome::Equal]),
            row(
                "018-empty",
                vec![Outcome::Right("F: said".to_owned()), Outcome::Equal],
            ),
        ]);
        assert_eq!(
            plain(&table(&report)),
            "scenario   outcome     equal  right  not served  different  why\n\
             012-basic  equal           2      0           0          0\n\
             018-empty  right           1      1           0          0  F: said\n\
             total      parity          3      1           0          0  \
             2 scenarios on the simulated API server in 2.5 s\n"
        );
        assert_eq!(differences(&report), "");
    }

    #[test]
    fn a_difference_is_shown_once_with_all_its_places() {
        let how = Outcome::Different("after step 1: it differs\n - a\n + b\n".to_owned());
        let report = report(vec![row("012-basic", vec![how.clone(), how])]);
        assert!(plain(&table(&report)).contains("total      different "));
        assert_eq!(
            plain(&differences(&report)),
            "\n012-basic get (chart leader, chart follower)\nafter step 1: it differs\n - a\n + b\n"
        );
    }
}
