//! What the doctor says can be read by programs, and it leaves nothing behind.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use serde_json::Value;
use std::process::Command;

#[test]
fn each_finding_has_an_outcome_and_nothing_is_left_behind() {
    let output = Command::new(env!("CARGO_BIN_EXE_lockstep-jepsen"))
        .args(["doctor", "-o", "json"])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    if said.contains("only root can break things") {
        eprintln!("skipped: {said}");
        return;
    }
    // What could not be undone would be said here.
    assert_eq!(said, "");
    let findings: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(findings.len(), 18);
    for finding in findings {
        for field in ["ability", "enables", "outcome"] {
            assert_ne!(finding[field].as_str().unwrap(), "", "{finding}");
        }
    }
}
