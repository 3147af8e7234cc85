//! `lockstep status`: the replicas side by side.

mod columns;
mod fields;
mod verdict;

use clap::Args;
use std::pin::pin;
use std::time::Duration;

use crate::address::{default_admins, once_each};
use crate::admin::{Asked, ask_all};
use crate::screen::{Format, Screen};
use crate::span::parse_span;
use crate::table::paint;
use crate::{Address, Exit, VerbError, interrupted};
use verdict::Verdict;

const HELP: &str = "\
Exit codes: 0 every replica answers, one of them leads, and none contradicts another; 1 there is a
contradiction, or not one leader; 2 a replica could not be reached. With --watch, those of the last
look before Ctrl-C.

Fields of the JSON output, with --watch one object a line for each look:
  verdict      ok, wrong or unknown
  findings     array of sentences
  replicas     array of {address, error, replica, name, cluster, version, role, lacks_quorum,
               term, leader, history, revision, behind, state_digest, path_digest, freshness,
               ready, meaning, age_ms, limit_ms, source_age_ms, source_limit_ms,
               get_streams, get_profile_streams, memory_bytes, log_bytes, snapshot_bytes,
               uptime_ms, log {last, committed, applied, snapshot, purged},
               source {description, following, kinds, problems}, members, warnings,
               proxy_address}";

/// Shows the replicas side by side.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = HELP)]
pub struct StatusArgs {
    #[command(flatten)]
    admins: AdminArgs,
    /// Looks again and again until interrupted
    #[arg(long)]
    watch: bool,
    /// How long to wait between two looks
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = parse_span)]
    interval: Duration,
    /// The form of the output
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t)]
    output: Format,
}

/// Whom to ask on the admin port, and how long to wait.
#[derive(Args, Clone, Debug)]
pub(crate) struct AdminArgs {
    /// The admin ports of the replicas, where `lockstep dev` listens if not given
    #[arg(
        long,
        value_name = "HOST:PORT",
        value_delimiter = ',',
        env = "LOCKSTEP_ADMIN",
        default_values_t = default_admins()
    )]
    pub(crate) admin: Vec<Address>,
    /// How long to wait for each answer
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse_span)]
    pub(crate) timeout: Duration,
}

impl AdminArgs {
    /// Asks every replica once, in the order in which they were given.
    pub(crate) async fn ask(&self) -> Vec<Asked> {
        ask_all(&once_each(&self.admin), self.timeout).await
    }
}

pub(crate) async fn run(args: &StatusArgs, screen: &mut Screen<'_>) -> Result<Exit, VerbError> {
    let mut exit = look(args, screen).await?;
    if !args.watch {
        return Ok(exit);
    }
    let mut interrupted = pin!(interrupted());
    loop {
        tokio::select! {
            next = look_later(args, screen) => exit = next?,
            () = &mut interrupted => return Ok(exit),
        }
    }
}

async fn look_later(args: &StatusArgs, screen: &mut Screen<'_>) -> Result<Exit, VerbError> {
    tokio::time::sleep(args.interval).await;
    look(args, screen).await
}

async fn look(args: &StatusArgs, screen: &mut Screen<'_>) -> Result<Exit, VerbError> {
    let asked = args.admins.ask().await;
    let verdict = verdict::judge(&asked);
    match (args.output, args.watch) {
        (Format::Json, true) => screen.object(&fields::document(&asked, &verdict))?,
        (Format::Json, false) => screen.document(&fields::document(&asked, &verdict))?,
        (Format::Table, watch) => {
            if watch {
                screen.next_picture()?;
            }
            print(&asked, &verdict, screen)?;
        }
    }
    Ok(verdict.exit)
}

fn print(asked: &[Asked], verdict: &Verdict, screen: &mut Screen<'_>) -> Result<(), VerbError> {
    screen.text(&columns::table(asked))?;
    for line in columns::below(asked) {
        screen.line(line)?;
    }
    for finding in &verdict.findings {
        screen.line(paint(verdict.exit.style(), finding))?;
    }
    Ok(())
}
