//! `cargo xtask`: the project's own commands.

use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::{Parser, Subcommand};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use xtask::checks::{self, KubeTests};
use xtask::fuzz;
use xtask::jepsen::{self, JepsenError, Profile};
use xtask::kube::{Crds, Kube, Options, WatchCache};
use xtask::parity::{self, Api, Output};
use xtask::report;

/// How often a wait looks for a signal or for a program that died.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The project's own commands.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Run every check and every test, up to the first failure
    Test {
        /// Skip the tests that need the real API server, and do not build it
        #[arg(long)]
        no_kube: bool,
    },
    /// Run a real kube-apiserver and etcd on loopback until Ctrl-C
    Kube {
        /// Folder for data and logs, kept afterwards [default: a temporary one]
        #[arg(long, value_name = "DIR")]
        data: Option<PathBuf>,
        /// Where to write the kubeconfig [default: in the data folder]
        #[arg(long, value_name = "PATH")]
        kubeconfig: Option<PathBuf>,
        /// Serve watches from memory, or from etcd: then 410 comes exactly after a compaction
        #[arg(long, value_enum, default_value_t = WatchCache::On)]
        watch_cache: WatchCache,
        /// Install the custom resource definitions of the tests
        #[arg(long, value_enum, default_value_t = Crds::None)]
        crds: Crds,
    },
    /// Replay the recorded scenarios against three replicas and compare every answer
    Parity {
        /// Keep the objects in a real kube-apiserver, not in the simulated one
        #[arg(long)]
        kube: bool,
        /// Replay only the scenarios whose names begin so, for example 012
        #[arg(
            long,
            value_name = "PREFIX",
            default_value = "",
            hide_default_value = true
        )]
        scenario: String,
        /// How to print the result
        #[arg(short, long, value_enum, default_value_t)]
        output: Output,
    },
    /// Run one reader of bytes from outside with libFuzzer, on the stable compiler
    ///
    /// The targets are the files of crates/fuzz/src/bin. Needs a C++ compiler. What is found is
    /// kept below the build folder, in fuzz/artifacts; so is the corpus, in fuzz/corpus.
    Fuzz {
        /// Which reader, for example authority
        target: String,
        /// How long
        #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
        seconds: u32,
    },
    /// Break real replicas, networks, disks and clocks, and judge what was seen
    ///
    /// What follows is for the lab: `cargo xtask jepsen --help` shows what it can do.
    #[command(disable_help_flag = true)]
    Jepsen {
        /// Build as it ships, without assertions; must come first
        #[arg(long)]
        release: bool,
        /// What the lab is told
        #[arg(
            trailing_var_arg = true,
            allow_hyphen_values = true,
            value_name = "WORDS"
        )]
        words: Vec<String>,
    },
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Verb::Test { no_kube: false } => checks::run(KubeTests::Run).map_err(Into::into),
        Verb::Test { no_kube: true } => checks::run(KubeTests::Skip).map_err(Into::into),
        Verb::Kube {
            data,
            kubeconfig,
            watch_cache,
            crds,
        } => run_kube(&Options {
            data,
            kubeconfig,
            watch_cache,
            crds,
        }),
        Verb::Parity {
            kube,
            scenario,
            output,
        } => {
            let api = if kube { Api::Real } else { Api::Simulated };
            parity::run(api, &scenario, output).map_err(Into::into)
        }
        Verb::Fuzz { target, seconds } => fuzz::run(&target, seconds).map_err(Into::into),
        Verb::Jepsen { release, words } => {
            let profile = if release {
                Profile::Release
            } else {
                Profile::Debug
            };
            jepsen::run(profile, &words).map_err(Into::into)
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report::bad(&format!("error: {}", with_causes(error.as_ref())));
            exit_code(error.as_ref())
        }
    }
}

/// The lab tells broken from unknown; of all others a failure is a failure.
fn exit_code(error: &(dyn Error + 'static)) -> ExitCode {
    let code = error.downcast_ref().and_then(JepsenError::code);
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Serves until a signal comes or one of the programs dies; both are stopped on return.
fn run_kube(options: &Options) -> Result<(), Box<dyn Error>> {
    // Before the start, so that Ctrl-C during the start is not lost.
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    let mut kube = Kube::start(options)?;
    anstream::println!("kubeconfig  {}", kube.kubeconfig().display());
    anstream::println!("API server  {}", kube.url());
    anstream::println!("etcd        {}", kube.etcd_url());
    anstream::println!("data        {}", kube.data().display());
    report::good("ready; Ctrl-C stops both");
    while signals.pending().next().is_none() {
        if let Some(name) = kube.ended() {
            return Err(format!("{name} ended; see its log in {}", kube.data().display()).into());
        }
        thread::sleep(POLL_INTERVAL);
    }
    report::progress("stopping");
    Ok(())
}

/// The error and what caused it, outermost first.
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        // Writing to a string cannot fail.
        let _ = write!(text, ": {inner}");
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn an_unknown_watch_cache_is_refused_with_the_allowed_values() {
        let words = ["cargo xtask", "kube", "--watch-cache", "maybe"];
        let error = Arguments::try_parse_from(words).err().unwrap().to_string();
        assert!(
            error.starts_with(
                "error: invalid value 'maybe' for '--watch-cache <WATCH_CACHE>'\n  [possible values: on, off]"
            ),
            "{error}"
        );
    }

    #[test]
    fn an_unknown_set_of_definitions_is_refused_with_the_allowed_values() {
        let words = ["cargo xtask", "kube", "--crds", "some"];
        let error = Arguments::try_parse_from(words).err().unwrap().to_string();
        assert!(
            error.starts_with(
                "error: invalid value 'some' for '--crds <CRDS>'\n  [possible values: none, all]"
            ),
            "{error}"
        );
    }

    #[test]
    fn an_unknown_output_is_refused_with_the_allowed_values() {
        let words = ["cargo xtask", "parity", "-o", "yaml"];
        let error = Arguments::try_parse_from(words).err().unwrap().to_string();
        assert!(
            error.starts_with(
                "error: invalid value 'yaml' for '--output <OUTPUT>'\n  [possible values: table, json]"
            ),
            "{error}"
        );
    }

    #[test]
    fn the_labs_words_are_not_xtasks_business() {
        let words = [
            "cargo xtask",
            "jepsen",
            "--release",
            "--minutes",
            "5",
            "--help",
        ];
        let Verb::Jepsen { release, words } = Arguments::try_parse_from(words).unwrap().command
        else {
            panic!("another verb");
        };
        assert!(release);
        assert_eq!(words, ["--minutes", "5", "--help"]);
    }

    #[test]
    fn an_error_is_shown_with_its_causes() {
        let cause = std::io::Error::other("no space left");
        let error = xtask::kube::StartError::Port(cause);
        assert_eq!(
            with_causes(&error),
            "no free port on 127.0.0.1: no space left"
        );
    }
}
