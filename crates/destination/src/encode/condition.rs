//! Conditions on requests and responses.
//!
//! They nest no deeper than the model lets them, so neither does this.

use linkerd2_proxy_api::{
    destination::{self as api, request_match, response_match},
    http_types::{
        HttpMethod,
        http_method::{Registered, Type},
    },
};
use lockstep_model::{Condition, RequestMatch, StatusRange};

/// Which requests are meant.
pub(crate) fn request(condition: &Condition<RequestMatch>) -> api::RequestMatch {
    use request_match::{Match, Seq};
    let each = |conditions: &[Condition<RequestMatch>]| Seq {
        matches: conditions.iter().map(request).collect(),
    };
    let said = match condition {
        Condition::All(conditions) => Match::All(each(conditions)),
        Condition::Any(conditions) => Match::Any(each(conditions)),
        Condition::Not(inner) => Match::Not(Box::new(request(inner))),
        Condition::Is(RequestMatch::Method(method)) => Match::Method(http_method(method)),
        Condition::Is(RequestMatch::PathRegex(regex)) => Match::Path(api::PathMatch {
            regex: regex.to_string(),
        }),
    };
    api::RequestMatch {
        r#match: Some(said),
    }
}

/// Which responses are meant.
pub(crate) fn response(condition: &Condition<StatusRange>) -> api::ResponseMatch {
    use response_match::{Match, Seq};
    let each = |conditions: &[Condition<StatusRange>]| Seq {
        matches: conditions.iter().map(response).collect(),
    };
    let said = match condition {
        Condition::All(conditions) => Match::All(each(conditions)),
        Condition::Any(conditions) => Match::Any(each(conditions)),
        Condition::Not(inner) => Match::Not(Box::new(response(inner))),
        Condition::Is(StatusRange { min, max }) => Match::Status(api::HttpStatusRange {
            min: *min,
            max: *max,
        }),
    };
    api::ResponseMatch {
        r#match: Some(said),
    }
}

fn http_method(method: &str) -> HttpMethod {
    let said = match Registered::from_str_name(method) {
        Some(registered) => Type::Registered(registered.into()),
        None => Type::Unregistered(method.to_owned()),
    };
    HttpMethod { r#type: Some(said) }
}

#[cfg(test)]
mod tests;
