//! Every crate inherits the workspace's lints, version and edition.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use lockstep_tidy::{Tree, crate_folder};
use toml::{Table, Value};

/// What a crate takes from `[workspace.package]`.
const INHERITED: &[&str] = &["version", "edition", "rust-version", "license", "publish"];

fn inherits(value: Option<&Value>) -> bool {
    value
        .and_then(|value| value.get("workspace"))
        .and_then(Value::as_bool)
        == Some(true)
}

fn faults(name: &str, text: &str) -> Vec<String> {
    let table: Table = text
        .parse()
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let folder = crate_folder(name);
    let package = table.get("package");
    let mut faults = Vec::new();
    if !inherits(table.get("lints")) {
        faults.push(format!("{folder} does not inherit the workspace's lints"));
    }
    for key in INHERITED
        .iter()
        .filter(|key| !inherits(package.and_then(|package| package.get(**key))))
    {
        faults.push(format!("{folder} sets its own {key}"));
    }
    faults
}

const NOTHING: &[String] = &[];

#[test]
fn every_crate_inherits() {
    let tree = Tree::of_workspace().expect("the workspace is readable");
    let faults: Vec<String> = tree
        .crate_manifests()
        .flat_map(|(name, text)| faults(&name, text))
        .collect();
    assert_eq!(faults, NOTHING);
}

#[test]
fn a_crate_of_its_own_is_found() {
    let inherited: Vec<String> = INHERITED
        .iter()
        .map(|key| format!("{key}.workspace = true"))
        .collect();
    let inherited = inherited.join("\n");
    let right = format!("[package]\n{inherited}\n[lints]\nworkspace = true");
    assert_eq!(faults("a", &right), NOTHING);
    let wrong = right.replace("edition.workspace = true", "edition = '2021'");
    assert_eq!(faults("a", &wrong), ["crates/a sets its own edition"]);
    let unlinted = format!("[package]\n{inherited}");
    assert_eq!(
        faults("a", &unlinted),
        ["crates/a does not inherit the workspace's lints"]
    );
}
