//! What the doctor says can be read by programs, and it leaves nothing behind; what a killed run
//! left is told, and undone on request, if its warden could not.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The lab with books of its own, so that it neither meets nor disturbs another run.
fn lab(books: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockstep-jepsen"));
    command.args(words).env("LOCKSTEP_JEPSEN_BOOKS", books);
    command
}

fn run(books: &Path, words: &[&str]) -> Output {
    lab(books, words).output().unwrap()
}

/// What the doctor finds, by ability; nothing if this is not root.
fn findings(books: &Path) -> Option<BTreeMap<String, Value>> {
    let output = run(books, &["doctor", "-o", "json"]);
    let said = String::from_utf8(output.stderr).unwrap();
    if said.contains("only root can break things") {
        eprintln!("skipped: {said}");
        return None;
    }
    // What could not be undone would be said here.
    assert_eq!(said, "");
    let findings: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let named = |finding: Value| (finding["ability"].as_str().unwrap().to_owned(), finding);
    Some(findings.into_iter().map(named).collect())
}

#[test]
fn each_finding_has_an_outcome_and_nothing_is_left_behind() {
    let books = tempfile::tempdir().unwrap();
    let Some(findings) = findings(books.path()) else {
        return;
    };
    assert_eq!(findings.len(), 19);
    for finding in findings.values() {
        for field in ["ability", "enables", "outcome"] {
            assert_ne!(finding[field].as_str().unwrap(), "", "{finding}");
        }
    }
    assert_eq!(findings["clean-machine"]["outcome"], "works");
    assert_eq!(fs::read_dir(books.path()).unwrap().count(), 0);
}

#[test]
fn what_a_killed_run_left_is_told_and_undone_on_request() {
    let books = tempfile::tempdir().unwrap();
    let left = tempfile::tempdir().unwrap().keep();
    // No process has started then.
    let lines = [
        json!({"owner": {"id": 1, "started": u64::MAX}}),
        json!({"owes": {"folder": left}}),
    ];
    let book = books.path().join("ls0001.jsonl");
    fs::write(&book, lines.map(|line| format!("{line}\n")).concat()).unwrap();
    let Some(findings) = findings(books.path()) else {
        return;
    };
    let told =
        "the killed run ls0001 noted 1 things to undo; `cargo xtask jepsen clean` undoes them";
    assert_eq!(findings["clean-machine"]["outcome"], told);
    assert!(left.exists());
    let cleaned = run(books.path(), &["clean"]);
    let said = String::from_utf8(cleaned.stderr).unwrap();
    assert_eq!(said, "undid what the killed run ls0001 had left\n");
    assert!(!left.exists() && !book.exists());
}

#[test]
fn what_a_killed_run_left_is_undone_at_once_by_its_warden() {
    let (books, out) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let out = out.path().to_str().unwrap();
    // Any program will do; this one does not know what is asked of it, and ends.
    let words = ["corrupt", "--lockstep", "/bin/true", "--out", out];
    let mut killed = lab(books.path(), &words)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let notes = || -> usize {
        let books = fs::read_dir(books.path()).unwrap();
        let texts = books.filter_map(|book| fs::read_to_string(book.unwrap().path()).ok());
        texts.map(|text| text.lines().count()).sum()
    };
    let wait_until = |is_so: &dyn Fn() -> bool| {
        let deadline = Instant::now() + Duration::from_secs(120);
        while !is_so() {
            assert!(Instant::now() < deadline, "not within two minutes");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    // The owner and the three processes.
    wait_until(&|| notes() >= 4);
    killed.kill().unwrap();
    killed.wait().unwrap();
    wait_until(&|| notes() == 0);
}
