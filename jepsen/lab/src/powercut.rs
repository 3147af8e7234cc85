//! The power of all replicas is cut at once, under load, again and again.
//!
//! ```text
//! load ─▶ API server ─▶ leader ─▶ three logs on three disks ─▶ observers and clients
//!                                      ✂ within 5 ms                 │
//! kill, mount, start, API server away:  what was seen is there ◀─────┘
//! ```

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use fastrand::Rng;
use rustix::process::Signal;
use serde::Serialize;

use crate::rig::{Rig, Setup, converge, judge};
use lockstep_jepsen_gear::debt::Debts;
use lockstep_jepsen_gear::disk::FileSystem;
use lockstep_jepsen_gear::doctor::{self, Ability};
use lockstep_jepsen_gear::outcome::Tally;
use lockstep_jepsen_gear::power::Switch;
use lockstep_jepsen_gear::replica;
use lockstep_jepsen_gear::run_id::RunId;

/// The most time between the first disk and the last for a cut to count as one.
const SPREAD_MAX: Duration = Duration::from_millis(5);
/// Replicas live on for at most so long after the cut: what they acknowledge then is a bug too.
const AFTERLIFE_MS_MAX: u64 = 50;
/// Revisions between two cuts, at least.
const REVISIONS_BETWEEN: u64 = 60;

/// `cargo xtask jepsen powercut`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many cuts
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    cuts: u32,
    /// The file system that the replicas' disks have
    #[arg(long, value_enum, default_value_t = FileSystem::Ext4)]
    fs: FileSystem,
    /// What the dice begin with [default: by chance]
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Where logs, disks and results are kept [default: nowhere, unless something broke]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The replicas' program [default: the one beside this one]
    #[arg(long, value_name = "FILE")]
    lockstep: Option<PathBuf>,
    /// A library that is loaded into the replicas: with libeatmydata.so no sync does anything,
    /// and the cuts must find losses
    #[arg(long, value_name = "FILE")]
    preload: Option<PathBuf>,
}

/// One cut.
#[derive(Debug, Serialize)]
struct Cut {
    /// From 1; those that were too wide are numbered too.
    number: u32,
    /// Between the first disk and the last, at most.
    spread_us: u128,
    /// Whether that was little enough for a cut of all at once. A wider one is judged, but does
    /// not count as one that held.
    at_once: bool,
    /// From the cut to the kill.
    afterlife_ms: u64,
    /// The highest revision that was seen before, and how many digests were.
    seen: (u64, usize),
    /// The revision on which all agree after.
    after: u64,
    /// Digests from before that were seen again after.
    compared: usize,
    /// Time from the start to the agreement.
    back_after_ms: u128,
    violations: Vec<String>,
}

/// Cuts the power so many times.
///
/// # Errors
///
/// When the lab itself cannot go on.
pub(crate) fn run(args: &Args) -> anyhow::Result<Tally> {
    let cut = match args.fs {
        FileSystem::Ext4 => Ability::PowerCutExt4,
        FileSystem::Xfs => Ability::PowerCutXfs,
    };
    if let Err(reason) = doctor::needs(&[cut]) {
        return Ok(Tally::skipped(&reason));
    }
    let run = RunId::random()?;
    let seed = args.seed.unwrap_or_else(|| fastrand::u64(..));
    let debts = Debts::of(run)?;
    let default = || std::env::temp_dir().join(run.name("powercut"));
    let folder = args.out.clone().unwrap_or_else(default);
    fs::create_dir_all(&folder)?;
    // Mount points are compared with what the kernel says.
    let folder = fs::canonicalize(&folder)?;
    let program = replica::program(args.lockstep.as_deref())?;
    anstream::eprintln!(
        "run {run}: seed {seed}, {:?}, in {}",
        args.fs,
        folder.display()
    );
    let mut dice = Rng::with_seed(seed);
    let fork = dice.fork();
    let setup = Setup {
        run,
        folder: folder.clone(),
        program,
        preload: args.preload.clone(),
        fs: Some(args.fs),
    };
    let mut rig = Rig::start(&setup, &debts, fork)?;
    rig.load_on();
    let mut tally = Tally::default();
    let mut cuts = Vec::new();
    for number in 1..=2 * args.cuts {
        let cut = cut_once(&mut rig, &debts, (number, &mut dice))?;
        anstream::eprintln!("{}", line(&cut, args.cuts));
        if cut.at_once || !cut.violations.is_empty() {
            tally.count(&cut.violations);
        }
        cuts.push(cut);
        // Behind a loss nothing that follows means anything.
        if tally.failed > 0 || tally.passed == args.cuts {
            break;
        }
    }
    if tally.failed == 0 {
        tally.unknown(args.cuts - tally.passed);
    }
    rig.load_off()?;
    let converged = converge(rig.plans(), rig.newest());
    tally.count(&rig.clients.wait_for(converged)??);
    tally.count(&rig.panics()?);
    let results = serde_json::to_string_pretty(&cuts)?;
    fs::write(folder.join("powercut.json"), results)?;
    drop(rig);
    debts.pay_all();
    if tally.failed == 0 && args.out.is_none() {
        fs::remove_dir_all(&folder)?;
    } else {
        anstream::eprintln!("kept in {}", folder.display());
    }
    Ok(tally)
}

