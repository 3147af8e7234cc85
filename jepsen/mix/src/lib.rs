//! Everything that can be broken is broken, in an order that a seed decides, while clients ask and
//! the cluster changes; then all is healed, and the history judged.
//!
//! ```text
//! warm ─▶ faults ─▶ healed ─▶ settled ─▶ done
//!   writer, clients, observers ──▶ history.jsonl ──▶ checkers ──▶ results.json
//! ```

mod act;
mod clients;
mod group;
mod nemesis;
mod network;
mod observers;
mod plan;
mod recorder;
mod results;
mod stage;
mod wire;
mod writer;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use fastrand::Rng;
use lockstep_jepsen_checkers::Phase;

use lockstep_jepsen_gear::debt::Debts;
use lockstep_jepsen_gear::disk::FileSystem;
use lockstep_jepsen_gear::doctor::{self, Ability, Findings};
use lockstep_jepsen_gear::outcome::Tally;
use lockstep_jepsen_gear::replica;
use lockstep_jepsen_gear::run_id::RunId;
use plan::{Class, Profile, Step};
use results::Ran;
use stage::{Setup, Stage};

/// Work without faults, in which the group must become well.
const WARM: Duration = Duration::from_secs(20);
/// From the last fault until the writer stops: the group has to recover, and what is written
/// behind that must be committed.
const RECOVERS: Duration = Duration::from_secs(14);
/// From the last write to the last reads.
const SETTLES: Duration = Duration::from_secs(12);
/// Time for a last look at what each replica uses.
const LAST_LOOK: Duration = Duration::from_secs(2);

/// `cargo xtask jepsen`, without a verb.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How long it takes; less than two minutes say little
    #[arg(long, value_name = "MINUTES", default_value_t = 5.0, value_parser = minutes)]
    minutes: f64,
    /// What the dice begin with [default: by chance]
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// How far it goes
    #[arg(long, value_enum, default_value_t = Profile::Both)]
    profile: Profile,
    /// Only these classes of faults [default: all that this machine can do]
    #[arg(long, value_name = "CLASS", value_delimiter = ',')]
    faults: Vec<String>,
    /// The file system that the replicas' disks have [default: by chance]
    #[arg(long, value_enum)]
    fs: Option<FileSystem>,
    /// Where history, results and logs are kept [default: nowhere, unless something broke]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The replicas' program [default: the one beside this one]
    #[arg(long, value_name = "FILE")]
    lockstep: Option<PathBuf>,
}

fn minutes(text: &str) -> Result<f64, String> {
    let minutes: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (1.0..=1440.0).contains(&minutes) {
        Ok(minutes)
    } else {
        Err("from 1 to 1440 are allowed".to_owned())
    }
}

/// Runs a mix.
///
/// # Errors
///
/// When the lab itself cannot go on.
pub fn run(args: &Args) -> anyhow::Result<Tally> {
    let findings = doctor::examine()?;
    for ability in [Ability::Namespaces, Ability::BridgeFilter] {
        if let Some(reason) = missing(&findings, ability) {
            let reason = format!("{} does not work here: {reason}", ability.name());
            return Ok(Tally::skipped(&reason));
        }
    }
    let run = RunId::random()?;
    let seed = args.seed.unwrap_or_else(|| fastrand::u64(..));
    let default = || std::env::temp_dir().join(run.name("mix"));
    let folder = args.out.clone().unwrap_or_else(default);
    fs::create_dir_all(&folder)?;
    // Mount points are compared with what the kernel says.
    let folder = fs::canonicalize(&folder)?;
    let mut dice = Rng::with_seed(seed);
    let (classes, skipped) = classes(args, &findings)?;
    let file_system = args.fs.or_else(|| {
        let kinds = [FileSystem::Ext4, FileSystem::Xfs].into_iter();
        let kinds = kinds.filter(|kind| can(&findings, *kind));
        dice.choice(kinds.collect::<Vec<_>>())
    });
    anstream::eprintln!(
        "run {run}: seed {seed}, {} minutes, {:?}, {file_system:?}, in {}",
        args.minutes,
        args.profile,
        folder.display()
    );
    let time = Duration::from_secs_f64(args.minutes * 60.0);
    let time = time.saturating_sub(WARM + RECOVERS + SETTLES);
    let steps = plan::plan(args.profile, &classes, time, &mut dice.fork());
    let clock = missing(&findings, Ability::FakeTime).is_none();
    let setup = Setup {
        run,
        folder: folder.clone(),
        program: replica::program(args.lockstep.as_deref())?,
        fs: file_system,
        clock: clock.then(doctor::fake_time_library).transpose()?,
    };
    let done = play(&setup, (&steps, time), dice)?;
    let ran = Ran {
        seed,
        args,
        planned: classes.iter().map(|class| class.name()).collect(),
        done,
        skipped,
        file_system,
    };
    let tally = results::judge(&folder, &ran)?;
    if tally.failed == 0 && args.out.is_none() {
        fs::remove_dir_all(&folder)?;
    } else {
        anstream::eprintln!("kept in {}", folder.display());
    }
    Ok(tally)
}

