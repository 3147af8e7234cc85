//! `check`, as a script meets it: exit codes, one line that says what is wrong, and a report.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

/// The run that the checkers' own tests let go wrong.
#[path = "../../checkers/tests/anomalies/scene.rs"]
#[allow(dead_code, reason = "made for the tests of the checkers")]
mod scene;

use std::{
    fs,
    path::Path,
    process::{Command, Output},
};

use lockstep_jepsen_checkers::{History, Seen, What};
use scene::Scene;
use serde_json::Value;

fn check(folder: &Path, words: &[&str]) -> (Option<i32>, Output) {
    let program = env!("CARGO_BIN_EXE_lockstep-jepsen");
    let mut command = Command::new(program);
    let output = command
        .arg("check")
        .args(words)
        .current_dir(folder)
        .output();
    let output = output.unwrap();
    (output.status.code(), output)
}

fn write(scene: &Scene, folder: &Path) {
    let file = fs::File::create(folder.join("history.jsonl")).unwrap();
    scene.history().write_to(file).unwrap();
    let limits = serde_json::to_string(&scene.limits).unwrap();
    fs::write(folder.join("limits.json"), limits).unwrap();
}

const WORDS: [&str; 3] = ["history.jsonl", "--limits", "limits.json"];

#[test]
fn a_history_in_which_all_is_well_is_zero_and_leaves_its_report() {
    let folder = tempfile::tempdir().unwrap();
    write(&Scene::new(), folder.path());
    let words = [&WORDS[..], &["--report", "run"]].concat();
    let (code, output) = check(folder.path(), &words);
    let out = String::from_utf8(output.stdout).unwrap();
    assert_eq!(code, Some(0), "{out}");
    assert!(out.ends_with("14 passed, 0 failed: valid\n"), "{out}");
    for name in [
        "results.json",
        "report.md",
        "timeline.html",
        "freshness.svg",
    ] {
        assert!(folder.path().join("run").join(name).exists(), "{name}");
    }
}

#[test]
fn a_broken_guarantee_is_one_and_told_with_its_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = Scene::new();
    scene.edit(|event| match &mut event.what {
        What::Seen(Seen::Final(last)) => {
            last.rev.number = 3;
            true
        }
        _ => false,
    });
    write(&scene, folder.path());
    let words = [&WORDS[..], &["-o", "json"]].concat();
    let (code, output) = check(folder.path(), &words);
    assert_eq!(code, Some(1));
    let results: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(results["verdict"], "invalid");
    let (_, output) = check(folder.path(), &WORDS);
    let out = String::from_utf8(output.stdout).unwrap();
    let durable = "durable: A revision that anybody saw survives";
    assert!(out.contains(durable), "{out}");
}

#[test]
fn too_little_and_what_is_no_history_are_two() {
    let folder = tempfile::tempdir().unwrap();
    let file = fs::File::create(folder.path().join("empty.jsonl")).unwrap();
    History::new().write_to(file).unwrap();
    assert_eq!(check(folder.path(), &["empty.jsonl"]).0, Some(2));
    fs::write(folder.path().join("torn.jsonl"), "{\"i\":0,").unwrap();
    for (history, error) in [
        ("torn.jsonl", "error: torn.jsonl: line 1: no event: "),
        ("none.jsonl", "error: none.jsonl: No such file or directory"),
    ] {
        let (code, output) = check(folder.path(), &[history]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(code, Some(2));
        assert!(said.starts_with(error), "{said}");
    }
}
