//! The operator's verbs: resolve, status, check, members.
//!
//! A verb asks replicas over the same ports that proxies and operators use, and never reads a
//! replica's files: what it prints is what any client can see.
//!
//! The binary mounts [`Verb`] and ends with the [`Exit`] that [`run`] returns.

mod address;
mod admin;
mod ask;
mod check;
mod codec;
mod endpoint;
mod exit;
mod labels;
mod members;
mod positions;
mod proxy;
mod resolve;
mod screen;
mod span;
mod status;
mod table;
mod told;

pub use address::{Address, InvalidAddress};
pub use check::CheckArgs;
pub use exit::Exit;
pub use members::MembersArgs;
pub use resolve::ResolveArgs;
pub use screen::{Format, Progress, Screen};
pub use span::InvalidSpan;
pub use status::StatusArgs;

use ask::AskError;
use clap::Subcommand;
use std::io::{self, IsTerminal};

/// What an operator asks.
#[derive(Clone, Debug, Subcommand)]
pub enum Verb {
    /// Asks what a proxy would be told about an authority
    Resolve(ResolveArgs),
    /// Shows the replicas side by side
    Status(StatusArgs),
    /// Checks that replicas agree with each other and with the source
    Check(CheckArgs),
    /// Says who belongs to the group and who leads it, and changes it
    Members(MembersArgs),
}

/// Why a verb stopped.
#[derive(Debug, thiserror::Error)]
enum VerbError {
    /// The replica that was asked gave no answer.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// The output cannot be written.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
}

/// Runs a verb with the process's own output: coloured on a terminal, plain elsewhere.
///
/// Errors are printed to standard error. Never fails: what went wrong is in the [`Exit`].
pub async fn run(verb: Verb) -> Exit {
    let (mut out, mut notes) = (anstream::stdout(), anstream::stderr());
    // A line is redrawn with escapes, which are not for everybody: NO_COLOR, a dumb terminal.
    let escapes = anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never;
    let progress = if io::stderr().is_terminal() && escapes {
        Progress::Shown
    } else {
        Progress::Hidden
    };
    run_on(verb, &mut Screen::new(&mut out, &mut notes, progress)).await
}

/// Runs a verb that prints to `screen`; otherwise as [`run`].
pub async fn run_on(verb: Verb, screen: &mut Screen<'_>) -> Exit {
    let (name, end) = match &verb {
        Verb::Resolve(args) => ("resolve", resolve::run(args, screen).await),
        Verb::Status(args) => ("status", status::run(args, screen).await),
        Verb::Check(args) => ("check", check::run(args, screen).await),
        Verb::Members(args) => ("members", members::run(args, screen).await),
    };
    let error = match end {
        Ok(exit) => return exit,
        Err(error) => error,
    };
    // Whoever reads the output may have seen enough and gone; that is no error to print.
    if !matches!(&error, VerbError::Output(cause) if cause.kind() == io::ErrorKind::BrokenPipe) {
        // If this cannot be written either, the exit code still says it.
        let _ = screen.note(format_args!("lockstep {name}: {error}"));
    }
    match error {
        VerbError::Ask(error) => error.exit(),
        VerbError::Output(_) => Exit::Unknown,
    }
}

/// Waits for Ctrl-C; for ever if the system cannot tell about it.
async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending().await
    }
}
