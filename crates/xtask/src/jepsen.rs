//! `cargo xtask jepsen`: builds a replica and the lab that breaks it, and runs the lab.
//!
//! ```text
//! cargo build ─▶ target/PROFILE/{lockstep, lockstep-jepsen} ─▶ lockstep-jepsen WORDS
//! ```

use std::env;
use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

use crate::workspace;

/// The packages whose programs are needed.
const PACKAGES: [&str; 4] = ["-p", "lockstep", "-p", "lockstep-jepsen-lab"];

/// How the programs are built.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Profile {
    /// With assertions, and with what the tests have built already.
    Debug,
    /// As it ships.
    Release,
}

/// Why the lab did not run, or what it found.
#[derive(Debug, thiserror::Error)]
pub enum JepsenError {
    /// A program could not be executed.
    #[error("cannot execute {program}")]
    NoProgram {
        /// Its name.
        program: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The programs could not be built.
    #[error("the build ended with {0}")]
    Build(ExitStatus),
    /// A property broke, or too little was seen; what, is on the terminal.
    #[error("the lab ended with {0}")]
    Lab(ExitStatus),
}

// === impl JepsenError ===

impl JepsenError {
    /// The lab's own exit code, which tells broken from unknown.
    #[must_use]
    pub fn code(&self) -> Option<u8> {
        match self {
            Self::Lab(status) => status.code().and_then(|code| u8::try_from(code).ok()),
            Self::NoProgram { .. } | Self::Build(_) => None,
        }
    }
}

/// Builds and runs the lab with these words.
///
/// # Errors
///
/// Any [`JepsenError`].
pub fn run(profile: Profile, words: &[String]) -> Result<(), JepsenError> {
    let cargo = env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut build = Command::new(cargo);
    build.arg("build").arg("--quiet").args(PACKAGES);
    let folder = match profile {
        Profile::Debug => "debug",
        Profile::Release => {
            build.arg("--release");
            "release"
        }
    };
    let built = status(build.current_dir(workspace()))?;
    if !built.success() {
        return Err(JepsenError::Build(built));
    }
    let program = target().join(folder).join("lockstep-jepsen");
    let ended = status(Command::new(program).args(words))?;
    if ended.success() {
        Ok(())
    } else {
        Err(JepsenError::Lab(ended))
    }
}

/// The folder that cargo builds into, as far as a variable can move it.
fn target() -> PathBuf {
    let moved = env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    workspace().join(moved.unwrap_or_else(|| PathBuf::from("target")))
}

fn status(command: &mut Command) -> Result<ExitStatus, JepsenError> {
    command.status().map_err(|source| JepsenError::NoProgram {
        program: command.get_program().to_string_lossy().into_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_labs_own_exit_code_is_passed_on() {
        let ended = status(Command::new("sh").args(["-c", "exit 2"])).unwrap();
        assert_eq!(JepsenError::Lab(ended).code(), Some(2));
        assert_eq!(JepsenError::Build(ended).code(), None);
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = status(&mut Command::new("no-such-lab")).unwrap_err();
        assert_eq!(error.to_string(), "cannot execute no-such-lab");
    }
}
