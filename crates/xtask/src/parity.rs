//! `cargo xtask parity`: what replicas answer, beside what the recorded controller answered.
//!
//! ```text
//! cargo xtask parity ──▶ cargo test -p lockstep --test parity ──▶ Report, a file ──▶ table or JSON
//! ```

mod report;
mod table;

use std::env;
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

pub use report::{Counts, Outcome, Report, Row, StreamOutcome};
pub use table::{differences, table};

use crate::kube::WANTED;
use crate::kube::binaries::{Binaries, BuildError};
use crate::{report as say, workspace};

/// Environment variable that names the file into which the test writes its report.
pub const REPORT: &str = "LOCKSTEP_PARITY_REPORT";

/// Environment variable with the beginning of the names of the scenarios to replay.
pub const SCENARIO: &str = "LOCKSTEP_PARITY_SCENARIO";

/// The test on the simulated API server.
pub const SIMULATED_TEST: &str = "every_recorded_answer_is_given_on_the_simulated_api_server";

/// The test on the real API server.
pub const REAL_TEST: &str = "every_recorded_answer_is_given_on_the_real_api_server";

/// Which API server holds the objects.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Api {
    /// The one inside the test.
    Simulated,
    /// The real one; its programs are built first if need be.
    Real,
}

/// How the result is printed.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Output {
    /// For people
    #[default]
    Table,
    /// One JSON object
    Json,
}

/// Why there is no parity, or no answer to the question.
#[derive(Debug, thiserror::Error)]
pub enum ParityError {
    /// Streams differ; how is on standard output.
    #[error("{0} streams differ from what was recorded and from what is right")]
    Different(usize),
    /// No scenario has such a name.
    #[error("no recorded scenario begins with `{0}`")]
    NoScenario(String),
    /// The test ended without a report; why is on the terminal.
    #[error("the test ended with {0}")]
    Failed(ExitStatus),
    /// Cargo could not be executed.
    #[error("cannot execute cargo")]
    NoCargo(#[source] io::Error),
    /// The API server could not be built.
    #[error("cannot build the API server")]
    NoKube(#[source] BuildError),
    /// A file or folder could not be read or written.
    #[error("cannot use {path}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The test's report is not of its form.
    #[error("the report in {path} is not of its form")]
    Report {
        /// The file.
        path: PathBuf,
        /// Where, and what is wrong.
        source: serde_json::Error,
    },
}

/// Replays the scenarios whose names begin with `prefix` and prints how it went.
///
/// # Errors
///
/// Every variant of [`ParityError`].
pub fn run(api: Api, prefix: &str, output: Output) -> Result<(), ParityError> {
    if api == Api::Real {
        say::heading("API server");
        let binaries = Binaries::ensure().map_err(ParityError::NoKube)?;
        say::progress(&format!("in {}", binaries.folder().display()));
    }
    say::heading("replay");
    let folder = tempfile::tempdir().map_err(at(&env::temp_dir()))?;
    let path = folder.path().join("report.json");
    let status = command(api, prefix, &path)
        .and_then(|mut it| it.status())
        .map_err(ParityError::NoCargo)?;
    if !status.success() {
        return Err(ParityError::Failed(status));
    }
    let report = read(&path)?;
    if report.rows.is_empty() {
        return Err(ParityError::NoScenario(prefix.to_owned()));
    }
    match output {
        Output::Table => anstream::print!("{}{}", table(&report), differences(&report)),
        Output::Json => anstream::println!("{}", report.to_json()),
    }
    match report.total().different {
        0 => Ok(()),
        different => Err(ParityError::Different(different)),
    }
}

/// The test; what it says goes to standard error, for standard output is the result's.
fn command(api: Api, prefix: &str, path: &Path) -> io::Result<Command> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let test = match api {
        Api::Simulated => SIMULATED_TEST,
        Api::Real => REAL_TEST,
    };
    command
        .args(["test", "-q", "-p", "lockstep", "--test", "parity"])
        .args(["--", "--exact", "--nocapture", test])
        .current_dir(workspace())
        .env(REPORT, path)
        .env(SCENARIO, prefix)
        .stdout(Stdio::from(io::stderr().as_fd().try_clone_to_owned()?));
    match api {
        Api::Simulated => command.env_remove(WANTED),
        Api::Real => command.env(WANTED, "1"),
    };
    Ok(command)
}

fn read(path: &Path) -> Result<Report, ParityError> {
    let text = fs::read_to_string(path).map_err(at(path))?;
    serde_json::from_str(&text).map_err(|source| ParityError::Report {
        path: path.to_owned(),
        source,
    })
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> ParityError {
    let path = path.to_owned();
    move |source| ParityError::Io { path, source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    fn variable(command: &Command, name: &str) -> Option<Option<String>> {
        let mut all = command.get_envs();
        let (_, value) = all.find(|(key, _)| *key == OsStr::new(name))?;
        Some(value.map(|it| it.to_string_lossy().into_owned()))
    }

    #[test]
    fn the_test_is_told_what_to_replay_and_where_to_report() {
        let path = Path::new("/tmp/report.json");
        let command = command(Api::Real, "012", path).unwrap();
        let set = |value: &str| Some(Some(value.to_owned()));
        assert_eq!(variable(&command, WANTED), set("1"));
        assert_eq!(variable(&command, SCENARIO), set("012"));
        assert_eq!(variable(&command, REPORT), set("/tmp/report.json"));
        assert_eq!(command.get_args().last(), Some(OsStr::new(REAL_TEST)));
    }

    #[test]
    fn without_the_real_server_the_test_is_not_told_to_use_it() {
        let command = command(Api::Simulated, "", Path::new("r")).unwrap();
        assert_eq!(variable(&command, WANTED), Some(None));
        assert_eq!(command.get_args().last(), Some(OsStr::new(SIMULATED_TEST)));
    }

    #[test]
    fn a_report_that_is_missing_or_no_report_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        let error = read(&path).unwrap_err().to_string();
        assert_eq!(error, format!("cannot use {}", path.display()));
        fs::write(&path, "{}").unwrap();
        let error = read(&path).unwrap_err().to_string();
        let expected = format!("the report in {} is not of its form", path.display());
        assert_eq!(error, expected);
    }
}
