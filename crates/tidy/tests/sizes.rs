//! A file is a page. Clippy holds the limits of functions and parameters; this holds those of
//! files and crates, and prints the distribution (`cargo test -p lockstep-tidy -- --nocapture`).
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::collections::BTreeMap;

use lockstep_tidy::{Tree, code, crate_of, is_generated, is_test_path};

/// Lines of a source file, inline test modules not counted.
const SOURCE_LINES_MAX: usize = 500;

/// Lines of a file that holds only tests.
const TEST_LINES_MAX: usize = 800;

/// Source lines of a crate.
const CRATE_LINES_MAX: usize = 6000;

/// Files above their limit, with the lines they have. An entry may shrink and go, never grow.
const RATCHET: &[(&str, usize)] = &[];

fn size(path: &str, text: &str) -> usize {
    if is_test_path(path) {
        text.lines().count()
    } else {
        code::lines_without_tests(text)
    }
}

fn limit(path: &str) -> usize {
    if is_test_path(path) {
        TEST_LINES_MAX
    } else {
        SOURCE_LINES_MAX
    }
}

fn too_long(path: &str, lines: usize, ratchet: &[(&str, usize)]) -> Option<String> {
    let listed = ratchet
        .iter()
        .find(|(listed, _)| *listed == path)
        .map(|(_, lines)| *lines);
    let allowed = listed.unwrap_or(limit(path));
    (lines > allowed).then(|| format!("{path} has {lines} lines; {allowed} are allowed"))
}

/// Ratchet entries that are no longer needed, or could be tighter.
fn slack(sizes: &BTreeMap<String, usize>, ratchet: &[(&str, usize)]) -> Vec<String> {
    let mut slack = Vec::new();
    for (path, listed) in ratchet {
        match sizes.get(*path) {
            None => slack.push(format!("{path} is listed and does not exist")),
            Some(&lines) if lines <= limit(path) => {
                slack.push(format!("{path} is within its limit: unlist it"))
            }
            Some(&lines) if lines < *listed => {
                slack.push(format!("{path} has {lines} lines: list it so"))
            }
            Some(_) => {}
        }
    }
    slack
}

fn crate_sizes(sizes: &BTreeMap<String, usize>) -> BTreeMap<String, usize> {
    let mut crates = BTreeMap::new();
    for (path, lines) in sizes.iter().filter(|(path, _)| !is_test_path(path)) {
        let name = crate_of(path).unwrap_or_default();
        *crates.entry(name).or_default() += lines;
    }
    crates
}

/// The value that `share` percent of the values do not exceed; zero of none.
fn percentile(sorted: &[usize], share: usize) -> usize {
    let rank = (sorted.len() * share).div_ceil(100).max(1);
    sorted.get(rank - 1).copied().unwrap_or(0)
}

fn distribution(name: &str, mut lines: Vec<usize>) -> String {
    lines.sort_unstable();
    let [median, p90, max] = [50, 90, 100].map(|share| percentile(&lines, share));
    format!(
        "{name}: {} files, lines median {median}, p90 {p90}, max {max}",
        lines.len()
    )
}

fn workspace_sizes() -> BTreeMap<String, usize> {
    let tree = Tree::of_workspace().expect("the workspace is readable");
    let sources = tree
        .with_extension("rs")
        .filter(|(path, _)| !is_generated(path));
    sources
        .map(|(path, text)| (path.to_owned(), size(path, text)))
        .collect()
}

const NOTHING: &[String] = &[];

#[test]
fn every_file_is_a_page() {
    let sizes = workspace_sizes();
    let (tests, sources): (Vec<_>, Vec<_>) = sizes.iter().partition(|(path, _)| is_test_path(path));
    println!(
        "{}",
        distribution("source", sources.iter().map(|(_, lines)| **lines).collect())
    );
    println!(
        "{}",
        distribution("tests", tests.iter().map(|(_, lines)| **lines).collect())
    );
    println!("lines per crate: {:?}", crate_sizes(&sizes));
    let long: Vec<String> = sizes
        .iter()
        .filter_map(|(path, lines)| too_long(path, *lines, RATCHET))
        .collect();
    assert_eq!(long, NOTHING);
}

#[test]
fn the_ratchet_holds_no_slack() {
    assert_eq!(slack(&workspace_sizes(), RATCHET), NOTHING);
}

#[test]
fn no_crate_outgrows_its_name() {
    let sizes = workspace_sizes();
    let large: Vec<_> = crate_sizes(&sizes)
        .into_iter()
        .filter(|(_, lines)| *lines > CRATE_LINES_MAX)
        .collect();
    assert_eq!(large, []);
}

#[test]
fn a_long_file_is_found_and_a_listed_one_may_not_grow() {
    let path = "crates/a/src/b.rs";
    assert_eq!(too_long(path, 500, &[]), None);
    let found = "crates/a/src/b.rs has 501 lines; 500 are allowed";
    assert_eq!(too_long(path, 501, &[]).as_deref(), Some(found));
    assert_eq!(too_long(path, 501, &[(path, 501)]), None);
    assert!(too_long(path, 502, &[(path, 501)]).is_some());
    assert_eq!(too_long("crates/a/tests/b.rs", 501, &[]), None);
    assert!(too_long("crates/a/tests/b.rs", 801, &[]).is_some());
}

#[test]
fn an_idle_ratchet_entry_is_found() {
    let sizes = BTreeMap::from([("a.rs".to_owned(), 400), ("b.rs".to_owned(), 510)]);
    let ratchet = [("a.rs", 520), ("b.rs", 520), ("c.rs", 520)];
    assert_eq!(
        slack(&sizes, &ratchet),
        [
            "a.rs is within its limit: unlist it",
            "b.rs has 510 lines: list it so",
            "c.rs is listed and does not exist",
        ]
    );
}

#[test]
fn the_distribution_is_exact() {
    let line = distribution("x", (1..=10).rev().collect());
    assert_eq!(line, "x: 10 files, lines median 5, p90 9, max 10");
    assert_eq!(
        distribution("y", Vec::new()),
        "y: 0 files, lines median 0, p90 0, max 0"
    );
}

#[test]
fn crates_are_summed_without_their_tests() {
    let sizes = [
        ("crates/a/src/b.rs", 2),
        ("crates/a/src/c.rs", 3),
        ("crates/a/tests/d.rs", 4),
        ("jepsen/a/src/b.rs", 7),
    ];
    let sizes = sizes.map(|(path, lines)| (path.to_owned(), lines)).into();
    assert_eq!(
        crate_sizes(&sizes),
        BTreeMap::from([("a".to_owned(), 5), ("jepsen-a".to_owned(), 7)])
    );
}
