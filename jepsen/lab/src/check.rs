//! Judges a history that a run left, long after it or on another machine.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use lockstep_jepsen_checkers::{History, Judgement, Limits, Run, judge};
use lockstep_jepsen_report as report;

mod table;

/// What to judge, and by what.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The history: JSON lines, as jepsen/README.md has them
    history: PathBuf,
    /// Limits other than those of the specification: a JSON file that may leave out what it does
    /// not change, for example {"times": {"fresh": 5000000000}}
    #[arg(long, value_name = "FILE")]
    limits: Option<PathBuf>,
    /// Write results.json, report.md, timeline.html, lag.svg, latency.svg and freshness.svg there
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// How to print the verdicts
    #[arg(short, long, value_enum, default_value_t)]
    output: Output,
}

/// How to print verdicts.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    /// For people
    #[default]
    Table,
    /// One JSON object, as in results.json
    Json,
}

/// Judges, prints, and perhaps writes the report.
///
/// # Errors
///
/// When the history or the limits cannot be read, or the report cannot be written.
pub(crate) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let history = read(&args.history)?;
    let limits = args.limits.as_deref().map(limits).transpose()?;
    let limits = limits.unwrap_or_default();
    let judgement = judge(&history, &limits);
    print(args.output, &history, &limits, &judgement)?;
    if let Some(folder) = &args.report {
        report::write(&history, &judgement, folder)?;
    }
    Ok(ExitCode::from(judgement.exit_code()))
}

fn read(path: &Path) -> anyhow::Result<History> {
    let named = || path.display().to_string();
    let file = File::open(path).with_context(named)?;
    History::read_from(BufReader::new(file)).with_context(named)
}

fn limits(path: &Path) -> anyhow::Result<Limits> {
    let named = || path.display().to_string();
    let text = fs::read_to_string(path).with_context(named)?;
    serde_json::from_str(&text).with_context(named)
}

fn print(
    output: Output,
    history: &History,
    limits: &Limits,
    judgement: &Judgement,
) -> anyhow::Result<()> {
    match output {
        Output::Table => anstream::print!("{}", table::table(judgement)),
        Output::Json => {
            let results = report::results(&Run::of(history, limits), judgement);
            anstream::println!("{}", serde_json::to_string_pretty(&results)?);
        }
    }
    Ok(())
}
