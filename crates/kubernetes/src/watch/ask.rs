//! One question to the API server, and its answer.

use http_body_util::{BodyExt, Limited};
use kube::{Client, client::Body};
use lockstep_model::Cursor;
use std::time::Duration;
use tokio::time::timeout;

use super::{
    decode::{self, Complaints},
    failure::Failure,
    pace::PAGE_DEADLINE,
    page::Page,
    request,
    stream::in_full,
    version::Version,
};
use crate::access::Access;

/// The largest answer to one request: a page of 500 of the largest objects is beyond
/// what any cluster holds, yet well within memory.
const ANSWER_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Asks for one page of a list.
///
/// # Errors
///
/// There was no answer, a refusal, or nothing readable.
pub(super) async fn page(
    access: &Access,
    version: Version,
    token: Option<&str>,
) -> Result<(Page, Complaints), Failure> {
    read(access, version, request::list(version, token)).await
}

/// Asks how far the server's history of a kind has come, as a quorum of its store knows it.
///
/// # Errors
///
/// As [`page`].
pub(super) async fn look(access: &Access, version: Version) -> Result<Cursor, Failure> {
    let read = read(access, version, request::look(version));
    Ok(read.await?.0.cursor)
}

async fn read(
    access: &Access,
    version: Version,
    request: http::Result<http::Request<Body>>,
) -> Result<(Page, Complaints), Failure> {
    let request = request.map_err(unsent)?;
    let body = ask(access, PAGE_DEADLINE, async |client| {
        collect(send(client, request).await?).await
    });
    let body = body.await?;
    decode::page(version.kind(), &body).map_err(|unreadable| Failure::passing(in_full(&unreadable)))
}

/// Asks with the newest client, and makes another one if that may be to blame.
///
/// # Errors
///
/// As the question, or that its answer took longer than `limit`.
pub(super) async fn ask<T>(
    access: &Access,
    limit: Duration,
    question: impl AsyncFnOnce(&Client) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let taken = access.taken();
    let answered = timeout(limit, question(&taken.client)).await;
    let answered = answered.unwrap_or_else(|_| Err(Failure::unanswered(limit)));
    if let Err(failure) = &answered
        && let Some(why) = failure.distrust()
    {
        access.renew(&taken, why).await;
    }
    answered
}

/// Sends a request; an answer other than success is a failure.
///
/// # Errors
///
/// See [`Failure`].
pub(super) async fn send(client: &Client, request: http::Request<Body>) -> Result<Body, Failure> {
    let sent = client.send(request).await;
    let response = sent.map_err(|error| Failure::unreachable(in_full(&error)))?;
    if response.status().is_success() {
        return Ok(response.into_body());
    }
    Err(refused(response).await)
}

/// Why an answer is no success.
async fn refused(response: http::Response<Body>) -> Failure {
    refusal(response).await.0
}

/// Why an answer is no success, and what it says.
pub(super) async fn refusal(response: http::Response<Body>) -> (Failure, bytes::Bytes) {
    let (head, body) = response.into_parts();
    let retry_after = head.headers.get(http::header::RETRY_AFTER);
    let retry_after = retry_after.and_then(|value| value.to_str().ok());
    let body = collect(body).await.unwrap_or_default();
    let failure = Failure::from_response(head.status.as_u16(), retry_after, &body);
    (failure, body)
}

async fn collect(body: Body) -> Result<bytes::Bytes, Failure> {
    let collected = Limited::new(body, ANSWER_BYTES_MAX).collect().await;
    let collected = collected.map_err(|error| Failure::unreachable(in_full(&*error)))?;
    Ok(collected.to_bytes())
}

/// The request could not be put together.
pub(super) fn unsent(error: http::Error) -> Failure {
    Failure::passing(in_full(&error))
}
