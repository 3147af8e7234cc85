//! Runs the `go` command: short questions, and builds that show progress.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::binaries::BuildError;
use crate::report;

/// A build that stays silent longer than this looks stuck.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);

/// Enough to hold a compiler's complaint, little enough to read.
const LINES_KEPT_MAX: usize = 20;

/// Asks `go` something and returns its standard output without the last newline.
pub(super) fn answer(module: &Path, arguments: &[&str]) -> Result<String, BuildError> {
    let mut command = Command::new("go");
    command
        .current_dir(module)
        .args(arguments)
        .stdin(Stdio::null());
    let output = command.output().map_err(BuildError::NoGo)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout)
            .trim_end()
            .to_owned());
    }
    Err(failure(
        &command,
        String::from_utf8_lossy(&output.stderr)
            .trim_end()
            .to_owned(),
    ))
}

/// Runs a `go build -v` to its end, with a progress line every ten seconds.
pub(super) fn run(mut command: Command, name: &str) -> Result<(), BuildError> {
    command.stdin(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(BuildError::NoGo)?;
    let mut told = Told::new(name);
    if let Some(stderr) = child.stderr.take() {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            told.line(line, Instant::now());
        }
    }
    match child.wait() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => Err(failure(&command, told.last_lines())),
        Err(error) => Err(BuildError::NoGo(error)),
    }
}

fn failure(command: &Command, output: String) -> BuildError {
    let words = command.get_args().map(|word| word.to_string_lossy());
    let words: Vec<_> = std::iter::once("go".into()).chain(words).collect();
    let folder = command
        .get_current_dir()
        .unwrap_or(Path::new("."))
        .to_path_buf();
    BuildError::GoFailed {
        command: words.join(" "),
        folder,
        output,
    }
}

/// What a build has told so far.
struct Told<'a> {
    name: &'a str,
    packages: usize,
    kept: VecDeque<String>,
    started: Instant,
    reported: Instant,
}

impl<'a> Told<'a> {
    fn new(name: &'a str) -> Self {
        let now = Instant::now();
        Self {
            name,
            packages: 0,
            kept: VecDeque::new(),
            started: now,
            reported: now,
        }
    }

    /// Takes one line of `go build -v`: a package that is done, or something to read.
    fn line(&mut self, line: String, now: Instant) {
        if line.contains([' ', '\t']) {
            if self.kept.len() == LINES_KEPT_MAX {
                self.kept.pop_front();
            }
            self.kept.push_back(line);
        } else {
            self.packages += 1;
        }
        if now.duration_since(self.reported) >= PROGRESS_INTERVAL {
            self.reported = now;
            let elapsed = report::spoken(now.duration_since(self.started));
            report::progress(&format!(
                "{}: {} packages, {elapsed}",
                self.name, self.packages
            ));
        }
    }

    fn last_lines(self) -> String {
        Vec::from(self.kept).join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_counted_and_messages_kept() {
        let mut told = Told::new("etcd");
        for line in [
            "go: downloading x v1.0.0",
            "internal/abi",
            "# k8s.io/x",
            "x.go:1:2: no such",
        ] {
            told.line(line.to_owned(), Instant::now());
        }
        assert_eq!(told.packages, 1);
        let expected = "go: downloading x v1.0.0\n# k8s.io/x\nx.go:1:2: no such";
        assert_eq!(told.last_lines(), expected);
    }

    #[test]
    fn only_the_last_messages_are_kept() {
        let mut told = Told::new("etcd");
        for number in 1..=LINES_KEPT_MAX + 1 {
            told.line(format!("line {number}"), Instant::now());
        }
        assert_eq!(told.last_lines().lines().next(), Some("line 2"));
    }
}
