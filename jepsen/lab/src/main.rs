//! Breaks real replicas and judges what was seen.
//!
//! ```text
//! mix       everything that can be broken is broken, and the history judged (without a verb)
//! doctor    which faults this machine can do
//! powercut  all replicas lose their power at once, again and again
//! corrupt   the files of a stopped replica are damaged, again and again
//! check     judge a history that a run left
//! clean     what an earlier run left is undone
//! ```

mod check;
mod corrupt;
mod powercut;
mod proxy;
mod rig;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use lockstep_jepsen_gear::outcome::Tally;
use lockstep_jepsen_gear::{debt, doctor};
use lockstep_jepsen_mix as mix;

/// Breaks real replicas, networks, disks and clocks, and judges what was seen.
#[derive(Debug, Parser)]
#[command(
    name = "lockstep-jepsen",
    bin_name = "cargo xtask jepsen",
    max_term_width = 100,
    args_conflicts_with_subcommands = true
)]
struct Lab {
    /// What to do; a mix of all faults if nothing is said.
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    mix: mix::Args,
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
    /// Damage the files of a stopped replica, and look what becomes of it
    Corrupt(corrupt::Args),
    /// Undo what an earlier run left that was killed with everything around it
    Clean,
    /// Wait for the end of a run and undo what it left
    #[command(hide = true)]
    Warden {
        /// The process to wait for
        process: u32,
    },
    /// Judge a history: 0 if all holds, 1 if a guarantee is broken, 2 if too little was seen
    Check(check::Args),
}

fn main() -> ExitCode {
    let args = Lab::parse();
    let Some(verb) = args.verb else {
        return report(alone(|| mix::run(&args.mix)));
    };
    let outcome = match verb {
        Verb::Doctor { output } => doctor::run(output).map(|()| ExitCode::SUCCESS),
        Verb::Powercut(args) => alone(|| powercut::run(&args)),
        Verb::Corrupt(args) => alone(|| corrupt::run(&args)),
        // It breaks nothing, and may run where nothing may be undone.
        Verb::Check(args) => check::run(&args),
        Verb::Clean => debt::pay_for_the_dead().map(clean),
        Verb::Warden { process } => debt::watch_over_the_parent(process).map(clean),
    };
    report(outcome)
}

fn report(outcome: anyhow::Result<ExitCode>) -> ExitCode {
    match outcome {
        Ok(code) => code,
        Err(error) => {
            anstream::eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Runs something on a machine on which no dead run's things are left.
fn alone(run: impl FnOnce() -> anyhow::Result<Tally>) -> anyhow::Result<ExitCode> {
    clean(debt::pay_for_the_dead()?);
    run().map(Tally::report)
}

/// Says what was undone.
fn clean(paid: Vec<String>) -> ExitCode {
    for run in paid {
        anstream::eprintln!("undid what the killed run {run} had left");
    }
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Lab::command().debug_assert();
    }
}
