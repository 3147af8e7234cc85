//! How a run ends: what passed, what failed, what nobody can say.

use std::process::ExitCode;

/// The checks of a run. Printed as its last line.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Checks that held.
    pub passed: u32,
    /// Checks that did not hold, or that too little was seen for.
    pub failed: u32,
    /// How many of those that failed are only unknown.
    pub unknown: u32,
}

// === impl Tally ===

impl Tally {
    /// Of a run for which this machine lacks something: says so.
    pub fn skipped(reason: &str) -> Self {
        anstream::eprintln!("skipped: {reason}");
        Self::default()
    }

    /// Counts one check, which holds if it has no violations; prints those that it has.
    pub fn count(&mut self, violations: &[String]) {
        if violations.is_empty() {
            self.passed += 1;
        } else {
            self.failed += 1;
        }
        for violation in violations {
            anstream::eprintln!("  {violation}");
        }
    }

    /// Counts checks that could not be made: they have not held.
    pub const fn unknown(&mut self, count: u32) {
        self.failed += count;
        self.unknown += count;
    }

    /// 0 if all held, 1 if a property broke, 2 if too little was seen. Prints the last line.
    pub fn report(self) -> ExitCode {
        anstream::println!("{} passed, {} failed", self.passed, self.failed);
        match (self.failed, self.unknown) {
            (0, _) => ExitCode::SUCCESS,
            (failed, unknown) if failed == unknown => ExitCode::from(2),
            (_, _) => ExitCode::from(1),
        }
    }
}
