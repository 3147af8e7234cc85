//! Every file is used: Rust files by a `mod`, pages by a link, proto files by generated code; and
//! what a page names exists.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::collections::BTreeSet;

use lockstep_tidy::{Tree, crate_of, modules};

/// Files that Cargo compiles without a `mod`.
fn is_root(path: &str) -> bool {
    matches!(
        path.split('/').collect::<Vec<_>>().as_slice(),
        ["crates" | "jepsen", _, "src", "lib.rs" | "main.rs"]
            | ["crates" | "jepsen", _, "src", "bin", _]
            | ["crates" | "jepsen", _, "tests" | "benches" | "examples", _]
            | [
                "crates" | "jepsen",
                _,
                "tests" | "benches" | "examples",
                _,
                "main.rs"
            ]
            | ["crates" | "jepsen", _, "build.rs"]
    )
}

fn unreachable_sources(tree: &Tree) -> Vec<String> {
    let sources: BTreeSet<&str> = tree
        .with_extension("rs")
        .map(|(path, _)| path)
        .filter(|path| crate_of(path).is_some())
        .collect();
    let mut reached = BTreeSet::new();
    let mut open: Vec<String> = sources
        .iter()
        .filter(|path| is_root(path))
        .map(|&path| path.to_owned())
        .collect();
    while let Some(path) = open.pop() {
        let Some(text) = tree.text(&path) else {
            continue;
        };
        if reached.insert(path.clone()) {
            open.extend(modules::declared_files(&path, text));
        }
    }
    let dead = sources.into_iter().filter(|path| !reached.contains(*path));
    dead.map(|path| format!("{path} is reached by no mod"))
        .collect()
}

/// The relative links of a page, as paths from the root.
fn links(page: &str, text: &str) -> Vec<String> {
    let targets = text
        .split("](")
        .skip(1)
        .filter_map(|tail| tail.split(')').next());
    let relative = targets.filter(|target| !target.contains("://") && !target.starts_with('#'));
    relative
        .map(|target| resolve(page, target.split('#').next().unwrap_or(target)))
        .collect()
}

fn resolve(page: &str, target: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

fn unlinked_pages(tree: &Tree) -> Vec<String> {
    let linked: BTreeSet<String> = tree
        .with_extension("md")
        .flat_map(|(page, text)| links(page, text).into_iter().filter(move |to| to != page))
        .collect();
    let pages = tree.with_extension("md").map(|(path, _)| path);
    pages
        .filter(|path| path.starts_with("docs/") && !linked.contains(*path))
        .map(|path| format!("{path} is linked from no other page"))
        .collect()
}

fn broken_links(tree: &Tree) -> Vec<String> {
    let links = tree
        .with_extension("md")
        .flat_map(|(page, text)| links(page, text).into_iter().map(move |to| (page, to)));
    links
        .filter(|(_, to)| !tree.holds(to))
        .map(|(page, to)| format!("{page} links to {to}, which does not exist"))
        .collect()
}

/// The Rust files that a page names in backticks, from the root or from `crates/`.
fn missing_sources(tree: &Tree, page: &str) -> Vec<String> {
    let text = tree.text(page).unwrap_or_default();
    let spans = text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|span| span.ends_with(".rs"));
    let named = spans.filter(|span| span.contains('/') && !span.contains(['{', '*', ' ']));
    named
        .filter(|span| !tree.holds(span) && !tree.holds(&format!("crates/{span}")))
        .map(|span| format!("{page} names {span}, which does not exist"))
        .collect()
}

fn ungenerated_protos(tree: &Tree) -> Vec<String> {
    if !tree.holds("crates/proto/src/gen") {
        return Vec::new();
    }
    let mut missing = Vec::new();
    for (path, text) in tree
        .with_extension("proto")
        .filter(|(path, _)| path.starts_with("proto/"))
    {
        let package = text
            .lines()
            .find_map(|line| line.trim().strip_prefix("package "));
        let package = package.map_or("", |rest| rest.trim_end_matches(';').trim());
        let generated = format!("crates/proto/src/gen/{package}.rs");
        if !tree.holds(&generated) {
            missing.push(format!("{path} has no generated code at {generated}"));
        }
    }
    missing
}

