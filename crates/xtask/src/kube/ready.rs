//! Waits for a started program to be ready, or to fail.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::StartError;
use super::child::Child;

/// A start takes about three seconds; a machine busy with builds takes many times that.
const READY_TIMEOUT: Duration = Duration::from_secs(120);

const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Enough of a log to see why a program failed.
const LAST_LINES: usize = 15;

/// Polls `ready` until it holds, the program ends or two minutes have passed.
pub(super) fn wait(
    name: &'static str,
    child: &mut Child,
    ready: impl Fn() -> bool,
) -> Result<(), StartError> {
    let started = Instant::now();
    while started.elapsed() < READY_TIMEOUT {
        if let Some(status) = child.ended() {
            return Err(StartError::Ended {
                name,
                status,
                last_lines: last_lines(child.log()),
            });
        }
        if ready() {
            return Ok(());
        }
        thread::sleep(POLL_INTERVAL);
    }
    let seconds = READY_TIMEOUT.as_secs();
    Err(StartError::NotReady {
        name,
        seconds,
        last_lines: last_lines(child.log()),
    })
}

fn last_lines(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.len().saturating_sub(LAST_LINES);
    lines.get(first..).unwrap_or_default().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program_that(script: &str) -> (tempfile::TempDir, Child) {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let arguments = ["-c".to_owned(), script.to_owned()];
        let child = Child::start(Path::new("/bin/sh"), &arguments, &log).unwrap();
        (folder, child)
    }

    #[test]
    fn a_program_that_ends_is_shown_with_its_last_lines() {
        let (_folder, mut child) = program_that("seq 1 20; exit 3");
        let error = wait("etcd", &mut child, || false).unwrap_err().to_string();
        let lines: Vec<String> = (6..=20).map(|line| line.to_string()).collect();
        let expected = format!(
            "etcd ended before it was ready (exit status: 3); its last lines:\n{}",
            lines.join("\n")
        );
        assert_eq!(error, expected);
    }

    #[test]
    fn a_program_outlives_the_thread_that_started_it() {
        let folder = tempfile::tempdir().unwrap();
        let (question, answer) = (folder.path().join("question"), folder.path().join("answer"));
        let script = format!(
            "until [ -e {} ]; do sleep 0.01; done; touch {}; exec sleep 600",
            question.display(),
            answer.display()
        );
        let (_folder, mut child) = thread::spawn(move || program_that(&script)).join().unwrap();
        fs::write(&question, "").unwrap();
        wait("sh", &mut child, || answer.exists()).unwrap();
    }

    #[test]
    fn a_dropped_program_is_gone() {
        let (_folder, child) = program_that("exec sleep 600");
        let process = Path::new("/proc").join(child.pid().to_string());
        assert!(process.exists());
        drop(child);
        assert!(!process.exists());
    }
}
