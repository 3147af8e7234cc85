//! Every recorded scenario, replayed against three replicas in each recorded
//! configuration, and every answer compared: on the simulated API server, and
//! with `LOCKSTEP_KUBE=1` on the real one. `cargo xtask parity` runs it too.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod harness;
mod replayer;

use harness::api::Api;
use replayer::say;
use std::{env, fs};
use tokio::sync::Mutex;
use xtask::parity::{REPORT, Report, SCENARIO, differences};

/// A dozen replicas are enough for a machine.
static ONE_REPLAY: Mutex<()> = Mutex::const_new(());

/// Hands the report to whoever asked for it; else it must be without a difference.
fn conclude(report: &Report) {
    match env::var_os(REPORT) {
        Some(path) => fs::write(path, serde_json::to_string(report).unwrap()).unwrap(),
        None => {
            let total = report.total();
            say(&format!("{total:?}"));
            assert!(total.equal > 0, "nothing was compared");
            let shown = differences(report);
            let shown = anstream::adapter::strip_str(&shown).to_string();
            assert_eq!(total.different, 0, "{shown}");
        }
    }
}

fn prefix() -> String {
    env::var(SCENARIO).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_recorded_answer_is_given_on_the_simulated_api_server() {
    let _alone = ONE_REPLAY.lock().await;
    let api = Api::simulated().await;
    conclude(&replayer::replay(&api, "simulated", &prefix()).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_recorded_answer_is_given_on_the_real_api_server() {
    let _alone = ONE_REPLAY.lock().await;
    if let Some(api) = Api::real("parity on the real API server") {
        conclude(&replayer::replay(&api, "real", &prefix()).await);
    }
}
