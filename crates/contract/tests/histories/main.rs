//! Random histories of all kinds of objects, and clients of every kind that look at random
//! times: what each holds is what an oracle works out from the current objects, and no
//! message on the way says what was never so.
//!
//! ```text
//! history ─▶ objects ─▶ Mesh ─▶ Board ─▶ service ─▶ generated client ─fold─▶ what it holds
//!               │                                                               ║ equal
//!               └────────────────────▶ oracle ──────────────────────▶ what is right
//! ```
//!
//! A failure prints its seed and the shortest history that still fails. `LOCKSTEP_SEED`
//! plays the same histories again, `LOCKSTEP_CASES` says how many.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod hearing;
mod history;
mod in_process;
mod objects;
mod oracle;
mod over_sockets;
mod play;
mod scenes;
mod seats;
mod service_profiles;
mod universe;
mod world;

use lockstep_contract::{board::Board, serve::Served};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};
use std::{
    hash::{BuildHasher, RandomState},
    panic::{AssertUnwindSafe, catch_unwind},
};

use crate::{
    hearing::Checked,
    history::{History, histories},
    in_process::InProcess,
    over_sockets::OverSockets,
};

/// How many histories a run plays unless it is told otherwise.
const CASES: u32 = 2_500;

/// How many events a history has at most.
const EVENTS_MAX: usize = 60;

/// How many of them are played over sockets.
const CASES_OVER_SOCKETS: u32 = 100;

/// How long a failing history is shrunk; milliseconds.
const SHRINK_TIME_MS: u32 = 60_000;

#[test]
fn every_client_holds_what_the_objects_say() {
    let cases = number("LOCKSTEP_CASES").map(|it| it.try_into().expect("a count"));
    check(cases.unwrap_or(CASES), |history| {
        play::play(history, InProcess::new())
    });
}

#[test]
fn every_client_of_a_socket_holds_what_the_objects_say() {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().expect("a runtime");
    check(CASES_OVER_SOCKETS, |history| {
        let served = runtime.block_on(Served::of(Board::with(Vec::new())));
        play::play(history, OverSockets::new(&runtime, &served))
    });
}

fn check(cases: u32, play: impl Fn(&History) -> Checked) {
    let seed = number("LOCKSTEP_SEED").unwrap_or_else(|| RandomState::new().hash_one(0));
    println!("LOCKSTEP_SEED={seed} LOCKSTEP_CASES={cases}");
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 20_000,
        max_shrink_time: SHRINK_TIME_MS,
        ..Config::default()
    };
    let mut runner = TestRunner::new_with_rng(config, rng);
    let result = runner.run(&histories(EVENTS_MAX), |history| {
        play(&history).map_err(TestCaseError::fail)
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(_, history)) => {
            let history = shortened(history, &play);
            let why = failure(&history, &play).unwrap_or_default();
            panic!("LOCKSTEP_SEED={seed}: {why}\n\nin the history\n{history}")
        }
        Err(aborted @ TestError::Abort(_)) => panic!("LOCKSTEP_SEED={seed}: {aborted}"),
    }
}

/// The history without what it fails without: shrinking an event can make another one idle.
fn shortened(mut history: History, play: &impl Fn(&History) -> Checked) -> History {
    let fails = |it: &History| failure(it, play).is_some();
    while let Some(shorter) = history.shorter().into_iter().find(fails) {
        history = shorter;
    }
    history
}

/// Why a history fails, by an error or a panic.
fn failure(history: &History, play: &impl Fn(&History) -> Checked) -> Option<String> {
    match catch_unwind(AssertUnwindSafe(|| play(history))) {
        Ok(checked) => checked.err(),
        Err(_) => Some("a panic, see above".to_owned()),
    }
}

/// A number in the environment.
fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} must be a number, not `{text}`")),
    )
}