fn workspace() -> Tree {
    Tree::of_workspace().expect("the workspace is readable")
}

const NOTHING: &[String] = &[];

#[test]
fn every_source_file_is_compiled() {
    assert_eq!(unreachable_sources(&workspace()), NOTHING);
}

#[test]
fn every_page_is_linked_and_every_link_leads_somewhere() {
    let tree = workspace();
    assert_eq!(unlinked_pages(&tree), NOTHING);
    assert_eq!(broken_links(&tree), NOTHING);
}

#[test]
fn pages_name_source_files_that_exist() {
    let tree = workspace();
    let pages = [
        "README.md",
        "docs/architecture.md",
        "docs/glossary.md",
        "docs/guarantees.md",
    ];
    let missing: BTreeSet<String> = pages
        .iter()
        .flat_map(|page| missing_sources(&tree, page))
        .collect();
    assert_eq!(missing, BTreeSet::new());
}

#[test]
fn every_proto_file_has_generated_code() {
    assert_eq!(ungenerated_protos(&workspace()), NOTHING);
}

#[test]
fn a_file_without_a_mod_is_found() {
    let tree = Tree::of_files([
        ("crates/a/src/lib.rs", "mod b;"),
        ("crates/a/src/b.rs", "// mod d;"),
        ("crates/a/src/c.rs", ""),
        ("crates/a/src/b/d.rs", ""),
        ("crates/a/tests/e.rs", "mod f;"),
        ("crates/a/tests/f/mod.rs", ""),
        ("jepsen/a/src/lib.rs", ""),
        ("jepsen/a/src/g.rs", ""),
    ]);
    assert_eq!(
        unreachable_sources(&tree),
        [
            "crates/a/src/b/d.rs is reached by no mod",
            "crates/a/src/c.rs is reached by no mod",
            "jepsen/a/src/g.rs is reached by no mod",
        ]
    );
}

#[test]
fn an_orphan_page_and_a_broken_link_are_found() {
    let tree = Tree::of_files([
        (
            "README.md",
            "[a](docs/a.md#part) [web](https://example.org/x.md) [top](#top)",
        ),
        ("docs/a.md", "[itself](a.md) [gone](../docs/c.md)"),
        ("docs/b.md", "[b](./b.md)"),
    ]);
    assert_eq!(
        unlinked_pages(&tree),
        ["docs/b.md is linked from no other page"]
    );
    assert_eq!(
        broken_links(&tree),
        ["docs/a.md links to docs/c.md, which does not exist"]
    );
}

#[test]
fn a_named_file_that_is_gone_is_found() {
    let tree = Tree::of_files([
        (
            "docs/a.md",
            "`b/src/c.rs`, `crates/b/src/c.rs`, `b/src/d.rs`, `b/{x,y}.rs`, `c.rs`",
        ),
        ("crates/b/src/c.rs", ""),
    ]);
    assert_eq!(
        missing_sources(&tree, "docs/a.md"),
        ["docs/a.md names b/src/d.rs, which does not exist"]
    );
}

#[test]
fn a_proto_file_without_code_is_found_once_code_is_there() {
    let proto = (
        "proto/lockstep/log/v1/log.proto",
        "syntax = \"proto3\";\npackage lockstep.log.v1;",
    );
    assert_eq!(ungenerated_protos(&Tree::of_files([proto])), NOTHING);
    let other = ("crates/proto/src/gen/lockstep.peer.v1.rs", "");
    assert_eq!(
        ungenerated_protos(&Tree::of_files([proto, other])),
        [
            "proto/lockstep/log/v1/log.proto has no generated code at crates/proto/src/gen/lockstep.log.v1.rs"
        ]
    );
}
