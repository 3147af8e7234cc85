//! How the server behaves: everything that makes it differ from a healthy one.
//!
//! The only place for faults. A request asks [`Behaviour::judge`] before it is
//! served; a watch reads its intervals when it is opened.

use std::time::Duration;

use crate::http::Verb;
use crate::refusal::Refusal;

mod fault;

pub use fault::{Fault, FaultAnswer, FaultOn, Manner};

/// What a server does that clients cannot choose. May change while it runs;
/// open watches keep what they were opened with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// Time between bookmarks of one watch; the real server takes a minute. The longest
    /// there is means that there are none, not even the last one before a watch ends.
    pub bookmark_interval: Duration,
    /// How a watch from a forgotten resource version is told so.
    pub gone: GoneForm,
    /// The token that requests must bear, lest they are refused with 401; `None` asks
    /// for none.
    pub token: Option<String>,
    /// Requests refused without being served.
    pub reject: Option<Rejection>,
    /// Faults still to come. A request meets the first that is meant for it,
    /// which is then used up; `reject` comes before them and uses up none.
    pub faults: Vec<Fault>,
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

/// What becomes of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Judgement {
    Serve,
    Refuse(Refusal),
    /// To be told that the resource version it names is forgotten.
    Expire,
    /// Not to be answered.
    Ignore,
    /// To be served after this time.
    Delay(Duration),
    /// To be served in this manner.
    Tell(Manner),
}

// === impl Behaviour ===

impl Default for Behaviour {
    fn default() -> Self {
        Self {
            bookmark_interval: Duration::from_secs(60),
            gone: GoneForm::ErrorEvent,
            token: None,
            reject: None,
            faults: Vec::new(),
        }
    }
}

impl Behaviour {
    /// Judges who asks, by the `Authorization` header.
    pub(crate) fn admit(&self, authorization: &str) -> Result<(), Refusal> {
        match &self.token {
            Some(token) if authorization.strip_prefix("Bearer ") != Some(token) => {
                Err(refusal(401, None))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Judges a request, and uses up the fault it meets.
    pub(crate) fn judge(&mut self, verb: Verb, resource: &str, token: &str) -> Judgement {
        let rejection = self.reject.as_ref();
        if let Some(rejection) = rejection.filter(|r| r.is_for(verb, resource)) {
            return Judgement::Refuse(refusal(rejection.code, rejection.retry_after));
        }
        let Some(on) = FaultOn::of(verb, token) else {
            return Judgement::Serve;
        };
        let is_meant = |fault: &Fault| fault.on == on && fault.resource == resource;
        let Some(place) = self.faults.iter().position(is_meant) else {
            return Judgement::Serve;
        };
        match self.faults.remove(place).answer {
            FaultAnswer::Served => Judgement::Serve,
            FaultAnswer::Code(code) => Judgement::Refuse(refusal(code, None)),
            FaultAnswer::Expired => Judgement::Expire,
            FaultAnswer::Never => Judgement::Ignore,
            FaultAnswer::Late(time) => Judgement::Delay(time),
            FaultAnswer::Told(manner) => Judgement::Tell(manner),
        }
    }
}

// === impl Rejection ===

impl Rejection {
    fn is_for(&self, verb: Verb, resource: &str) -> bool {
        self.verb.is_none_or(|only| only == verb)
            && self.resource.as_deref().is_none_or(|only| only == resource)
    }
}

fn refusal(code: u16, retry_after: Option<u32>) -> Refusal {
    let (reason, message) = match code {
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
    Refusal {
        retry_after,
        ..Refusal::plain(code, reason, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(on: FaultOn, answer: FaultAnswer) -> Fault {
        let resource = "pods".to_owned();
        Fault {
            resource,
            on,
            answer,
        }
    }

    #[test]
    fn faults_are_met_in_order_by_the_requests_they_are_meant_for() {
        let mut behaviour = Behaviour {
            faults: vec![
                fault(FaultOn::NextPage, FaultAnswer::Served),
                fault(FaultOn::NextPage, FaultAnswer::Expired),
                fault(FaultOn::Watch, FaultAnswer::Code(500)),
            ],
            ..Behaviour::default()
        };
        for (verb, resource, token) in [
            (Verb::Watch, "services", ""),
            (Verb::List, "pods", ""),
            (Verb::Get, "pods", ""),
        ] {
            assert_eq!(behaviour.judge(verb, resource, token), Judgement::Serve);
        }
        let mut next = |verb, token| behaviour.judge(verb, "pods", token);
        let broken = Judgement::Refuse(refusal(500, None));
        assert_eq!(next(Verb::Watch, ""), broken);
        assert_eq!(next(Verb::List, "t"), Judgement::Serve);
        assert_eq!(next(Verb::List, "t"), Judgement::Expire);
        assert_eq!(next(Verb::List, "t"), Judgement::Serve);
        assert_eq!(next(Verb::Watch, ""), Judgement::Serve);
        assert_eq!(behaviour.faults, []);
    }

    #[test]
    fn a_rejected_request_uses_up_no_fault() {
        let mut behaviour = Behaviour {
            reject: Some(Rejection {
                code: 503,
                retry_after: Some(1),
                verb: Some(Verb::Watch),
                resource: None,
            }),
            faults: vec![fault(FaultOn::Watch, FaultAnswer::Expired)],
            ..Behaviour::default()
        };
        let refused = Judgement::Refuse(refusal(503, Some(1)));
        assert_eq!(behaviour.judge(Verb::Watch, "pods", ""), refused);
        behaviour.reject = None;
        let judged = behaviour.judge(Verb::Watch, "pods", "");
        assert_eq!(judged, Judgement::Expire);
    }
}
