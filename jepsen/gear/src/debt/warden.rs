//! Whoever pays when the lab itself cannot: a second process that waits for the first one's end.
//!
//! It holds one end of a pipe. The other end closes with the lab, however that ends: `Ctrl-C`,
//! a panic, `kill -9`. The warden has a process group of its own, so that `Ctrl-C` is not for it.

use std::io::{Read as _, stdin};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;

use super::book::pay_for_the_dead;
use crate::process::ProcessId;

/// The hidden verb of the lab's program that makes it a warden.
const VERB: &str = "warden";
/// How long the lab may take from closing its pipe to its end.
const PATIENCE: Duration = Duration::from_secs(30);

/// Starts a warden for this process.
///
/// # Errors
///
/// When it cannot be executed.
pub(super) fn start() -> anyhow::Result<Child> {
    let own = std::env::current_exe()?;
    Command::new(own)
        .args([VERB, &std::process::id().to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .process_group(0)
        .spawn()
        .context("cannot execute the warden")
}

/// Waits for the end of the lab, and pays what it left.
///
/// # Errors
///
/// When the books cannot be read.
pub fn watch_over_the_parent(id: u32) -> anyhow::Result<Vec<String>> {
    let lab = ProcessId::of(id);
    // Nothing is ever written there: it ends when the lab does.
    stdin().read_to_end(&mut Vec::new())?;
    let deadline = Instant::now() + PATIENCE;
    while lab.as_ref().is_ok_and(|lab| lab.is_alive()) && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(5));
    }
    pay_for_the_dead()
}
