//! How long nothing reaches the streams of followers when the lead moves.
//!
//! Three replicas are processes. The source changes all the time, and each change is
//! a message. The gap is the longest time between two messages in a row on a replica
//! that stays, around the moment the lead moves; the worse of the two replicas counts.

use anyhow::{Context as _, bail, ensure};
use linkerd2_proxy_api::destination::{GetDestination, destination_client::DestinationClient};
use rustix::process::Signal;
use serde_json::json;
use std::time::Duration;
use tokio::{
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
    task::JoinHandle,
    time::{Instant, MissedTickBehavior, interval, sleep, timeout},
};

use crate::{
    figures::Figures,
    fleet::Fleet,
    source::{AUTHORITY, BenchSource, SourceKind},
};

/// No gap is longer unless something is broken.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long messages are watched before and after the lead moves.
const AROUND: Duration = Duration::from_millis(500);

/// How the lead moves.
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Way {
    /// kill -9 of the leader
    Kill,
    /// SIGTERM to the leader
    Term,
    /// lockstep members transfer
    Transfer,
}

/// Flags of `leadership`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Args {
    /// How the lead moves; repeat it for several, in turns [default: all]
    #[arg(long, value_enum)]
    way: Vec<Way>,
    /// How often, each way
    #[arg(long, default_value_t = 50, value_name = "N")]
    times: usize,
    /// Rest between two changes of the source
    #[arg(long, default_value_t = 3, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..))]
    rest_ms: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(args: Args) -> anyhow::Result<()> {
    let ways = match args.way.as_slice() {
        [] => vec![Way::Kill, Way::Term, Way::Transfer],
        given => given.to_vec(),
    };
    let folder = tempfile::tempdir()?;
    let source = BenchSource::open(SourceKind::Simapi, folder.path()).await?;
    source.create(1)?;
    let mut fleet = Fleet::start(folder.path(), source.kubeconfig()?).await?;
    let mut gaps = vec![Vec::new(); ways.len()];
    for time in 0..args.times {
        for (way, gaps) in ways.iter().zip(&mut gaps) {
            let gap = one(&mut fleet, &source, *way, args.rest_ms);
            gaps.push(gap.await.with_context(|| format!("{way:?}, time {time}"))?);
        }
    }
    let rows = ways.iter().zip(gaps);
    let rows: Vec<_> = rows
        .map(|(way, gaps)| Figures::of(way.title(), gaps))
        .collect();
    print(&args, &rows);
    Ok(())
}

fn print(args: &Args, rows: &[Figures]) {
    let shape = format!(
        "three replicas as processes, a change every {} ms, the longest silence on a stream of a \
         replica that stays; no stream there ended",
        args.rest_ms
    );
    if args.json {
        let figures: Vec<_> = rows.iter().map(Figures::json).collect();
        println!("{}", json!({ "shape": shape, "figures": figures }));
        return;
    }
    println!("{shape}\n{}", Figures::header());
    rows.iter().for_each(|row| println!("{}", row.row()));
}

impl Way {
    const fn title(self) -> &'static str {
        match self {
            Self::Kill => "kill -9 of the leader",
            Self::Term => "SIGTERM to the leader",
            Self::Transfer => "members transfer",
        }
    }
}

/// Moves the lead once; the group is whole before and after.
async fn one(
    fleet: &mut Fleet,
    source: &BenchSource,
    way: Way,
    rest_ms: u64,
) -> anyhow::Result<Duration> {
    let leader = fleet.whole().await?;
    let mut streams = Vec::new();
    for place in (0..3).filter(|place| *place != leader) {
        streams.push(Watched::open(fleet, place).await?);
    }
    let moved = async {
        sleep(AROUND).await;
        move_lead(fleet, leader, way).await?;
        sleep(AROUND).await;
        settled(&mut streams).await
    };
    tokio::select! {
        end = keep_changing(source, rest_ms) => end?,
        moved = moved => moved?,
    }
    if way != Way::Transfer {
        fleet.ended(leader).await?;
        fleet.restart(leader)?;
    }
    let gaps: Vec<_> = streams
        .into_iter()
        .map(Watched::longest)
        .collect::<Result<_, _>>()?;
    gaps.into_iter().max().context("no streams")
}

async fn move_lead(fleet: &mut Fleet, leader: usize, way: Way) -> anyhow::Result<()> {
    match way {
        Way::Kill => fleet.signal(leader, Signal::KILL),
        Way::Term => fleet.signal(leader, Signal::TERM),
        Way::Transfer => fleet.transfer(leader).await,
    }
}

/// Changes the source for ever.
async fn keep_changing(source: &BenchSource, rest_ms: u64) -> anyhow::Result<()> {
    let mut ticks = interval(Duration::from_millis(rest_ms));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for serial in 0_u32.. {
        ticks.tick().await;
        source.replace(serial)?;
    }
    bail!("the source has changed too often")
}

/// Waits until each stream has had a message from now on, and some more after it.
async fn settled(streams: &mut [Watched]) -> anyhow::Result<()> {
    for stream in &mut *streams {
        let moved = Instant::now();
        while stream.next().await? < moved {}
    }
    sleep(AROUND).await;
    Ok(())
}

/// A stream, and when its messages came.
struct Watched {
    arrivals: UnboundedReceiver<Instant>,
    seen: Vec<Instant>,
    reader: JoinHandle<()>,
}

// === impl Watched ===

impl Watched {
    async fn open(fleet: &Fleet, place: usize) -> anyhow::Result<Self> {
        let address = format!("http://{}", fleet.proxy(place));
        let mut client = DestinationClient::connect(address).await?;
        let request = GetDestination {
            path: AUTHORITY.to_owned(),
            ..Default::default()
        };
        let mut updates = client.get(request).await?.into_inner();
        ensure!(updates.message().await?.is_some(), "a stream ended at once");
        let (times, arrivals) = unbounded_channel();
        // Ends with the stream, and the sender with it: then nothing can be received.
        let reader = tokio::spawn(async move {
            while let Ok(Some(_)) = updates.message().await {
                if times.send(Instant::now()).is_err() {
                    return;
                }
            }
        });
        Ok(Self {
            arrivals,
            seen: Vec::new(),
            reader,
        })
    }

    async fn next(&mut self) -> anyhow::Result<Instant> {
        let arrival = timeout(PATIENCE, self.arrivals.recv()).await;
        let arrival = arrival
            .context("the changes never arrived again")?
            .context("a stream of a replica that stays ended")?;
        self.seen.push(arrival);
        Ok(arrival)
    }

    /// The longest time between two messages in a row.
    fn longest(mut self) -> anyhow::Result<Duration> {
        ensure!(
            !self.reader.is_finished(),
            "a stream of a replica that stays ended"
        );
        while let Ok(arrival) = self.arrivals.try_recv() {
            self.seen.push(arrival);
        }
        self.reader.abort();
        let gaps = self.seen.windows(2).map(|pair| pair[1] - pair[0]);
        gaps.max().context("no messages")
    }
}
