//! A page that says "this test shows it" names a test that is there.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::collections::BTreeSet;

use lockstep_tidy::{Tree, code};

/// Pages that rest on tests.
const PAGES: &[&str] = &[
    "docs/field-reports.md",
    "docs/guarantees.md",
    "docs/robustness.md",
];

/// A name with so many underscores is a sentence, and so a test.
const UNDERSCORES_MIN: usize = 3;

/// The sentences between backticks.
fn named(page: &str) -> BTreeSet<&str> {
    let quoted = page.split('`').skip(1).step_by(2);
    let is_sentence = |name: &&str| {
        let is_word =
            |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '_';
        name.chars().all(is_word) && name.matches('_').count() >= UNDERSCORES_MIN
    };
    // Metrics are sentences too.
    quoted
        .filter(is_sentence)
        .filter(|name| !name.starts_with("lockstep_"))
        .collect()
}

/// The functions that a source defines.
fn defined(text: &str) -> BTreeSet<String> {
    let code = code::without_comments_and_literals(text);
    let words: Vec<&str> = code::words(&code).collect();
    let pairs = words.windows(2).filter(|pair| pair.first() == Some(&"fn"));
    pairs
        .filter_map(|pair| pair.get(1))
        .map(|name| (*name).to_owned())
        .collect()
}

#[test]
fn every_test_that_a_page_names_is_there() {
    let tree = Tree::of_workspace().expect("the workspace is readable");
    let sources = tree.with_extension("rs");
    let defined: BTreeSet<String> = sources.flat_map(|(_, text)| defined(text)).collect();
    let mut missing = Vec::new();
    for path in PAGES {
        let page = tree
            .text(path)
            .unwrap_or_else(|| panic!("{path} is missing"));
        let names = named(page).into_iter();
        let gone = names.filter(|name| !defined.contains(*name));
        missing.extend(gone.map(|name| format!("{path} names {name}")));
    }
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn sentences_are_told_from_other_names() {
    let page = "`a_test_of_it` and `lockstep_age_seconds_total`, `state`, `--snapshot_x_y_z`";
    assert_eq!(named(page), BTreeSet::from(["a_test_of_it"]));
    let text = "fn a_test_of_it() {} // fn another_that_is_not_there()";
    assert_eq!(defined(text), BTreeSet::from(["a_test_of_it".to_owned()]));
}
