//! Names say what a thing does, in the words of docs/glossary.md.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use lockstep_tidy::{Tree, code, is_generated};

/// Names that say nothing, alone or as a part of a longer one.
const VAGUE_PARTS: &[&str] = &["util", "utils", "helper", "helpers", "manager", "misc"];

/// Names that say nothing when they stand alone.
const VAGUE_NAMES: &[&str] = &["common", "shared", "types"];

/// Synonyms that the glossary replaces, with its word. Only such as have no second meaning here.
const SYNONYMS: &[(&str, &str)] = &[
    ("master", "leader"),
    ("slave", "follower"),
    ("epoch", "term"),
    ("shard", "slice"),
    ("subscription", "stream"),
    ("subscriptions", "stream"),
    ("gc", "purge"),
    ("whitelist", "allowed"),
    ("blacklist", "denied"),
];

/// Words after which Rust introduces a name.
const INTRODUCERS: &[&str] = &[
    "fn", "struct", "enum", "union", "trait", "type", "mod", "const", "static", "let", "mut",
];

fn is_vague(name: &str) -> bool {
    VAGUE_NAMES.contains(&name)
        || name
            .split(['_', '-'])
            .any(|part| VAGUE_PARTS.contains(&part))
}

/// The parts of a path that are vague: a folder, or a Rust file without its ending.
fn vague_paths(path: &str) -> Vec<String> {
    let parts = path
        .trim_end_matches(".rs")
        .split('/')
        .filter(|part| is_vague(part));
    parts
        .map(|part| format!("{path}: {part} says nothing; name it after what it does"))
        .collect()
}

/// Every name that a file introduces by a keyword.
fn introduced(code: &str) -> Vec<&str> {
    let words: Vec<&str> = code::words(code).collect();
    let pairs = words.windows(2).filter_map(|pair| match pair {
        [first, second] if INTRODUCERS.contains(first) => Some(*second),
        _ => None,
    });
    pairs.collect()
}

/// Splits `snake_case`, `SHOUTED` and `CamelCase` names into lowercase words.
fn parts(name: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for snake in name.split('_') {
        let shouted = snake.chars().all(|char| !char.is_lowercase());
        let mut part = String::new();
        for char in snake.chars() {
            if char.is_uppercase() && !shouted && !part.is_empty() {
                parts.push(std::mem::take(&mut part));
            }
            part.extend(char.to_lowercase());
        }
        parts.push(part);
    }
    parts
}

fn bad_names(path: &str, text: &str) -> Vec<String> {
    let code = code::without_comments_and_literals(text);
    let mut bad = Vec::new();
    for name in introduced(&code) {
        let parts = parts(name);
        for (synonym, word) in SYNONYMS
            .iter()
            .filter(|(synonym, _)| parts.iter().any(|part| part == synonym))
        {
            bad.push(format!(
                "{path}: {name} says {synonym}; the glossary says {word}"
            ));
        }
        if parts
            .iter()
            .any(|part| VAGUE_PARTS.contains(&part.as_str()))
        {
            bad.push(format!(
                "{path}: {name} says nothing; name it after what it does"
            ));
        }
    }
    bad.extend(public_getters(&code).map(|name| format!("{path}: {name} needs no get_")));
    bad
}

/// Public functions called `get_...`. A trait of others may ask for such a name; its functions
/// carry no `pub`.
fn public_getters(code: &str) -> impl Iterator<Item = &str> {
    code.lines().filter_map(|line| {
        let after = line
            .trim_start()
            .strip_prefix("pub ")
            .and_then(|rest| rest.split_once("fn "))?;
        code::words(after.1)
            .next()
            .filter(|name| name.starts_with("get_"))
    })
}

const NOTHING: &[String] = &[];

#[test]
fn no_path_is_vague() {
    let tree = Tree::of_workspace().expect("the workspace is readable");
    let sources = tree
        .with_extension("rs")
        .map(|(path, _)| path)
        .filter(|path| !is_generated(path));
    let bad: Vec<String> = sources.flat_map(vague_paths).collect();
    assert_eq!(bad, NOTHING);
}

#[test]
fn names_use_the_glossary() {
    let tree = Tree::of_workspace().expect("the workspace is readable");
    let sources = tree
        .with_extension("rs")
        .filter(|(path, _)| !is_generated(path));
    let bad: Vec<String> = sources
        .flat_map(|(path, text)| bad_names(path, text))
        .collect();
    assert_eq!(bad, NOTHING);
}

#[test]
fn a_vague_path_is_found_wherever_it_stands() {
    for path in [
        "crates/a/src/utils.rs",
        "crates/common/src/a.rs",
        "crates/a/tests/helpers/mod.rs",
    ] {
        assert_eq!(vague_paths(path).len(), 1, "{path}");
    }
    assert_eq!(vague_paths("crates/a/src/content_types.rs"), NOTHING);
}

#[test]
fn a_synonym_is_found_in_every_spelling() {
    let text = "struct MasterNode; const EPOCH_MAX: u8 = 1; fn open_shard() {} // master";
    assert_eq!(
        bad_names("a.rs", text),
        [
            "a.rs: MasterNode says master; the glossary says leader",
            "a.rs: EPOCH_MAX says epoch; the glossary says term",
            "a.rs: open_shard says shard; the glossary says slice",
        ]
    );
}

#[test]
fn a_name_of_others_may_be_used_but_not_introduced() {
    assert_eq!(
        bad_names(
            "a.rs",
            "let start = UNIX_EPOCH; use tracing_subscriber as logs;"
        ),
        NOTHING
    );
    assert_eq!(bad_names("a.rs", "mod thing_utils {}").len(), 1);
}

#[test]
fn a_public_getter_is_found_and_a_trait_method_is_not() {
    assert_eq!(
        bad_names("a.rs", "    pub async fn get_port(&self) {}"),
        ["a.rs: get_port needs no get_"]
    );
    assert_eq!(
        bad_names("a.rs", "    async fn get_profile(&self) {}"),
        NOTHING
    );
}
