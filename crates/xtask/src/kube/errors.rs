//! What can go wrong with the real API server.

use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;

use super::binaries::BuildError;

/// Why the API server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The programs could not be built or found.
    #[error("no programs to start")]
    Build(#[source] BuildError),
    /// A file or folder of the data folder could not be used.
    #[error("cannot use {path}")]
    Folder {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The data folder serves another API server.
    #[error("{path} is in use by another API server")]
    InUse {
        /// The data folder.
        path: PathBuf,
    },
    /// No free port on loopback.
    #[error("no free port on 127.0.0.1")]
    Port(#[source] io::Error),
    /// A program could not be executed.
    #[error("cannot execute {program}")]
    Execute {
        /// The program.
        program: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A program ended before it was ready.
    #[error("{name} ended before it was ready ({status}); its last lines:\n{last_lines}")]
    Ended {
        /// The program's name.
        name: &'static str,
        /// Exit code or signal.
        status: ExitStatus,
        /// The end of its log.
        last_lines: String,
    },
    /// A program runs, but is not ready in time.
    #[error("{name} was not ready after {seconds} s; its last lines:\n{last_lines}")]
    NotReady {
        /// The program's name.
        name: &'static str,
        /// How long was waited; seconds.
        seconds: u64,
        /// The end of its log.
        last_lines: String,
    },
}

/// Why a request to the API server brought no answer.
#[derive(Debug, thiserror::Error)]
pub enum GetError {
    /// The program that sends it could not be executed.
    #[error("cannot execute {program}")]
    Execute {
        /// The program.
        program: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The server refused, or did not answer; the text says which.
    #[error("{0}")]
    Failed(String),
}
