//! Why a replica could not be asked, and the connection to ask it by.

use std::error::Error;
use std::future::Future;
use std::time::Duration;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};

use crate::labels::Labels;
use crate::{Address, Exit};

/// Larger answers are refused. An audit of 10,000 services stays below it. Unit: bytes.
pub(crate) const MESSAGE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Why one replica gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AskError {
    /// No connection, or it broke.
    #[error("{address} cannot be reached: {reason}")]
    Unreachable { address: Address, reason: String },
    /// Connected or not: nothing came in time.
    #[error("{address} did not answer within {within:?}")]
    Silent { address: Address, within: Duration },
    /// An answer, and it was a status.
    #[error("{address} answers {}", refusal(*code, message))]
    Refused {
        address: Address,
        code: Code,
        message: String,
        /// Who refuses, and at which revision, if it says so.
        labels: Box<Labels>,
    },
    /// The stream ended well and said nothing.
    #[error("{address} ended the stream without an answer")]
    Ended { address: Address },
    /// An answer that breaks the form it should have.
    #[error("{address} answers what cannot be read: {reason}")]
    Unreadable { address: Address, reason: String },
}

impl AskError {
    pub(crate) fn from_status(address: &Address, status: &Status) -> Self {
        let address = address.clone();
        match status.source() {
            Some(cause) => Self::Unreachable {
                address,
                reason: root(cause),
            },
            None => Self::Refused {
                address,
                code: status.code(),
                message: status.message().to_owned(),
                // The status matters more than labels that cannot be read.
                labels: Box::new(Labels::read(status.metadata()).unwrap_or_default()),
            },
        }
    }

    /// The error without the address, for a place that shows it already.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Unreachable { reason, .. } => format!("unreachable: {reason}"),
            Self::Silent { within, .. } => format!("no answer within {within:?}"),
            Self::Refused { code, message, .. } => refusal(*code, message),
            Self::Ended { .. } => "no answer".to_owned(),
            Self::Unreadable { reason, .. } => format!("unreadable: {reason}"),
        }
    }

    /// A refusal that asking again cannot change is a no; anything else leaves it open.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Refused {
                code: Code::NotFound | Code::InvalidArgument | Code::FailedPrecondition,
                ..
            } => Exit::No,
            Self::Refused { .. }
            | Self::Unreachable { .. }
            | Self::Silent { .. }
            | Self::Ended { .. }
            | Self::Unreadable { .. } => Exit::Unknown,
        }
    }
}

/// The protocol's name of the code, and what the server says; to the wrong port it says nothing
/// that would help.
fn refusal(code: Code, message: &str) -> String {
    match (code, message) {
        (Code::Unimplemented, _) => {
            "Unimplemented: this port is for others; proxies, peers and operators have a port each"
                .to_owned()
        }
        (_, "") => format!("{code:?}"),
        (_, _) => format!("{code:?}: {message}"),
    }
}

/// The cause of all causes: the ones above it only say that something failed.
fn root(error: &(dyn Error + 'static)) -> String {
    let mut deepest = error;
    while let Some(cause) = deepest.source() {
        deepest = cause;
    }
    deepest.to_string()
}

/// Waits for `answer`, no longer than `within`.
pub(crate) async fn in_time<T>(
    address: &Address,
    within: Duration,
    answer: impl Future<Output = Result<T, AskError>>,
) -> Result<T, AskError> {
    match tokio::time::timeout(within, answer).await {
        Ok(result) => result,
        Err(_) => Err(AskError::Silent {
            address: address.clone(),
            within,
        }),
    }
}

/// Connects to a replica. HTTP/2 in clear text, as inside the mesh's own pod.
pub(crate) async fn connect(address: &Address) -> Result<Channel, AskError> {
    let unreachable = |error: tonic::transport::Error| AskError::Unreachable {
        address: address.clone(),
        reason: root(&error),
    };
    let endpoint = Endpoint::from_shared(format!("http://{address}")).map_err(unreachable)?;
    endpoint.connect().await.map_err(unreachable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: Code) -> AskError {
        let address = "127.0.0.1:8086".parse().unwrap();
        AskError::from_status(&address, &Status::new(code, "why"))
    }

    #[test]
    fn a_refusal_names_code_and_message() {
        assert_eq!(
            refused(Code::NotFound).to_string(),
            "127.0.0.1:8086 answers NotFound: why"
        );
        assert_eq!(refused(Code::NotFound).reason(), "NotFound: why");
    }

    #[test]
    fn a_refusal_without_words_ends_with_its_code() {
        let address = "127.0.0.1:8086".parse().unwrap();
        let error = AskError::from_status(&address, &Status::new(Code::Internal, ""));
        assert_eq!(error.to_string(), "127.0.0.1:8086 answers Internal");
    }

    #[test]
    fn the_wrong_port_is_told_from_a_refusal() {
        assert_eq!(
            refused(Code::Unimplemented).to_string(),
            "127.0.0.1:8086 answers Unimplemented: this port is for others; proxies, peers and \
             operators have a port each"
        );
    }

    #[test]
    fn only_a_final_refusal_is_a_no() {
        for code in [
            Code::NotFound,
            Code::InvalidArgument,
            Code::FailedPrecondition,
        ] {
            assert_eq!(refused(code).exit(), Exit::No, "{code:?}");
        }
        for code in [
            Code::Unavailable,
            Code::ResourceExhausted,
            Code::Unknown,
            Code::Internal,
        ] {
            assert_eq!(refused(code).exit(), Exit::Unknown, "{code:?}");
        }
    }

    #[test]
    fn what_lies_below_a_status_is_what_is_told() {
        let cause = std::io::Error::other("connection reset");
        let address = "127.0.0.1:8086".parse().unwrap();
        let error = AskError::from_status(&address, &Status::from_error(Box::new(cause)));
        assert_eq!(
            error.to_string(),
            "127.0.0.1:8086 cannot be reached: connection reset"
        );
    }
}
