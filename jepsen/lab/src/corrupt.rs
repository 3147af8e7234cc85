//! The files of one stopped replica are damaged, again and again, while the others go on.
//!
//! ```text
//! stop ─▶ damage ─▶ start ─┬─▶ it agrees with the others         (harmless, or repaired)
//!                          ├─▶ it ends and says why ─▶ start ─┬─▶ it agrees (quarantined, back)
//!                          │                                  └─▶ folder away ─▶ start ─▶ it agrees
//!                          └─▶ it is stale, and the leader says why ─▶ folder away ─▶ start ─▶ it agrees
//! ```
//!
//! Anything else is a violation: another answer, a panic, a replica that neither ends nor agrees.

mod damage;
mod table;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use fastrand::Rng;
use serde::Serialize;

use crate::rig::{Rig, Setup, converge, judge};
use damage::{Damage, copy, files};
use lockstep_jepsen_gear::debt::Debts;
use lockstep_jepsen_gear::outcome::Tally;
use lockstep_jepsen_gear::replica::{self, Plan};
use lockstep_jepsen_gear::run_id::RunId;

/// Revisions that the group makes between two damages, the victim among them.
const REVISIONS_BETWEEN: u64 = 40;
/// How long a replica may take to end or to answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// Steps of so many revisions in which every replica makes a snapshot.
const SNAPSHOT_AWAY: u32 = 20;
/// What the leader logs of a replica that holds less than it once had acknowledged.
const OLDER: &str = "its data folder is an older copy";
/// How a replica ends that finds its folder damaged.
const REFUSED: i32 = 2;

/// `cargo xtask jepsen corrupt`.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// How many damages; the first 31 go through every file and every sort
    #[arg(long, value_name = "N", default_value_t = 31, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    damages: u32,
    /// What the dice begin with [default: by chance]
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Where data, logs and results are kept [default: nowhere, unless something broke]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The replicas' program [default: the one beside this one]
    #[arg(long, value_name = "FILE")]
    lockstep: Option<PathBuf>,
}

/// How a damaged replica fared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Fate {
    /// It started and agrees with the others.
    Agrees,
    /// It ended, with this reason, and agrees since it was started again.
    CameBack(String),
    /// It ended, with this reason, until its folder was moved away, and agrees since.
    Emptied(String),
    /// It was stale, the leader named this reason, and it agrees since its folder was moved away.
    Refused(String),
    /// None of these.
    Broken(Vec<String>),
}

/// One damage.
#[derive(Debug, Serialize)]
struct Case {
    replica: String,
    /// The file, or the folder that it is in; everything if the folder is a copy.
    place: String,
    /// The sort of damage.
    sort: String,
    /// What exactly was done.
    what: String,
    fate: Fate,
}

/// Damages files so many times.
///
/// # Errors
///
/// When the lab itself cannot go on.
pub(crate) fn run(args: &Args) -> anyhow::Result<Tally> {
    let run = RunId::random()?;
    let seed = args.seed.unwrap_or_else(|| fastrand::u64(..));
    let debts = Debts::of(run)?;
    let default = || std::env::temp_dir().join(run.name("corrupt"));
    let folder = args.out.clone().unwrap_or_else(default);
    fs::create_dir_all(&folder)?;
    anstream::eprintln!("run {run}: seed {seed}, in {}", folder.display());
    let mut dice = Rng::with_seed(seed);
    let setup = Setup {
        run,
        folder: folder.clone(),
        program: replica::program(args.lockstep.as_deref())?,
        preload: None,
        fs: None,
    };
    let mut rig = Rig::start(&setup, &debts, dice.fork())?;
    rig.load_on();
    let mut bench = Bench {
        debts: &debts,
        folder: &folder,
        moved: 0,
    };
    let (mut tally, mut cases) = (Tally::default(), Vec::new());
    for number in 0..args.damages {
        let case = bench.damage_once(&mut rig, number, &mut dice)?;
        anstream::eprintln!("{:>3} {}", number + 1, line(&case));
        let broken = match &case.fate {
            Fate::Broken(violations) => violations.as_slice(),
            Fate::Agrees | Fate::CameBack(_) | Fate::Emptied(_) | Fate::Refused(_) => &[],
        };
        tally.count(broken);
        cases.push(case);
        if tally.failed > 0 {
            break;
        }
    }
    rig.load_off()?;
    let converged = converge(rig.plans(), rig.newest());
    tally.count(&rig.clients.wait_for(converged)??);
    tally.count(&rig.sightings.all().violations);
    tally.count(&rig.panics()?);
    fs::write(
        folder.join("corrupt.json"),
        serde_json::to_string_pretty(&cases)?,
    )?;
    anstream::eprint!("{}", table::table(&cases));
    drop(rig);
    debts.pay_all();
    if tally.failed == 0 && args.out.is_none() {
        fs::remove_dir_all(&folder)?;
    } else {
        anstream::eprintln!("kept in {}", folder.display());
    }
    Ok(tally)
}

