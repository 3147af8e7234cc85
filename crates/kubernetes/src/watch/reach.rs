//! Whether the API server answers this replica at all.

use http::StatusCode;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Status;
use kube::Client;
use lockstep_catalog::SourceError;
use lockstep_model::FactKind;
use std::time::Duration;

use super::{
    ask::{ask, refusal, unsent},
    failure::Failure,
    request,
    stream::in_full,
    version::Version,
};
use crate::access::Access;

/// How long the answer may take. It holds one object.
const REACH_DEADLINE: Duration = Duration::from_secs(5);

/// What is asked for is of a kind that is followed, and that every cluster has.
const ASKED: FactKind = FactKind::Service;

/// Asks for one object of a kind that is followed. Not for a list of one: a server counts
/// and weighs lists, and every replica asks all the time.
///
/// # Errors
///
/// No answer in time, or one that says that following would fail too.
pub(crate) async fn reach(access: &Access) -> Result<(), SourceError> {
    let answered = ask(access, REACH_DEADLINE, one).await;
    answered.map_err(|failure| SourceError {
        kind: ASKED,
        reason: failure.reason,
    })
}

async fn one(client: &Client) -> Result<(), Failure> {
    let request = request::one(Version::best(ASKED));
    let request = request.map_err(unsent)?;
    let sent = client.send(request).await;
    let response = sent.map_err(|error| Failure::unreachable(in_full(&error)))?;
    // A server that is too busy for this question knows who asks, and its watches go on.
    let is_busy = response.status() == StatusCode::TOO_MANY_REQUESTS;
    if response.status().is_success() || is_busy {
        return Ok(());
    }
    let is_missing = response.status() == StatusCode::NOT_FOUND;
    let (failure, body) = refusal(response).await;
    // That there is no such object says only a server that let us ask; a load balancer
    // without a server has not found the path.
    if is_missing && names_object(&body) {
        return Ok(());
    }
    Err(failure)
}

fn names_object(body: &[u8]) -> bool {
    let status: Status = serde_json::from_slice(body).unwrap_or_default();
    let name = status.details.and_then(|details| details.name);
    name.as_deref() == Some(request::ONE)
}
