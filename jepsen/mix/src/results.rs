//! What the checkers say of a run, on the terminal and in the files of a report.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

use anyhow::Context as _;
use lockstep_jepsen_checkers::{CheckerId, History, Limits, Validity, judge_by};
use lockstep_jepsen_report as report;
use serde_json::json;

use crate::Args;
use crate::plan::Class;
use lockstep_jepsen_gear::disk::FileSystem;
use lockstep_jepsen_gear::outcome::Tally;

/// Checkers that this lab writes enough for.
const CHECKERS: [CheckerId; 10] = [
    CheckerId::Digest,
    CheckerId::Session,
    CheckerId::Convergence,
    CheckerId::Provenance,
    CheckerId::Freshness,
    CheckerId::Durability,
    CheckerId::Liveness,
    CheckerId::Resources,
    CheckerId::Crash,
    CheckerId::Coverage,
];
/// Those that it does not, and what they would need.
const LEFT_OUT: [(CheckerId, &str); 4] = [
    (CheckerId::Replay, "no replica shows the entries of its log"),
    (
        CheckerId::IngestLog,
        "no replica shows the entries of its log",
    ),
    (
        CheckerId::Witness,
        "there are no registers to read and write",
    ),
    (
        CheckerId::Linear,
        "there are no registers to read and write",
    ),
];

/// What was run.
pub(crate) struct Ran<'a> {
    pub(crate) seed: u64,
    pub(crate) args: &'a Args,
    /// Classes that were to be done.
    pub(crate) planned: Vec<String>,
    /// Those that were, in order.
    pub(crate) done: Vec<Class>,
    /// Those that this machine cannot do, and why.
    pub(crate) skipped: Vec<(String, String)>,
    pub(crate) file_system: Option<FileSystem>,
}

/// Judges the history in the folder, and writes the results beside it.
///
/// # Errors
///
/// When the history cannot be read, or the results not be written.
pub(crate) fn judge(folder: &Path, ran: &Ran<'_>) -> anyhow::Result<Tally> {
    let file = File::open(folder.join("history.jsonl")).context("cannot open the history")?;
    let history = History::read_from(BufReader::new(file)).context("cannot read the history")?;
    let mut faults: BTreeMap<String, u64> = BTreeMap::new();
    for class in &ran.done {
        *faults.entry(class.name()).or_default() += 1;
    }
    let mut limits = Limits::default();
    // What was begun must have been in force, with something going on.
    limits.coverage.faults = faults.keys().map(|class| (class.clone(), 1)).collect();
    // No replica tells of those.
    limits.coverage.snapshot_installs = 0;
    let judgement = judge_by(&history, &limits, &CHECKERS);
    anstream::eprint!("{judgement}");
    for (checker, why) in LEFT_OUT {
        anstream::eprintln!("{}: left out: {why}", checker.name());
    }
    let left_out = LEFT_OUT.map(|(checker, why)| (checker.name(), why));
    let config = json!({
        "seed": ran.seed,
        "minutes": ran.args.minutes,
        "profile": ran.args.profile,
        "file_system": ran.file_system,
        "faults": faults,
        "planned": ran.planned,
        "skipped": ran.skipped.iter().cloned().collect::<BTreeMap<_, _>>(),
        "left_out": left_out.into_iter().collect::<BTreeMap<_, _>>(),
        "limits": limits,
    });
    let text = serde_json::to_string_pretty(&config)?;
    fs::write(folder.join("config.json"), text).context("cannot write config.json")?;
    report::write(&history, &judgement, folder)?;
    let mut tally = Tally::default();
    for verdict in &judgement.verdicts {
        match verdict.validity() {
            Validity::Valid => tally.passed += 1,
            Validity::Invalid => tally.failed += 1,
            Validity::Unknown => tally.unknown(1),
        }
    }
    Ok(tally)
}
