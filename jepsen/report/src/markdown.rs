//! What ran, what broke, and how to look further, for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use lockstep_jepsen_checkers::{Judgement, Run, Validity, Verdict};

use crate::clock::{length, real};
use crate::plot::{seconds, start};

pub(crate) fn report(run: &Run<'_>, judgement: &Judgement, config: Option<&str>) -> String {
    let mut text = format!("# Run: {}\n\n", judgement.validity());
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}\n", summary(run));
    verdicts(judgement, &mut text);
    for verdict in &judgement.verdicts {
        details(run, verdict, &mut text);
    }
    faults(run, &mut text);
    text.push_str(
        "\n## Pictures\n\n* [timeline](timeline.html): faults, replicas and streams; drag to look closer\n\
         * [lag](lag.svg), [latency](latency.svg), [freshness](freshness.svg)\n\
         * [results.json](results.json): the same verdicts, for scripts\n",
    );
    if let Some(config) = config {
        let _ = write!(
            text,
            "\n## What ran\n\nWith the same values the same run begins again.\n\n```json\n{}\n```\n",
            config.trim_end()
        );
    }
    text
}

fn summary(run: &Run<'_>) -> String {
    let lasted = run.end().saturating_sub(start(run));
    let messages: usize = run.streams.iter().map(|stream| stream.heard.len()).sum();
    let newest = run.commits.newest().map(|(rev, _)| rev.number).max();
    format!(
        "{} events in {}: {} operations, {} streams with {messages} messages, {} revisions, {} \
         faults on {} replicas.",
        run.history.events().len(),
        length(real(lasted)),
        run.operations().len(),
        run.streams.len(),
        newest.unwrap_or(0),
        run.faults.spans().len(),
        run.replicas().len(),
    )
}

fn verdicts(judgement: &Judgement, text: &mut String) {
    text.push_str(
        "## Verdicts\n\n| checker | guarantees | verdict | looked at |\n|---|---|---|---|\n",
    );
    for verdict in &judgement.verdicts {
        let guarantees = verdict.checker.guarantees().iter().map(|it| it.name());
        let guarantees: Vec<&str> = guarantees.collect();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            verdict.checker.name(),
            guarantees.join(", "),
            shown(verdict.validity()),
            counts(verdict)
        );
    }
}

fn shown(validity: Validity) -> &'static str {
    match validity {
        Validity::Valid => "valid",
        Validity::Unknown => "**unknown**",
        Validity::Invalid => "**invalid**",
    }
}

/// How much a checker looked at: `claims 12, surfaces 3`.
pub(crate) fn counts(verdict: &Verdict) -> String {
    let counts = verdict
        .counts
        .iter()
        .map(|(what, count)| format!("{what} {count}"));
    counts.collect::<Vec<String>>().join(", ")
}

fn details(run: &Run<'_>, verdict: &Verdict, text: &mut String) {
    if verdict.validity() == Validity::Valid && verdict.exemptions.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n### {}\n", verdict.checker.name());
    for violation in &verdict.violations {
        let at = violation
            .evidence
            .last()
            .and_then(|place| run.history.events().get(*place));
        let at = at.map_or(0.0, |event| seconds(run, event.at));
        let lines: Vec<String> = violation
            .evidence
            .iter()
            .map(|it| (it + 1).to_string())
            .collect();
        let _ = writeln!(
            text,
            "* **{}** at {at:.3} s: {} (lines {})\n  *{}*",
            violation.guarantee,
            violation.what,
            lines.join(", "),
            violation.guarantee.sentence()
        );
    }
    let more = verdict.violated - verdict.violations.len() as u64;
    if more > 0 {
        let _ = writeln!(text, "* and {more} more");
    }
    for doubt in &verdict.doubts {
        let _ = writeln!(text, "* unknown: {doubt}");
    }
    exemptions(verdict, text);
}

/// What was excused, by the fault that excuses it: a run full of them says little.
fn exemptions(verdict: &Verdict, text: &mut String) {
    let mut excused: BTreeMap<u64, (u64, &str)> = BTreeMap::new();
    for exemption in &verdict.exemptions {
        let entry = excused
            .entry(exemption.fault)
            .or_insert((0, &exemption.what));
        entry.0 += 1;
    }
    for (fault, (times, first)) in excused {
        let _ = writeln!(
            text,
            "* excused by fault {fault}, {times} times, first: {first}"
        );
    }
}

fn faults(run: &Run<'_>, text: &mut String) {
    let mut classes: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for span in run.faults.spans() {
        let class = classes.entry(&span.fault.class).or_default();
        class.0 += 1;
        class.1 += span.to.min(run.end()).saturating_sub(span.from);
    }
    text.push_str("\n## Faults\n\n| class | times | in force |\n|---|---|---|\n");
    for (class, (times, lasted)) in classes {
        let _ = writeln!(text, "| {class} | {times} | {} |", length(real(lasted)));
    }
}
