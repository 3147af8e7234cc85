//! How long a change takes: source event to applied on the last replica, and
//! to the message on the last of all streams.
//!
//! One change at a time, each a message for every stream: an address comes, an
//! address goes. Server and clients share the process and the cores.

use anyhow::Context;
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::{sync::mpsc::UnboundedReceiver, time::timeout};

use crate::{
    figures::Figures,
    scene::Scene,
    source::{BenchSource, SourceKind},
};

/// No change takes longer unless something is broken.
const PATIENCE: Duration = Duration::from_secs(10);

/// Changes before the first that counts.
const WARM_UP: usize = 50;

/// Flags of `propagation`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// What is changed
    #[arg(long, default_value = "simapi", value_enum)]
    source: SourceKind,
    /// How many changes count
    #[arg(long, default_value_t = 1000)]
    changes: usize,
    /// Open streams on each replica
    #[arg(long, default_value_t = 100)]
    streams: usize,
    /// Rest between a change that has arrived and the next; 0 measures a busy group
    #[arg(long, default_value_t = 5, value_name = "MS")]
    rest_ms: u64,
    /// Runs, each with a group of its own
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: Args) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    for round in 1..=args.rounds {
        rows.extend(
            self::round(&args, round)
                .await
                .with_context(|| format!("round {round}"))?,
        );
    }
    let shape = format!(
        "three replicas in one process, {} streams on each, {} source, {} changes one at a time, \
         {} ms of rest between them",
        args.streams, args.source, args.changes, args.rest_ms,
    );
    if args.json {
        let figures: Vec<_> = rows.iter().map(Figures::json).collect();
        println!("{}", json!({ "shape": shape, "figures": figures }));
        return Ok(());
    }
    println!("{shape}\n{}", Figures::header());
    rows.iter().for_each(|row| println!("{}", row.row()));
    Ok(())
}

async fn round(args: &Args, number: usize) -> anyhow::Result<[Figures; 2]> {
    let folder = tempfile::tempdir()?;
    let source = BenchSource::open(args.source, folder.path()).await?;
    source.create(10)?;
    let mut scene = Scene::start(source, folder.path(), args.streams).await?;
    let (mut applied, mut told) = (Vec::new(), Vec::new());
    for change in 0..WARM_UP + args.changes {
        tokio::time::sleep(Duration::from_millis(args.rest_ms)).await;
        let started = Instant::now();
        scene.source.change(if change % 2 == 0 { 11 } else { 10 })?;
        let times = [
            last(&mut scene.applied).await?,
            last(&mut scene.told).await?,
        ];
        if change >= WARM_UP {
            applied.push(times[0].saturating_duration_since(started));
            told.push(times[1].saturating_duration_since(started));
        }
    }
    scene.group.stop().await?;
    Ok([
        Figures::of(
            format!("round {number}: to applied on the last replica"),
            applied,
        ),
        Figures::of(
            format!("round {number}: to the message on the last stream"),
            told,
        ),
    ])
}

async fn last(times: &mut UnboundedReceiver<Instant>) -> anyhow::Result<Instant> {
    let time = timeout(PATIENCE, times.recv())
        .await
        .context("a change never arrived")?;
    time.context("nobody observes")
}
