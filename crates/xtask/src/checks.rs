//! `cargo xtask test`: every check of the project, in order, up to the first failure.

use std::env;
use std::process::{Command, ExitStatus};
use std::time::Instant;

use crate::kube::WANTED;
use crate::kube::binaries::{Binaries, BuildError};
use crate::{report, workspace};

/// Whether the tests against the real API server run.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum KubeTests {
    /// They run; the programs are built first if need be.
    Run,
    /// They are skipped.
    Skip,
}

/// Why a check failed.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The check ran and found something; what it found is on the terminal.
    #[error("the check ended with {0}")]
    Failed(ExitStatus),
    /// Cargo could not be executed.
    #[error("cannot execute cargo")]
    NoCargo(#[source] std::io::Error),
    /// The API server could not be built.
    #[error("cannot build the API server for the tests (`--no-kube` goes without)")]
    NoKube(#[source] BuildError),
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Check {
    title: &'static str,
    work: Work,
}

/// What a check does.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Work {
    /// Builds the API server and etcd.
    Binaries,
    /// Runs cargo with these words, and with this variable set or removed.
    Cargo {
        words: &'static str,
        variable: Option<(&'static str, Option<&'static str>)>,
    },
}

/// Runs all checks and says on standard error how it went.
///
/// # Errors
///
/// The first failure; what comes after it does not run.
pub fn run(kube: KubeTests) -> Result<(), CheckError> {
    let (checks, started) = (checks(kube), Instant::now());
    if kube == KubeTests::Skip {
        report::progress("skipped: every test against the real API server, because of --no-kube");
    }
    for (passed, check) in checks.iter().enumerate() {
        report::heading(check.title);
        let check_started = Instant::now();
        if let Err(error) = run_one(&check.work) {
            report::bad(&format!(
                "failed: {} ({passed} of {} checks passed before it, {} in all)",
                check.title,
                checks.len(),
                report::spoken(started.elapsed())
            ));
            return Err(error);
        }
        report::progress(&report::spoken(check_started.elapsed()));
    }
    let elapsed = report::spoken(started.elapsed());
    report::good(&format!("all {} checks passed in {elapsed}", checks.len()));
    Ok(())
}

fn checks(kube: KubeTests) -> Vec<Check> {
    let cargo = |title, words, variable| Check {
        title,
        work: Work::Cargo { words, variable },
    };
    let mut checks = vec![
        cargo("format", "fmt --all --check", None),
        cargo(
            "lints",
            "clippy --workspace --all-targets -- -D warnings",
            None,
        ),
    ];
    let wanted = match kube {
        KubeTests::Run => {
            checks.push(Check {
                title: "API server",
                work: Work::Binaries,
            });
            Some("1")
        }
        KubeTests::Skip => None,
    };
    checks.extend([
        cargo(
            "tests",
            "test --workspace --no-fail-fast",
            Some((WANTED, wanted)),
        ),
        cargo(
            "power cuts on ext4",
            "xtask jepsen powercut --cuts 4 --fs ext4",
            None,
        ),
        cargo(
            "power cuts on XFS",
            "xtask jepsen powercut --cuts 4 --fs xfs",
            None,
        ),
        cargo(
            "documentation",
            "doc --workspace --no-deps",
            Some(("RUSTDOCFLAGS", Some("-D warnings"))),
        ),
        cargo(
            "generated code",
            "run -p lockstep-proto --example gen -- --check",
            None,
        ),
    ]);
    checks
}

fn run_one(work: &Work) -> Result<(), CheckError> {
    match work {
        Work::Binaries => {
            let binaries = Binaries::ensure().map_err(CheckError::NoKube)?;
            report::progress(&format!("in {}", binaries.folder().display()));
            Ok(())
        }
        Work::Cargo { words, variable } => {
            report::progress(&format!("cargo {words}"));
            run_to_end(cargo(words, *variable))
        }
    }
}

fn cargo(words: &str, variable: Option<(&str, Option<&str>)>) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(words.split(' ')).current_dir(workspace());
    match variable {
        Some((name, Some(value))) => command.env(name, value),
        Some((name, None)) => command.env_remove(name),
        None => &mut command,
    };
    command
}

fn run_to_end(mut command: Command) -> Result<(), CheckError> {
    let status = command.status().map_err(CheckError::NoCargo)?;
    if status.success() {
        Ok(())
    } else {
        Err(CheckError::Failed(status))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(kube: KubeTests) -> Vec<&'static str> {
        checks(kube).iter().map(|check| check.title).collect()
    }

    /// The variable that the tests are run with.
    fn variable(kube: KubeTests) -> Option<(&'static str, Option<&'static str>)> {
        checks(kube).into_iter().find_map(|check| match check.work {
            Work::Cargo { words, variable } if words.starts_with("test ") => variable,
            Work::Cargo { .. } | Work::Binaries => None,
        })
    }

    #[test]
    fn the_api_server_is_built_before_the_tests_that_use_it() {
        let expected = [
            "format",
            "lints",
            "API server",
            "tests",
            "power cuts on ext4",
            "power cuts on XFS",
            "documentation",
            "generated code",
        ];
        assert_eq!(titles(KubeTests::Run), expected);
        assert_eq!(variable(KubeTests::Run), Some(("LOCKSTEP_KUBE", Some("1"))));
    }

    #[test]
    fn without_kube_nothing_is_built_and_no_test_is_told_to_use_it() {
        let expected = [
            "format",
            "lints",
            "tests",
            "power cuts on ext4",
            "power cuts on XFS",
            "documentation",
            "generated code",
        ];
        assert_eq!(titles(KubeTests::Skip), expected);
        assert_eq!(variable(KubeTests::Skip), Some(("LOCKSTEP_KUBE", None)));
    }

    #[test]
    fn a_failing_check_tells_its_exit_status() {
        let mut command = Command::new("sh");
        command.args(["-c", "exit 101"]);
        let error = run_to_end(command).unwrap_err();
        assert_eq!(error.to_string(), "the check ended with exit status: 101");
    }

    #[test]
    fn a_variable_is_set_or_removed_for_cargo() {
        let variables = |variable| {
            let command = cargo("doc", variable);
            let text = |value: &std::ffi::OsStr| value.to_str().unwrap().to_owned();
            let pair = command.get_envs().next();
            pair.map(|(name, value)| (text(name), value.map(text)))
        };
        assert_eq!(
            variables(Some(("A", Some("1")))),
            Some(("A".to_owned(), Some("1".to_owned())))
        );
        assert_eq!(variables(Some(("A", None))), Some(("A".to_owned(), None)));
        assert_eq!(variables(None), None);
    }
}
