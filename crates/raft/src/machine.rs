//! The port to the replicated state machine, as consensus sees it: opaque bytes in, opaque bytes out.

use lockstep_position::LogId;
use std::io;

/// The replicated state machine.
///
/// Called from one task only, in log order. Everything here must be
/// deterministic: it runs on every replica and the results must agree.
pub trait Machine: Send + Sync + 'static {
    /// Applies one committed entry and returns the outcome for its proposer.
    ///
    /// Total: a committed entry cannot be refused. `log_id.term` is the term
    /// of the leader that appended the entry.
    fn apply(&mut self, log_id: LogId, payload: &[u8]) -> Vec<u8>;

    /// Notes a committed entry that carries nothing for the machine (blank or
    /// membership), so that it knows how far it has come.
    fn skip(&mut self, log_id: LogId);

    /// Makes what was applied visible. Called once after each run of `apply`
    /// and `skip` calls that were committed together, before their proposers
    /// hear back, and after every `install`.
    fn publish(&mut self);

    /// A cheap frozen copy of the state; it is encoded on another thread.
    fn image(&self) -> Box<dyn Image>;

    /// Replaces the state by an encoded image and returns the last log id
    /// that it covers.
    ///
    /// # Errors
    ///
    /// [`InstallError`] when the image cannot be decoded; the state is
    /// unchanged then.
    fn install(&mut self, image: &mut dyn io::Read) -> Result<Option<LogId>, InstallError>;
}

/// A frozen copy of the state, ready to be encoded.
pub trait Image: Send {
    /// Encodes the image, front to back.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    fn write(self: Box<Self>, out: &mut dyn io::Write) -> io::Result<()>;
}

/// Why an image could not become the state.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The bytes could not be read (or failed their checksum while being read).
    #[error("the image could not be read")]
    Read(#[source] io::Error),
    /// The bytes are not an image that this version can decode.
    #[error("the image is not valid: {reason}")]
    Invalid {
        /// What is wrong with it, lowercase, no trailing stop.
        reason: String,
    },
}
