//! Benchmarks of lockstep. Each prints its figures with their spread and the
//! shape that it measured; none is a test.

mod arrivals;
mod figures;
mod fleet;
mod leadership;
mod propagation;
mod scene;
mod source;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Benchmarks of lockstep
#[derive(Debug, Parser)]
#[command(name = "lockstep-bench", version, max_term_width = 100)]
struct Args {
    /// What to measure.
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Debug, Subcommand)]
enum Bench {
    /// From a change at the source to the last replica, and to the last open stream
    Propagation(propagation::Args),
    /// How long nothing reaches the streams of followers when the lead moves
    Leadership(leadership::Args),
}

#[tokio::main]
async fn main() -> ExitCode {
    let result = match Args::parse().bench {
        Bench::Propagation(args) => propagation::run(args).await,
        Bench::Leadership(args) => leadership::run(args).await,
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lockstep-bench: {error:#}");
            ExitCode::from(2)
        }
    }
}