/// What damages have in common.
struct Bench<'a> {
    debts: &'a Debts,
    folder: &'a Path,
    /// Folders that were moved away.
    moved: u32,
}

// === impl Bench ===

impl Bench<'_> {
    fn damage_once(&mut self, rig: &mut Rig, number: u32, dice: &mut Rng) -> anyhow::Result<Case> {
        let old = self.folder.join("older");
        let spot = Spot::of(number)?;
        let (victim, plan) = Self::victim(rig, spot.as_ref(), dice)?;
        if spot.is_none() {
            // A copy of a stopped replica is a whole one; it grows old meanwhile.
            rig.kill(victim)?;
            copy(&plan.data, &old)?;
            rig.start_one(victim, self.debts)?;
        }
        rig.wait_for_revisions(REVISIONS_BETWEEN)?;
        rig.kill(victim)?;
        let (place, sort, what) = if let Some(spot) = spot {
            let what = spot.spoil(&plan.data, dice)?;
            let sort = format!("{:?}", spot.sort).to_lowercase();
            (spot.place.to_owned(), sort, what)
        } else {
            fs::remove_dir_all(&plan.data)?;
            fs::rename(&old, &plan.data)?;
            let what = "the whole folder is an older copy";
            ("everything".to_owned(), "older".to_owned(), what.to_owned())
        };
        let fate = self.fate(rig, victim)?;
        Ok(Case {
            replica: plan.name,
            place,
            sort,
            what,
            fate,
        })
    }

    /// A replica that has something to damage there; a snapshot may be some revisions away.
    fn victim(rig: &Rig, spot: Option<&Spot>, dice: &mut Rng) -> anyhow::Result<(usize, Plan)> {
        for _ in 0..SNAPSHOT_AWAY {
            rig.wait_for_revisions(REVISIONS_BETWEEN)?;
            let plans = rig.plans().into_iter().enumerate();
            let has = |plan: &Plan| spot.is_none_or(|spot| spot.is_in(&plan.data));
            let fit: Vec<(usize, Plan)> = plans.filter(|(_, plan)| has(plan)).collect();
            if let Some(victim) = dice.choice(fit) {
                return Ok(victim);
            }
        }
        bail!("no replica has anything to damage there")
    }

    /// Starts the damaged replica and sees what becomes of it.
    fn fate(&mut self, rig: &mut Rig, victim: usize) -> anyhow::Result<Fate> {
        // What is said from here on is about its folder.
        let all_said_before = said(rig)?;
        let said_before = rig.log(victim)?.len();
        if let Some(broken) = self.start(rig, victim, said_before)? {
            return Ok(broken);
        }
        let Some(reason) = refusal(rig, victim, said_before)? else {
            if let Some(reason) = older_copy(rig, victim, &all_said_before)? {
                let broken = self.empty(rig, victim)?;
                return Ok(broken.map_or(Fate::Refused(reason), Fate::Broken));
            }
            return Ok(agreement(rig, victim)?.map_or(Fate::Agrees, Fate::Broken));
        };
        let said_before = rig.log(victim)?.len();
        if let Some(broken) = self.start(rig, victim, said_before)? {
            return Ok(broken);
        }
        if refusal(rig, victim, said_before)?.is_none() {
            let broken = agreement(rig, victim)?;
            return Ok(broken.map_or(Fate::CameBack(reason), Fate::Broken));
        }
        let broken = self.empty(rig, victim)?;
        Ok(broken.map_or(Fate::Emptied(reason), Fate::Broken))
    }

    /// Moves the folder away, as an operator is told to, and says what is wrong then.
    fn empty(&mut self, rig: &mut Rig, victim: usize) -> anyhow::Result<Option<Vec<String>>> {
        self.moved += 1;
        rig.kill(victim)?;
        let data = rig.plans().swap_remove(victim).data;
        fs::rename(&data, self.folder.join(format!("moved-{}", self.moved)))?;
        rig.start_one(victim, self.debts)?;
        agreement(rig, victim)
    }

    /// Starts it and waits until it has ended or answers an operator.
    fn start(&self, rig: &mut Rig, victim: usize, said: usize) -> anyhow::Result<Option<Fate>> {
        rig.start_one(victim, self.debts)?;
        let deadline = Instant::now() + PATIENCE;
        while !rig.has_ended(victim) && !rig.answers(victim)? {
            if Instant::now() > deadline {
                let text = rig.log(victim)?.split_off(said);
                let text = format!("it neither ends nor answers, and says: {text}");
                return Ok(Some(Fate::Broken(vec![text])));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(None)
    }
}

/// What a data folder holds, each a file or a folder of files.
const PLACES: [&str; 5] = ["identity", "lock", "log.redb", "promise", "snapshots"];

/// Where to damage what.
struct Spot {
    place: &'static str,
    sort: Damage,
}

// === impl Spot ===

impl Spot {
    /// Goes round, so that everything has its turn; nothing when it is the whole folder's.
    fn of(number: u32) -> anyhow::Result<Option<Self>> {
        let sorts = Damage::ALL.len();
        let number = usize::try_from(number)? % (PLACES.len() * sorts + 1);
        let place = PLACES.get(number / sorts).copied();
        let sort = Damage::ALL.get(number % sorts).copied();
        Ok(place.zip(sort).map(|(place, sort)| Self { place, sort }))
    }

    /// Whether there is anything to damage.
    fn is_in(&self, data: &Path) -> bool {
        let place = data.join(self.place);
        let is_full = fs::read_dir(&place).is_ok_and(|mut files| files.next().is_some());
        place.is_file() || is_full
    }

    /// Damages a file there, and says what was done.
    fn spoil(&self, data: &Path, dice: &mut Rng) -> anyhow::Result<String> {
        let mut all = files(data)?;
        all.retain(|file| file.starts_with(self.place));
        let file = dice.choice(all).context("no files")?;
        let done = self.sort.inflict(&data.join(&file), dice)?;
        Ok(format!("{} {done}", file.display()))
    }
}

/// How much each replica has logged.
fn said(rig: &Rig) -> anyhow::Result<Vec<usize>> {
    let places = 0..rig.replicas.len();
    places.map(|place| Ok(rig.log(place)?.len())).collect()
}

/// What the leader says of the replica that has come back with too little; nothing if it takes
/// part. With the load off, so that taking part means to be where all are.
fn older_copy(rig: &mut Rig, victim: usize, said: &[usize]) -> anyhow::Result<Option<String>> {
    rig.load_off()?;
    let deadline = Instant::now() + PATIENCE;
    let mut found = None;
    while found.is_none()
        && rig.revision(victim)? < Some(rig.sightings.revision())
        && Instant::now() < deadline
    {
        for (place, said) in said.iter().enumerate() {
            let log = rig.log(place)?.split_off(*said);
            let line = log.lines().find(|line| line.contains(OLDER));
            found = found.or(line.map(str::to_owned));
        }
        thread::sleep(Duration::from_millis(20));
    }
    rig.load_on();
    Ok(found)
}

/// Why the replica refused to start; nothing if it runs. A refusal is one line, and no panic.
fn refusal(rig: &mut Rig, victim: usize, said_before: usize) -> anyhow::Result<Option<String>> {
    if !rig.has_ended(victim) {
        return Ok(None);
    }
    let code = rig.ended(victim).and_then(|status| status.code());
    let said = rig.log(victim)?.split_off(said_before);
    let reasons: Vec<&str> = said
        .lines()
        .filter_map(|line| line.strip_prefix("lockstep serve: "))
        .collect();
    match (code, reasons.as_slice()) {
        (Some(REFUSED), [reason]) => Ok(Some((*reason).to_owned())),
        (code, _) => Ok(Some(format!("ended with {code:?} and said: {said}"))),
    }
}

/// What is wrong once everything that the group held is at rest; nothing if all agree.
fn agreement(rig: &mut Rig, victim: usize) -> anyhow::Result<Option<Vec<String>>> {
    rig.load_off()?;
    let seen = rig.sightings.all();
    let verdict = rig.clients.wait_for(judge(rig.plans(), seen))??;
    let mut violations = verdict.violations;
    violations.extend(rig.sightings.all().violations);
    if rig.has_ended(victim) {
        let status = rig.ended(victim);
        violations.push(format!("it answered, and then ended: {status:?}"));
    }
    rig.load_on();
    Ok((!violations.is_empty()).then_some(violations))
}

fn line(case: &Case) -> String {
    let fate = match &case.fate {
        Fate::Agrees => "harmless or repaired".to_owned(),
        Fate::CameBack(reason) => format!("quarantined, and came back: {reason}"),
        Fate::Emptied(reason) => format!("quarantined until emptied: {reason}"),
        Fate::Refused(reason) => format!("stale, refused by the leader until emptied: {reason}"),
        Fate::Broken(violations) => format!("BROKEN ({})", violations.len()),
    };
    format!("{}: {}: {fate}", case.replica, case.what)
}