fn cut_once(rig: &mut Rig, debts: &Debts, (number, dice): (u32, &mut Rng)) -> anyhow::Result<Cut> {
    rig.wait_for_revisions(REVISIONS_BETWEEN)?;
    thread::sleep(Duration::from_millis(dice.u64(0..500)));
    let switch = Switch::armed(&rig.disks.iter().collect::<Vec<_>>())?;
    // Its program has opened the disks by then.
    thread::sleep(Duration::from_millis(50));
    let afterlife_ms = dice.u64(0..=AFTERLIFE_MS_MAX);
    let spread = switch.cut()?;
    thread::sleep(Duration::from_millis(afterlife_ms));
    let mut violations = kill_all(rig)?;
    rig.load_off()?;
    rig.api.stop();
    let seen = rig.sightings.all();
    for disk in &rig.disks {
        disk.remount()
            .context("a disk does not come back after a power cut")?;
    }
    for replica in &mut rig.replicas {
        replica.start(debts)?;
    }
    let judged = judge(rig.plans(), seen.clone());
    let verdict = rig.clients.wait_for(judged)??;
    violations.extend(rig.sightings.all().violations);
    violations.extend(verdict.violations);
    for replica in &mut rig.replicas {
        if let Some(status) = replica.ended() {
            violations.push(format!("{} has ended: {status}", replica.plan().name));
        }
    }
    rig.api.resume()?;
    rig.load_on();
    Ok(Cut {
        number,
        spread_us: spread.as_micros(),
        at_once: spread <= SPREAD_MAX,
        afterlife_ms,
        seen: (
            seen.digests.last_key_value().map_or(0, |(rev, _)| *rev),
            seen.digests.len(),
        ),
        after: verdict.revision,
        compared: verdict.compared,
        back_after_ms: verdict.took.as_millis(),
        violations,
    })
}

/// Kills all at once; a replica that had ended by itself must have said why.
fn kill_all(rig: &mut Rig) -> anyhow::Result<Vec<String>> {
    let mut violations = Vec::new();
    for replica in &rig.replicas {
        if let Some(process) = replica.process() {
            process.signal(Signal::KILL)?;
        }
    }
    for replica in &mut rig.replicas {
        let ended = replica.kill()?;
        // By the kill (no code), or by the failed write (2).
        if let Some(code) = ended.and_then(|status| status.code())
            && code != 2
        {
            violations.push(format!("{} ended with {code}", replica.plan().name));
        }
    }
    Ok(violations)
}

fn line(cut: &Cut, cuts: u32) -> String {
    let verdict = match cut.violations.first() {
        None if cut.at_once => "nothing lost".to_owned(),
        None => "nothing lost, but too wide to count".to_owned(),
        Some(first) => format!("BROKEN ({}): {first}", cut.violations.len()),
    };
    format!(
        "cut {:>3} of {cuts}: {:.1} ms wide, killed after {:>2} ms; r{} seen, r{} after {:.1} s, \
         {} digests compared: {verdict}",
        cut.number,
        to_ms(cut.spread_us),
        cut.afterlife_ms,
        cut.seen.0,
        cut.after,
        to_ms(cut.back_after_ms),
        cut.compared,
    )
}

/// A thousandth: microseconds to milliseconds, or milliseconds to seconds.
fn to_ms(us: u128) -> f64 {
    u32::try_from(us).map_or(f64::MAX, f64::from) / 1000.0
}
