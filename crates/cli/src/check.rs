//! `lockstep check`: do the replicas agree, and do their answers equal the source?

mod agreement;
mod answers;
mod findings;
mod round;
mod source;

use clap::Args;
use std::pin::pin;
use std::time::Duration;

use crate::screen::{Format, Screen};
use crate::span::parse_span;
use crate::status::AdminArgs;
use crate::table::{BAD, DOUBTFUL, paint};
use crate::{Address, Exit, VerbError, interrupted};
use findings::Findings;

/// The guarantee *agreement*, as a violation prints it.
pub(crate) const AGREEMENT: &str = "Two replicas at the same revision hold the same state, shown \
                                    by the same digest, whatever restarts, snapshots and versions \
                                    lie behind.";

/// The guarantee *convergence*, as a violation prints it.
const CONVERGENCE: &str = "Once Kubernetes is quiet, what every client was told equals what \
                           Kubernetes holds.";

/// Sentences of one kind that a person is shown; JSON has all of them.
const SENTENCES_SHOWN_MAX: usize = 20;

const HELP: &str = "\
Asks three questions. Do replicas that were at the same revision have the same digests? Does the
committed state equal a fresh list of the source, made by the leader? Does every replica answer for
every service what that list says? A difference with the source is looked at again before it is
reported, because the cluster moves meanwhile.

Exit codes: 0 all is equal; 1 something differs; 2 it could not be found out. With --watch, those
of the last round before Ctrl-C.

Fields of the JSON output, with --watch one object a line for each round:
  verdict          equal, different or unknown
  summary          one sentence
  replicas         array of {name, address, revision, state_digest, error}
  disagreements    between replicas: array of sentences
  source           the state and the fresh list: array of sentences
  answers          array of {replica, authority, missing, unexpected, said}: expected addresses not
                   told, told addresses not expected, and the answer in words
  unknown          what could not be found out: array of sentences
  problems         what the source cannot use, such as a file that does not parse; the last good
                   version is compared: array of sentences
  services, endpoints   how many the fresh list has; null without one";

/// Checks that replicas agree with each other and with the source.
#[derive(Args, Clone, Debug)]
#[command(after_long_help = HELP)]
pub struct CheckArgs {
    #[command(flatten)]
    admins: AdminArgs,
    /// The proxy ports to ask, if not those that the replicas report
    #[arg(long, value_name = "HOST:PORT", value_delimiter = ',')]
    address: Vec<Address>,
    /// Checks again and again until interrupted
    #[arg(long)]
    watch: bool,
    /// How long to wait between two rounds
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = parse_span)]
    interval: Duration,
    /// The form of the output
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t)]
    output: Format,
}

pub(crate) async fn run(args: &CheckArgs, screen: &mut Screen<'_>) -> Result<Exit, VerbError> {
    let mut exit = check(args, screen).await?;
    if !args.watch {
        return Ok(exit);
    }
    let mut interrupted = pin!(interrupted());
    loop {
        tokio::select! {
            next = check_later(args, screen) => exit = next?,
            () = &mut interrupted => return Ok(exit),
        }
    }
}

async fn check_later(args: &CheckArgs, screen: &mut Screen<'_>) -> Result<Exit, VerbError> {
    tokio::time::sleep(args.interval).await;
    check(args, screen).await
}

async fn check(args: &CheckArgs, screen: &mut Screen<'_>) -> Result<Exit, VerbError> {
    let findings = round::run(args, screen).await?;
    screen.progress("")?;
    match (args.output, args.watch) {
        (Format::Json, true) => screen.object(&findings.document())?,
        (Format::Json, false) => screen.document(&findings.document())?,
        (Format::Table, _) => print(&findings, screen)?,
    }
    Ok(findings.exit())
}

fn print(findings: &Findings, screen: &mut Screen<'_>) -> Result<(), VerbError> {
    let answers: Vec<_> = findings.answers.iter().map(ToString::to_string).collect();
    let source: Vec<_> = findings.source.iter().chain(&answers).cloned().collect();
    for (guarantee, sentence, found) in [
        ("agreement", AGREEMENT, &findings.disagreements),
        ("convergence", CONVERGENCE, &source),
    ] {
        if !found.is_empty() {
            screen.line(paint(BAD, &format!("{guarantee} is broken: {sentence}")))?;
            print_some(found, screen)?;
        }
    }
    for (heading, found) in [
        ("could not be found out:", &findings.unknown),
        (
            "the source has what cannot be used; the last good version is compared:",
            &findings.problems,
        ),
    ] {
        if !found.is_empty() {
            screen.line(paint(DOUBTFUL, heading))?;
            print_some(found, screen)?;
        }
    }
    screen.line(paint(findings.exit().style(), &findings.summary()))?;
    Ok(())
}

fn print_some(sentences: &[String], screen: &mut Screen<'_>) -> Result<(), VerbError> {
    for sentence in sentences.iter().take(SENTENCES_SHOWN_MAX) {
        screen.line(format_args!("  {sentence}"))?;
    }
    match sentences.len().saturating_sub(SENTENCES_SHOWN_MAX) {
        0 => {}
        more => screen.line(format_args!("  and {more} more"))?,
    }
    Ok(())
}
