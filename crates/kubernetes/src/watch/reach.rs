//! Whether the API server answers this replica at all.

use http::StatusCode;
use kube::Client;
use lockstep_catalog::SourceError;
use lockstep_model::FactKind;
use std::time::Duration;
use tokio::time::timeout;

use super::{failure::Failure, request, shell::refused, stream::in_full, version::Version};

/// How long the answer may take. It holds one object.
const REACH_DEADLINE: Duration = Duration::from_secs(5);

/// What is asked for: small objects that every cluster has and that every watch needs.
const ASKED: FactKind = FactKind::Service;

/// Asks for one object of a kind that is followed.
///
/// # Errors
///
/// No answer in time, or one that says that following would fail too.
pub(crate) async fn reach(client: &Client) -> Result<(), SourceError> {
    let failed = |failure: Failure| SourceError {
        kind: ASKED,
        reason: failure.reason,
    };
    let answered = timeout(REACH_DEADLINE, ask(client)).await;
    let late = || Failure::passing(format!("no answer within {} s", REACH_DEADLINE.as_secs()));
    answered.unwrap_or_else(|_| Err(late())).map_err(failed)
}

async fn ask(client: &Client) -> Result<(), Failure> {
    let request = request::one(Version::best(ASKED));
    let request = request.map_err(|error| Failure::passing(in_full(&error)))?;
    let sent = client.send(request).await;
    let response = sent.map_err(|error| Failure::passing(in_full(&error)))?;
    // A server that is too busy for this question knows who asks, and its watches go on.
    let is_busy = response.status() == StatusCode::TOO_MANY_REQUESTS;
    if response.status().is_success() || is_busy {
        return Ok(());
    }
    Err(refused(response).await)
}
