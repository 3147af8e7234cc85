//! The change log keeps its shape: newest first, three headings each.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use lockstep_tidy::Tree;

const HEADINGS: &[&str] = &["Safety and performance", "Features", "Internals"];

fn faults(text: &str) -> Vec<String> {
    let sections: Vec<&str> = text.split("\n## ").skip(1).collect();
    let mut faults = Vec::new();
    if !sections
        .first()
        .is_some_and(|section| section.starts_with("Unreleased\n"))
    {
        faults.push("the first section is not Unreleased".to_owned());
    }
    for section in sections {
        let (name, body) = section.split_once('\n').unwrap_or((section, ""));
        let found: Vec<&str> = body
            .lines()
            .filter_map(|line| line.strip_prefix("### "))
            .collect();
        if found != HEADINGS {
            faults.push(format!(
                "{name} has the headings {found:?}, not {HEADINGS:?}"
            ));
        }
    }
    faults
}

const NOTHING: &[String] = &[];

#[test]
fn the_change_log_keeps_its_shape() {
    let tree = Tree::of_workspace().expect("the workspace is readable");
    assert_eq!(
        faults(tree.text("CHANGELOG.md").expect("CHANGELOG.md exists")),
        NOTHING
    );
}

#[test]
fn a_missing_section_and_a_missing_heading_are_found() {
    assert_eq!(
        faults("# Change log\n"),
        ["the first section is not Unreleased"]
    );
    let text = "#\n\n## Unreleased\n\n### Safety and performance\n\n### Features\n";
    assert_eq!(faults(text).len(), 1);
}
