//! The lockstep binary as a library: its tests and benchmarks start replicas
//! without a process. It wires the crates together and decides nothing.

mod args;
mod audit;
mod config;
mod config_file;
mod dev;
mod fresh;
mod fresh_metrics;
mod greeting;
mod group;
mod leadership;
mod listen;
mod logging;
mod members;
mod metrics;
mod number;
mod operator;
mod options;
mod own_threads;
mod proxy_port;
mod readiness;
mod running;
mod sample;
mod settings;
mod shutdown;
mod source;
mod source_lead;
mod tasks;
mod transfer;
mod wire;

use clap::Parser;
use lockstep_cli::Exit;
use std::{io::Write, process::ExitCode};

use args::{Args, Command};

pub use config::{ConfigError, Endpoints, ServeConfig, Tuning};
pub use config_file::ConfigFileError;
pub use group::{Group, GroupConfig};
pub use listen::{ListenError, Listeners};
pub use options::{LogFormat, LogOptions, ServeOptions};
pub use own_threads::Threads;
pub use running::{Others, Running};
pub use settings::InvalidSettings;
pub use source::{Source, SourceConfig, SourceOpenError};
pub use wire::{ServeError, start};

/// Runs the verb of the command line and says how it went.
#[must_use]
pub fn main() -> ExitCode {
    let line = match config_file::with_file(std::env::args_os().collect()) {
        Ok(line) => line,
        Err(error) => return failed("lockstep serve", &error.into()),
    };
    let args = Args::parse_from(line);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    match runtime {
        Ok(runtime) => {
            let code = runtime.block_on(run(args));
            // Whatever a stop gave up on must not keep the process.
            runtime.shutdown_background();
            code
        }
        Err(error) => failed("lockstep", &error.into()),
    }
}

async fn run(args: Args) -> ExitCode {
    match args.command {
        Command::Dev(args) => report("lockstep dev", dev::run(args).await),
        Command::Serve(args) => report("lockstep serve", wire::serve(*args).await),
        Command::Ask(verb) => exit_code(lockstep_cli::run(verb).await),
    }
}

fn exit_code(exit: Exit) -> ExitCode {
    match exit {
        Exit::Yes => ExitCode::SUCCESS,
        Exit::No => ExitCode::from(1),
        Exit::Unknown => ExitCode::from(2),
    }
}

fn report(verb: &str, result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(verb, &error),
    }
}

/// One line on standard error: what failed, where, and why, cause by cause.
fn failed(verb: &str, error: &anyhow::Error) -> ExitCode {
    // If this cannot be written either, the exit code still says it.
    let _ = writeln!(anstream::stderr(), "{verb}: {}", causes(error));
    ExitCode::from(2)
}

/// An error with its causes, but for those that a library has put into its own words already.
fn causes(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_told_once() {
        let error = anyhow::anyhow!("no route")
            .context("not connected: no route")
            .context("not asked");
        assert_eq!(causes(&error), "not asked: not connected: no route");
    }
}
