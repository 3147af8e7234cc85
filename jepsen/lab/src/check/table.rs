//! Verdicts, for people.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use lockstep_jepsen_checkers::{Judgement, Validity, Verdict};

const GOOD: Style = AnsiColor::Green.on_default();
const DOUBTFUL: Style = AnsiColor::Yellow.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// One line for each checker; what is wrong or in doubt is below it, and last what the whole is.
pub(super) fn table(judgement: &Judgement) -> String {
    let names = judgement.verdicts.iter().map(|it| it.checker.name().len());
    let width = names.max().unwrap_or(0);
    let mut text = String::new();
    for verdict in &judgement.verdicts {
        line(verdict, width, &mut text);
    }
    let valid = |verdict: &&Verdict| verdict.validity() == Validity::Valid;
    let passed = judgement.verdicts.iter().filter(valid).count();
    let (style, validity) = (style(judgement.validity()), judgement.validity());
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{passed} passed, {} failed: {style}{validity}{style:#}",
        judgement.verdicts.len() - passed
    );
    text
}

fn line(verdict: &Verdict, width: usize, text: &mut String) {
    let (style, validity) = (style(verdict.validity()), verdict.validity().to_string());
    let counts = verdict.counts.iter();
    let counts: Vec<String> = counts
        .map(|(what, count)| format!("{what} {count}"))
        .collect();
    let row = format!(
        "{:width$}  {style}{validity:7}{style:#}  {}",
        verdict.checker.name(),
        counts.join(", ")
    );
    let _ = writeln!(text, "{}", row.trim_end());
    let mut said = BTreeSet::new();
    for violation in &verdict.violations {
        if said.insert(violation.guarantee) {
            let sentence = violation.guarantee.sentence();
            let _ = writeln!(text, "  {BAD}{}{BAD:#}: {sentence}", violation.guarantee);
        }
        let lines: Vec<String> = violation
            .evidence
            .iter()
            .map(|it| (it + 1).to_string())
            .collect();
        let _ = writeln!(text, "    {} (lines {})", violation.what, lines.join(", "));
    }
    let more = verdict.violated - verdict.violations.len() as u64;
    if more > 0 {
        let _ = writeln!(text, "  and {more} more");
    }
    for doubt in &verdict.doubts {
        let _ = writeln!(text, "  unknown: {doubt}");
    }
}

const fn style(validity: Validity) -> Style {
    match validity {
        Validity::Valid => GOOD,
        Validity::Unknown => DOUBTFUL,
        Validity::Invalid => BAD,
    }
}

#[cfg(test)]
mod tests {
    use super::table;
    use lockstep_jepsen_checkers::{CheckerId, History, Limits, judge_by};

    #[test]
    fn a_history_of_nothing_is_unknown_and_says_why() {
        let history = History::new();
        let checkers = [CheckerId::Digest, CheckerId::Freshness];
        let judgement = judge_by(&history, &Limits::default(), &checkers);
        let text = anstream::adapter::strip_str(&table(&judgement)).to_string();
        assert_eq!(
            text,
            "C1 digest     unknown  digests 0, entries 0\n  \
             unknown: fewer than two observers saw digests\n\
             C6 freshness  unknown  surfaces 0\n  \
             unknown: no replica said how fresh it is\n\
             0 passed, 2 failed: unknown\n"
        );
    }
}
