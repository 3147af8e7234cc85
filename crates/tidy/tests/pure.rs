//! The pure crates stay pure: the stricter lints are really in force, and no clock and no
//! unordered map is named even where a lint is switched off.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::fs;
use std::path::Path;

use lockstep_tidy::{Tree, code, crate_folder, workspace_root};

const PURE: &[&str] = &[
    "position",
    "model",
    "state",
    "catalog",
    "resolution",
    "jepsen-model",
];

/// What makes two replicas differ, or a test wait.
const IMPURE_WORDS: &[&str] = &[
    "HashMap",
    "HashSet",
    "Instant",
    "SystemTime",
    "RandomState",
    "tokio",
    "thread_rng",
];

/// Every match names every variant there, so that a new one breaks each place that must think.
const EXHAUSTIVE: &str = "#![deny(clippy::wildcard_enum_match_arm)]";

fn impure_words(path: &str, text: &str) -> Vec<String> {
    let code = code::without_comments_and_literals(text);
    let words = code::words(&code).filter(|word| IMPURE_WORDS.contains(word));
    words.map(|word| format!("{path} names {word}")).collect()
}

fn wrong_link(name: &str, link: Option<&Path>) -> Option<String> {
    let wanted = Path::new("../../lints/pure.clippy.toml");
    let right = link == Some(wanted);
    (!right).then(|| {
        format!(
            "{}/clippy.toml is no link to {}",
            crate_folder(name),
            wanted.display()
        )
    })
}

fn is_pure(path: &str) -> bool {
    PURE.iter()
        .any(|name| path.starts_with(&format!("{}/src/", crate_folder(name))))
}

const NOTHING: &[String] = &[];

#[test]
fn pure_crates_carry_the_stricter_lints() {
    let links = PURE.iter().filter_map(|name| {
        let folder = workspace_root().join(crate_folder(name));
        let link = fs::read_link(folder.join("clippy.toml"));
        wrong_link(name, link.ok().as_deref())
    });
    assert_eq!(links.collect::<Vec<_>>(), NOTHING);
}

#[test]
fn pure_crates_match_every_variant() {
    let tree = Tree::of_workspace().expect("the workspace is readable");
    let lenient: Vec<&&str> = PURE
        .iter()
        .filter(|name| {
            let text = tree
                .text(&format!("{}/src/lib.rs", crate_folder(name)))
                .unwrap_or_default();
            !text.contains(EXHAUSTIVE)
        })
        .collect();
    assert_eq!(
        lenient,
        Vec::<&&str>::new(),
        "these lib.rs lack {EXHAUSTIVE}"
    );
}

#[test]
fn pure_crates_name_no_clock_and_no_unordered_map() {
    let tree = Tree::of_workspace().expect("the workspace is readable");
    let sources = tree.with_extension("rs").filter(|(path, _)| is_pure(path));
    let found: Vec<String> = sources
        .flat_map(|(path, text)| impure_words(path, text))
        .collect();
    assert_eq!(found, NOTHING);
}

#[test]
fn a_clock_is_found_in_code_and_not_in_a_comment() {
    let text = "/// No Instant here.\nfn f() { std::time::Instant::now(); }";
    assert_eq!(impure_words("a.rs", text), ["a.rs names Instant"]);
}

#[test]
fn a_missing_or_other_link_is_found() {
    assert_eq!(
        wrong_link("a", Some(Path::new("../../lints/pure.clippy.toml"))),
        None
    );
    assert!(wrong_link("a", Some(Path::new("../clippy.toml"))).is_some());
    assert!(wrong_link("a", None).is_some());
}
