//! Why the API server did not do what it was asked.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Status;
use std::time::Duration;

use crate::access::Distrust;

/// Why a list or a watch was refused, or broken off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    /// What follows from it.
    pub(crate) kind: FailureKind,
    /// In words, for a log.
    pub(crate) reason: String,
    /// How long the server wants to be left alone.
    pub(crate) retry_after: Option<Duration>,
}

/// What a failure means for the one who asked.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// The history that was asked for is compacted: only a list helps.
    Gone,
    /// The request makes no sense to the server: it names a cursor that it never gave.
    BadRequest,
    /// The server is behind the version that was asked for.
    TooNew,
    /// There is no such kind, or not in this version.
    NotServed,
    /// The server does not know who asks.
    Unauthorized,
    /// No connection came up, or it broke before there was an answer.
    Unreachable,
    /// There was no answer in time.
    Unanswered,
    /// Anything else: the same request may succeed later.
    Other,
}

impl Failure {
    /// A failure that needs no more than patience.
    pub(crate) fn passing(reason: impl Into<String>) -> Self {
        Self::of(FailureKind::Other, reason)
    }

    /// The request was not answered within `limit`.
    pub(crate) fn unanswered(limit: Duration) -> Self {
        let reason = format!("no answer within {} s", limit.as_secs());
        Self::of(FailureKind::Unanswered, reason)
    }

    /// The request did not arrive, or its answer did not.
    pub(crate) fn unreachable(reason: impl Into<String>) -> Self {
        Self::of(FailureKind::Unreachable, reason)
    }

    fn of(kind: FailureKind, reason: impl Into<String>) -> Self {
        Self {
            kind,
            reason: reason.into(),
            retry_after: None,
        }
    }

    /// Whether the client may be to blame, which a new one would not be.
    pub(crate) fn distrust(&self) -> Option<Distrust> {
        match self.kind {
            FailureKind::Unanswered => Some(Distrust::Silent),
            FailureKind::Unauthorized => Some(Distrust::Unauthorized),
            FailureKind::Unreachable => Some(Distrust::Unreachable),
            FailureKind::Gone
            | FailureKind::BadRequest
            | FailureKind::TooNew
            | FailureKind::NotServed
            | FailureKind::Other => None,
        }
    }

    /// Reads the answer to a refused request. The body of a proxy in between is no
    /// `Status`; then the code alone counts.
    pub(crate) fn from_response(code: u16, retry_after: Option<&str>, body: &[u8]) -> Self {
        let status: Status = serde_json::from_slice(body).unwrap_or_default();
        let seconds = retry_after.and_then(|seconds| seconds.trim().parse().ok());
        let mut failure = Self::from_status(&Status {
            code: Some(i32::from(code)),
            ..status
        });
        failure.retry_after = seconds.map(Duration::from_secs).or(failure.retry_after);
        failure
    }

    /// Reads the `Status` of an `ERROR` event.
    pub(crate) fn from_status(status: &Status) -> Self {
        let code = status.code.unwrap_or_default();
        let message = status.message.as_deref().unwrap_or("no message");
        let details = status.details.as_ref();
        let seconds = details.and_then(|details| details.retry_after_seconds);
        Self {
            kind: kind(status),
            reason: format!("status {code}: {message}"),
            retry_after: seconds
                .and_then(|seconds| u64::try_from(seconds).ok())
                .filter(|seconds| *seconds > 0)
                .map(Duration::from_secs),
        }
    }
}

fn kind(status: &Status) -> FailureKind {
    let code = status.code.unwrap_or_default();
    let reason = status.reason.as_deref().unwrap_or_default();
    if code == 410 || matches!(reason, "Gone" | "Expired") {
        FailureKind::Gone
    } else if is_too_new(status) {
        FailureKind::TooNew
    } else if code == 404 {
        FailureKind::NotServed
    } else if code == 401 {
        FailureKind::Unauthorized
    } else if code == 400 || is_unreadable_cursor(status) {
        FailureKind::BadRequest
    } else {
        FailureKind::Other
    }
}

/// The server calls a cursor that it cannot read its own fault, with code 500.
fn is_unreadable_cursor(status: &Status) -> bool {
    let message = status.message.as_deref().unwrap_or_default();
    message.contains("resourceVersion: Invalid value")
}

fn is_too_new(status: &Status) -> bool {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let mut reasons = causes.flatten().filter_map(|cause| cause.reason.as_deref());
    let message = status.message.as_deref().unwrap_or_default();
    reasons.any(|reason| reason == "ResourceVersionTooLarge")
        || message.contains("Too large resource version")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(code: u16, retry_after: Option<&str>, body: &str) -> (FailureKind, String, u64) {
        let failure = Failure::from_response(code, retry_after, body.as_bytes());
        let seconds = failure.retry_after.unwrap_or_default().as_secs();
        (failure.kind, failure.reason, seconds)
    }

    #[test]
    fn a_refusal_is_told_apart_by_code_and_by_body() {
        use FailureKind::{BadRequest, Gone, NotServed, Other, TooNew, Unauthorized};
        let large =
            r#"{"message":"a","details":{"causes":[{"reason":"ResourceVersionTooLarge"}]}}"#;
        let ahead = r#"{"message":"Timeout: Too large resource version: 9, current: 2"}"#;
        let unread = r#"{"message":"resourceVersion: Invalid value: \"x\": bad"}"#;
        for (code, body, kind) in [
            (
                410,
                r#"{"reason":"Expired","message":"too old resource version"}"#,
                Gone,
            ),
            (410, "", Gone),
            (400, r#"{"message":"bad"}"#, BadRequest),
            (500, unread, BadRequest),
            (504, large, TooNew),
            (504, ahead, TooNew),
            (504, "", Other),
            (404, "404 page not found\n", NotServed),
            (503, "<html>busy</html>", Other),
            (403, r#"{"message":"forbidden"}"#, Other),
            (401, r#"{"message":"Unauthorized"}"#, Unauthorized),
        ] {
            assert_eq!(response(code, None, body).0, kind, "{code} {body}");
        }
    }

    #[test]
    fn the_reason_is_the_servers_message() {
        let reason = |body: &str| response(403, None, body).1;
        assert_eq!(
            reason(r#"{"message":"forbidden"}"#),
            "status 403: forbidden"
        );
        assert_eq!(reason("<html>"), "status 403: no message");
    }

    #[test]
    fn the_time_to_wait_is_in_the_header_else_in_the_body() {
        let body = r#"{"details":{"retryAfterSeconds":3}}"#;
        for (header, body, seconds) in [
            (Some("7"), body, 7),
            (Some("soon"), body, 3),
            (None, body, 3),
            (None, r#"{"details":{"retryAfterSeconds":-3}}"#, 0),
            (None, "", 0),
        ] {
            assert_eq!(response(429, header, body).2, seconds);
        }
    }

    #[test]
    fn an_error_event_without_a_code_is_gone_by_its_reason() {
        let status = Status {
            reason: Some("Expired".into()),
            ..Status::default()
        };
        assert_eq!(Failure::from_status(&status).kind, FailureKind::Gone);
        assert_eq!(
            Failure::from_status(&Status::default()).kind,
            FailureKind::Other
        );
    }
}
