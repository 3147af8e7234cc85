//! A run in which all is well is valid, and with any one thing wrong the right checker says what,
//! which promise it breaks, and where it can be seen.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod health;
mod log;
mod scene;
mod streams;
mod time;

use lockstep_jepsen_checkers::*;
use scene::Scene;

#[test]
fn a_run_in_which_all_is_well_is_valid() {
    let scene = Scene::new();
    let judgement = judge(&scene.history(), &scene.limits);
    let last = judgement.to_string();
    assert_eq!(judgement.validity(), Validity::Valid, "{last}");
    assert_eq!(judgement.exit_code(), 0);
    assert!(last.ends_with("14 passed, 0 failed\n"), "{last}");
}

/// Who saw nothing has passed nothing.
#[test]
fn a_history_of_nothing_is_unknown_to_every_checker() {
    let judgement = judge(&History::new(), &Limits::default());
    assert_eq!(judgement.verdicts.len(), CheckerId::ALL.len());
    for verdict in &judgement.verdicts {
        assert_eq!(verdict.validity(), Validity::Unknown, "{verdict}");
    }
    assert_eq!(judgement.exit_code(), 2);
}
