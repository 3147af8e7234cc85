//! Decision records keep their shape: a dated name, one page, three headings.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use lockstep_tidy::Tree;

const HEADINGS: &[&str] = &["Context", "Decision", "What would change our mind"];

/// One page.
const LINES_MAX: usize = 60;

fn is_dated(name: &str) -> bool {
    let date = name.get(..10).unwrap_or_default();
    let parts: Vec<Option<u16>> = date.split('-').map(|part| part.parse().ok()).collect();
    let right_date = matches!(parts.as_slice(), [Some(2026..), Some(1..=12), Some(1..=31)]);
    let slug = name
        .get(10..)
        .and_then(|rest| rest.strip_prefix('-')?.strip_suffix(".md"));
    let right_slug = slug.is_some_and(|slug| {
        !slug.is_empty()
            && slug
                .chars()
                .all(|char| matches!(char, 'a'..='z' | '0'..='9' | '-'))
    });
    right_date && right_slug
}

fn faults(name: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if !is_dated(name) {
        faults.push(format!("{name} is not named YYYY-MM-DD-slug.md"));
    }
    if !text.starts_with("# ") {
        faults.push(format!("{name} does not begin with a title"));
    }
    let found: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .collect();
    if found != HEADINGS {
        faults.push(format!(
            "{name} has the headings {found:?}, not {HEADINGS:?}"
        ));
    }
    let lines = text.lines().count();
    if lines > LINES_MAX {
        faults.push(format!("{name} has {lines} lines; {LINES_MAX} are allowed"));
    }
    faults
}

const NOTHING: &[String] = &[];

#[test]
fn every_record_keeps_its_shape() {
    let tree = Tree::of_workspace().expect("the workspace is readable");
    let records: Vec<(&str, &str)> = tree
        .iter()
        .filter_map(|(path, text)| Some((path.strip_prefix("docs/decisions/")?, text)))
        .filter(|(name, _)| *name != "README.md")
        .collect();
    assert_ne!(records, []);
    let faults: Vec<String> = records
        .into_iter()
        .flat_map(|(name, text)| faults(name, text))
        .collect();
    assert_eq!(faults, NOTHING);
}

#[test]
fn a_record_without_a_date_or_a_heading_is_found() {
    let right = "# A\n\n## Context\n\n## Decision\n\n## What would change our mind\n";
    assert_eq!(faults("2026-11-30-a.md", right), NOTHING);
    for name in [
        "a.md",
        "2026-13-01-a.md",
        "2026-1-01-a.md",
        "2026-11-30-A.md",
        "2026-11-30-.md",
    ] {
        assert_eq!(
            faults(name, right),
            [format!("{name} is not named YYYY-MM-DD-slug.md")]
        );
    }
    assert_eq!(faults("2026-11-30-a.md", "# A\n\n## Decision\n").len(), 1);
    assert_eq!(
        faults("2026-11-30-a.md", &format!("{right}{}", "x\n".repeat(60))).len(),
        1
    );
}
