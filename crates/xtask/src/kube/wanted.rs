//! Whether tests that need the real API server run.

use std::io::{self, Write};

/// Environment variable that tells tests to use the real API server, as `1`.
pub const WANTED: &str = "LOCKSTEP_KUBE";

/// Whether the real API server is wanted; when not, says on standard error that `test` is skipped.
///
/// The line goes past the capture of the test harness, so that a skipped test
/// is seen to be skipped.
#[must_use]
pub fn wanted_for(test: &str) -> bool {
    let wanted = std::env::var_os(WANTED).is_some_and(|value| value == "1");
    if !wanted {
        let line = format!("skipped: {test}: needs the real API server, and {WANTED} is not 1\n");
        // Nothing can be done about a closed standard error.
        let _ = io::stderr().write_all(line.as_bytes());
    }
    wanted
}
