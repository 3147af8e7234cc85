//! Breaks real replicas and judges what was seen.
//!
//! ```text
//! doctor    which faults this machine can do
//! ```

mod debt;
mod disk;
mod doctor;
mod power;
mod process;
mod program;
mod room;
mod run_id;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

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
}

fn main() -> ExitCode {
    let args = Args::parse();
    let outcome = debt::pay_for_the_dead().and_then(|paid| {
        for run in paid {
            anstream::eprintln!("undid what the killed run {run} had left");
        }
        match args.verb {
            Verb::Doctor { output } => doctor::run(output),
        }
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
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