/// From the first process to the last; what was done of what was planned.
fn play(
    setup: &Setup,
    (steps, time): (&[Step], Duration),
    dice: Rng,
) -> anyhow::Result<Vec<Class>> {
    let debts = Debts::of(setup.run)?;
    let mut stage = Stage::start(setup, &debts, dice)?;
    stage.recorder.phase(Phase::Warm);
    stage.nemesis.rest(WARM)?;
    stage.recorder.phase(Phase::Faults);
    let done = stage.nemesis.rage(steps, time)?;
    stage.nemesis.heal()?;
    stage.recorder.phase(Phase::Healed);
    stage.nemesis.rest(RECOVERS)?;
    stage.stop_writing()?;
    stage.nemesis.rest(SETTLES)?;
    stage.recorder.phase(Phase::Settled);
    stage.read_all()?;
    // The last look at what each replica uses.
    stage.nemesis.rest(LAST_LOOK)?;
    stage.recorder.phase(Phase::Done);
    stage.recorder.close()?;
    Ok(done)
}

/// What this machine can do, and why it cannot do the rest.
type Able = (BTreeSet<Class>, Vec<(String, String)>);

/// Classes that are asked for and possible, and why the others are not.
fn classes(args: &Args, findings: &Findings) -> anyhow::Result<Able> {
    let (mut able, mut skipped) = (BTreeSet::new(), Vec::new());
    for asked in &args.faults {
        anyhow::ensure!(
            Class::all().any(|class| class.name() == *asked),
            "`{asked}` is no class of faults; allowed are {}",
            Class::all().map(Class::name).collect::<Vec<_>>().join(", ")
        );
    }
    for class in Class::all() {
        let is_asked = args.faults.is_empty() || args.faults.contains(&class.name());
        let mut missing = class.needs().iter();
        let missing = missing.find_map(|ability| missing_of(findings, *ability));
        match missing {
            _ if !is_asked => {}
            Some(reason) => skipped.push((class.name(), reason)),
            None => {
                able.insert(class);
            }
        }
    }
    for (class, reason) in &skipped {
        anstream::eprintln!("{class} is skipped: {reason}");
    }
    Ok((able, skipped))
}

fn can(findings: &Findings, kind: FileSystem) -> bool {
    let ability = match kind {
        FileSystem::Ext4 => Ability::Ext4,
        FileSystem::Xfs => Ability::Xfs,
    };
    missing(findings, ability).is_none()
}

/// Why this machine cannot do it, if it cannot.
fn missing(findings: &Findings, ability: Ability) -> Option<&str> {
    findings
        .get(&ability)?
        .outcome
        .as_ref()
        .err()
        .map(String::as_str)
}

fn missing_of(findings: &Findings, ability: Ability) -> Option<String> {
    let reason = missing(findings, ability)?;
    Some(format!("{} does not work here: {reason}", ability.name()))
}
