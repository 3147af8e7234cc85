//! The seeds that once showed a bug are kept in one form, and each names its bug.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use lockstep_tidy::{Tree, workspace_root};

const SEEDS: &str = "jepsen/seeds/regress.txt";
const RECORD: &str = "docs/robustness.md";
const HARNESSES: &[&str] = &["sim", "jepsen"];

fn is_seed(text: &str) -> bool {
    let hexadecimal = text.strip_prefix("0x");
    hexadecimal.map_or_else(
        || text.parse::<u64>().is_ok(),
        |digits| u64::from_str_radix(digits, 16).is_ok(),
    )
}

fn is_commit(text: &str) -> bool {
    text.len() >= 7 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// What is wrong with the lines of a list of seeds, given the page that knows the bugs.
fn faults(text: &str, record: &str) -> Vec<String> {
    let lines = text.lines().enumerate();
    let seeds = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let fault = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [harness, seed, bug, commit] = words.as_slice() else {
            return Some(format!(
                "{} words, not harness, seed, bug, commit",
                words.len()
            ));
        };
        if !HARNESSES.contains(harness) {
            return Some(format!("`{harness}` is none of {}", HARNESSES.join(", ")));
        }
        if !is_seed(seed) || !is_commit(commit) {
            return Some(format!("`{seed}` is no seed or `{commit}` no commit"));
        }
        let known = record.contains(&format!("| {bug} |"));
        (!known).then(|| format!("{RECORD} knows no bug `{bug}`"))
    };
    seeds
        .filter_map(|(number, line)| {
            fault(line).map(|fault| format!("{SEEDS}:{}: {fault}", number + 1))
        })
        .collect()
}

#[test]
fn every_seed_names_its_bug() {
    let tree = Tree::of_workspace().expect("the workspace is readable");
    let seeds = std::fs::read_to_string(workspace_root().join(SEEDS)).unwrap();
    let record = tree.text(RECORD).unwrap();
    assert_eq!(faults(&seeds, record), Vec::<String>::new());
}

#[test]
fn a_line_of_another_form_is_found() {
    let record = "| B1 | what |";
    let text = "# harness\n\nsim 41 B1 971de70\nsim 0xff B1 971de70\n";
    assert_eq!(faults(text, record), Vec::<String>::new());
    for (line, fault) in [
        ("sim 41 B1", "3 words, not harness, seed, bug, commit"),
        ("fuzz 41 B1 971de70", "`fuzz` is none of sim, jepsen"),
        ("sim x B1 971de70", "`x` is no seed or `971de70` no commit"),
        ("sim 41 B2 971de70", "docs/robustness.md knows no bug `B2`"),
    ] {
        assert_eq!(faults(line, record), [format!("{SEEDS}:1: {fault}")]);
    }
}
