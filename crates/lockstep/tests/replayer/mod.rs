//! Replays recorded scenarios, all at the same time in one API server.
//!
//! ```text
//! objects, edits ─▶ API server ─▶ a fleet for each configuration ─▶ a client of its leader,
//!       ▲                                                           a client of a follower
//!       └── step by step: edit, settle, close and open, listen to the end ◀──┘
//! ```
//!
//! Scenarios share neither namespaces nor addresses nor nodes, so step 2 of
//! one disturbs no other; that a stream hears nothing after its last step is
//! compared too.
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    reason = "only one test uses it, and a test fails by panicking"
)]

pub mod client;
pub mod ear;
pub mod fleets;
pub mod judge;
pub mod player;
pub mod writer;

use futures::{StreamExt, future::join_all, stream};
use lockstep_contract::corpus::{self, Scenario};
use std::{
    io::Write,
    time::{Duration, Instant},
};
use xtask::parity::Report;

use crate::harness::api::Api;
use fleets::Configured;
use judge::Law;
use player::Player;
use writer::Writer;

/// How many scenarios write at the same time.
const WRITERS: usize = 16;

/// Says on standard error how far it is, past the capture of the test harness.
pub fn say(line: &str) {
    let _ = std::io::stderr().write_all(format!("   parity: {line}\n").as_bytes());
}

/// Replays the scenarios whose names begin so.
pub async fn replay(api: &Api, kind: &str, prefix: &str) -> Report {
    let begun = Instant::now();
    let law = Law::read();
    let all = corpus::scenarios(&corpus::folder()).unwrap();
    let all: Vec<Scenario> = all
        .into_iter()
        .filter(|it| it.name.starts_with(prefix))
        .collect();
    let writer = Writer::new(api.client().await);
    write(&all, async |scenario| {
        writer.create_all(&scenario.objects).await;
    })
    .await;
    let mut fleets = Configured::start(api, &all);
    let names: Vec<String> = fleets.iter().map(|it| it.name.clone()).collect();
    let lead = settle(&fleets).await;
    let mut players: Vec<Player<'_>> = Vec::new();
    for (fleet, lead) in fleets.iter().zip(lead) {
        players.extend(fleet.players(&all, lead).await);
    }
    say(&format!(
        "{} scenarios, {} clients, fleets {}: ready after {:.1} s",
        all.len(),
        players.len(),
        names.join(", "),
        begun.elapsed().as_secs_f64()
    ));
    let steps = all
        .iter()
        .map(|it| it.script.steps.len())
        .max()
        .unwrap_or(0);
    for number in 1..=u32::try_from(steps).unwrap() {
        let step_begun = Instant::now();
        step(number, &all, &writer, &fleets, &mut players).await;
        let took = step_begun.elapsed().as_secs_f64();
        say(&format!("step {number} of {steps}: {took:.1} s"));
    }
    let rows = law.judge(&all, &mut players).await;
    for fleet in &mut fleets {
        fleet.assert_alive();
    }
    Report {
        api: kind.to_owned(),
        took_ms: u64::try_from(begun.elapsed().as_millis()).unwrap(),
        rows,
    }
}

async fn step(
    number: u32,
    all: &[Scenario],
    writer: &Writer,
    fleets: &[Configured],
    players: &mut [Player<'_>],
) {
    write(all, async |scenario| {
        let steps = scenario.script.steps.iter();
        for step in steps.filter(|it| it.step == number) {
            for edit in &step.edits {
                writer.edit(edit).await;
            }
        }
    })
    .await;
    settle(fleets).await;
    join_all(players.iter_mut().map(|it| it.close_and_open(number))).await;
    let settled = Instant::now();
    join_all(players.iter_mut().map(|it| it.listen(number, settled))).await;
}

async fn write(all: &[Scenario], each: impl AsyncFn(&Scenario)) {
    let each = &each;
    stream::iter(all)
        .for_each_concurrent(WRITERS, async |scenario| each(scenario).await)
        .await;
}

/// Waits until every fleet has committed what the API server holds; which replica leads.
async fn settle(fleets: &[Configured]) -> Vec<usize> {
    join_all(fleets.iter().map(Configured::settled)).await
}

/// How long a stream of which nothing more is expected must be silent.
pub const QUIET: Duration = Duration::from_millis(300);
