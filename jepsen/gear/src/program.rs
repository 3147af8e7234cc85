//! Runs one of the system's programs, for a limited time.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

/// What no program of the lab takes on a healthy machine.
const LIMIT: Duration = Duration::from_secs(30);

/// Runs a program to its end and returns what it printed on standard output.
///
/// What it prints must fit into a pipe: 64 KiB.
///
/// # Errors
///
/// When it cannot be executed, takes more than half a minute, or fails; the last with what it
/// printed on standard error.
pub fn run(words: &[&str]) -> anyhow::Result<String> {
    let [name, arguments @ ..] = words else {
        bail!("no program named");
    };
    let mut command = Command::new(name);
    command.args(arguments);
    run_command(command)
}

/// As [`run`], of a command that was put together elsewhere.
///
/// # Errors
///
/// As [`run`].
pub fn run_command(mut command: Command) -> anyhow::Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot execute {name}"))?;
    let deadline = Instant::now() + LIMIT;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() > deadline {
            // May hang in the kernel for ever, so nobody waits for it.
            let _ = child.kill();
            bail!("{name} did not end within {} s", LIMIT.as_secs());
        }
        thread::sleep(Duration::from_millis(1));
    };
    let (said, complained) = outputs(&mut child)?;
    if status.success() {
        return Ok(said);
    }
    let complaint = complained.lines().next().unwrap_or_default().trim();
    bail!("{name}: {complaint} ({status})");
}

fn outputs(child: &mut Child) -> anyhow::Result<(String, String)> {
    let (mut said, mut complained) = (Vec::new(), Vec::new());
    if let Some(pipe) = &mut child.stdout {
        pipe.read_to_end(&mut said)?;
    }
    if let Some(pipe) = &mut child.stderr {
        pipe.read_to_end(&mut complained)?;
    }
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok((text(said), text(complained)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_run_and_its_complaint_is_told() {
        assert_eq!(run(&["echo", "a b"]).unwrap(), "a b\n");
        let error = run(&["sh", "-c", "echo no >&2; exit 3"]).unwrap_err();
        assert_eq!(error.to_string(), "sh: no (exit status: 3)");
        let error = run(&["no-such-program"]).unwrap_err();
        assert_eq!(error.to_string(), "cannot execute no-such-program");
    }
}
