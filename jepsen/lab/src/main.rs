//! Breaks real replicas and judges what was seen.
//!
//! ```text
//! doctor    which faults this machine can do
//! powercut  all replicas lose their power at once, again and again
//! check     judge a history that a run left
//! ```

mod api_server;
mod check;
mod debt;
mod disk;
mod doctor;
mod operator;
mod outcome;
mod power;
mod powercut;
mod process;
mod program;
mod proxy;
mod replica;
mod room;
mod run_id;
mod world;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use outcome::Tally;

/// Breaks real replicas, networks, disks and clocks, and judges what was seen.
#[derive(Debug, Parser)]
#[command(
    name = "lockstep-jepsen",
    bin_name = "cargo xtask jepsen",
    max_term_width = 100
)]
struct Args {
    /// What to do.
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Tell which faults this machine can do, by doing each once where it hurts nobody
    Doctor {
        /// How to print it
        #[arg(short, long, value_enum, default_value_t)]
        output: doctor::Output,
    },
    /// Cut the power of all replicas at once, under load, and look whether anything is lost
    Powercut(powercut::Args),
    /// Judge a history: 0 if all holds, 1 if a guarantee is broken, 2 if too little was seen
    Check(check::Args),
}

fn main() -> ExitCode {
    let args = Args::parse();
    match run(args.verb) {
        Ok(code) => code,
        Err(error) => {
            anstream::eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(verb: Verb) -> anyhow::Result<ExitCode> {
    // It breaks nothing, and may run where nothing may be undone.
    if let Verb::Check(args) = &verb {
        return check::run(args);
    }
    for run in debt::pay_for_the_dead()? {
        anstream::eprintln!("undid what the killed run {run} had left");
    }
    match verb {
        Verb::Doctor { output } => doctor::run(output).map(|()| ExitCode::SUCCESS),
        Verb::Powercut(args) => powercut::run(&args).map(Tally::report),
        Verb::Check(args) => check::run(&args),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }
}
