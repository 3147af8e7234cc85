//! Breaks real replicas and judges what was seen.
//!
//! ```text
//! doctor    which faults this machine can do
//! powercut  all replicas lose their power at once, again and again
//! ```

mod api_server;
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
}

fn main() -> ExitCode {
    let args = Args::parse();
    let outcome = debt::pay_for_the_dead().and_then(|paid| {
        for run in paid {
            anstream::eprintln!("undid what the killed run {run} had left");
        }
        match args.verb {
            Verb::Doctor { output } => doctor::run(output).map(|()| ExitCode::SUCCESS),
            Verb::Powercut(args) => powercut::run(&args).map(Tally::report),
        }
    });
    match outcome {
        Ok(code) => code,
        Err(error) => {
            anstream::eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
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
