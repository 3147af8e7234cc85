//! How the server behaves: everything that makes it differ from a healthy one.
//!
//! The only place for faults. A request asks [`Behaviour::judge`] before it is
//! served; a watch reads its intervals when it is opened.

use std::time::Duration;

use crate::http::Verb;
use crate::refusal::Refusal;

/// What a server does that clients cannot choose. May change while it runs;
/// open watches keep what they were opened with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// Time between bookmarks of one watch; the real server takes a minute.
    pub bookmark_interval: Duration,
    /// How a watch from a forgotten resource version is told so.
    pub gone: GoneForm,
    /// Requests refused without being served.
    pub reject: Option<Rejection>,
}

/// How a watch from a forgotten resource version is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoneForm {
    /// HTTP 200 and an `ERROR` event in the stream, as the watch cache does.
    ErrorEvent,
    /// HTTP 410.
    HttpStatus,
}

/// Which requests are refused, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// HTTP status code of the answer, for example 429.
    pub code: u16,
    /// Seconds for the `Retry-After` header, if it is sent.
    pub retry_after: Option<u32>,
    /// Only requests with this verb; `None` is all.
    pub verb: Option<Verb>,
    /// Only requests for this plural resource name; `None` is all.
    pub resource: Option<String>,
}

// === impl Behaviour ===

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            bookmark_interval: Duration::from_secs(60),
            gone: GoneForm::ErrorEvent,
            reject: None,
        }
    }
}

impl Behaviour {
    /// The refusal of a request that must not be served.
    pub(crate) fn judge(&self, verb: Verb, resource: &str) -> Option<Refusal> {
        let rejection = self.reject.as_ref()?;
        let is_meant = rejection.verb.is_none_or(|only| only == verb)
            && rejection
                .resource
                .as_deref()
                .is_none_or(|only| only == resource);
        is_meant.then(|| rejection.refusal())
    }
}

// === impl Rejection ===

impl Rejection {
    fn refusal(&self) -> Refusal {
        let (reason, message) = match self.code {
            401 => ("Unauthorized", "Unauthorized"),
            403 => ("Forbidden", "forbidden by the simulation"),
            429 => (
                "TooManyRequests",
                "the server has received too many requests and has asked us to try again later",
            ),
            500 => (
                "InternalError",
                "an error on the server has prevented the request",
            ),
            503 => (
                "ServiceUnavailable",
                "the server is currently unable to handle the request",
            ),
            504 => (
                "Timeout",
                "the server was unable to return a response in the time allotted",
            ),
            _ => ("", "refused by the simulation"),
        };
        let refusal = Refusal::plain(self.code, reason, message);
        Refusal {
            retry_after: self.retry_after,
            ..refusal
        }
    }
}
