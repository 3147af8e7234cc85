//! What can go wrong with the real API server.

use std::io;
use std::net::SocketAddr;
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
    /// It is ready, but without the custom resource definitions.
    #[error("no custom resource definitions")]
    Crds(#[source] CrdError),
}

/// Why a request to the API server brought no answer, or a refusal.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The certificate or the token to use could not be read.
    #[error("cannot read the credentials in {folder}: {reason}")]
    Credentials {
        /// The data folder.
        folder: PathBuf,
        /// Which of them, and the system's reason.
        reason: String,
    },
    /// No connection, or one that broke.
    #[error("no answer from the API server at {address} to {path}")]
    Connection {
        /// Where the API server listens.
        address: SocketAddr,
        /// What was asked.
        path: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The answer has a status other than 200 and 201.
    #[error("{method} {path} answered {status}: {body}")]
    Refused {
        /// The method.
        method: &'static str,
        /// What was asked.
        path: String,
        /// Code and reason, for example `404 Not Found`.
        status: String,
        /// The body without the white space around it.
        body: String,
    },
}

/// Why custom resource definitions were not installed or removed.
#[derive(Debug, thiserror::Error)]
pub enum CrdError {
    /// The API server did not take the request.
    #[error("cannot change the definition {name}")]
    Request {
        /// The definition's name, for example `servers.policy.linkerd.io`.
        name: String,
        /// Why.
        source: RequestError,
    },
    /// It was taken, but what follows from it was not seen in time.
    #[error("the definition {name} was not {awaited} after {seconds} s")]
    Late {
        /// The definition's name.
        name: String,
        /// What was waited for: `served` or `gone`.
        awaited: &'static str,
        /// How long; seconds.
        seconds: u64,
    },
}
