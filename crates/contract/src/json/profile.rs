//! Profiles as JSON: routes, conditions, response classes, budget, overrides.

use linkerd2_proxy_api::{
    destination::{
        DestinationProfile, HttpStatusRange, RequestMatch, ResponseClass, ResponseMatch,
        RetryBudget, Route, WeightedDst, request_match, response_match,
    },
    http_types::{HttpMethod, http_method},
    meta::{Metadata, Resource, metadata::Kind},
};
use serde_json::{Number, Value};

use super::{duration, labels, list, number, object, text, truth, weighted_addr};

/// A message of a `GetProfile` stream.
#[must_use]
pub fn profile(profile: &DestinationProfile) -> Value {
    let routes = profile.routes.iter().map(route).collect();
    let overrides = profile.dst_overrides.iter().map(weighted_dst).collect();
    object([
        ("fully_qualified_name", text(&profile.fully_qualified_name)),
        ("opaque_protocol", truth(profile.opaque_protocol)),
        ("routes", list(routes)),
        ("retry_budget", profile.retry_budget.as_ref().map(budget)),
        ("dst_overrides", list(overrides)),
        ("endpoint", profile.endpoint.as_ref().map(weighted_addr)),
        ("parent_ref", profile.parent_ref.as_ref().map(metadata)),
        ("profile_ref", profile.profile_ref.as_ref().map(metadata)),
    ])
}

pub(super) fn metadata(metadata: &Metadata) -> Value {
    match &metadata.kind {
        Some(Kind::Default(name)) => object([("default", Some(name.as_str().into()))]),
        Some(Kind::Resource(it)) => object([("resource", Some(resource(it)))]),
        None => object([]),
    }
}

fn resource(it: &Resource) -> Value {
    object([
        ("group", text(&it.group)),
        ("kind", text(&it.kind)),
        ("name", text(&it.name)),
        ("namespace", text(&it.namespace)),
        ("section", text(&it.section)),
        ("port", number(it.port)),
    ])
}

fn budget(budget: &RetryBudget) -> Value {
    object([
        ("retry_ratio", ratio(budget.retry_ratio)),
        (
            "min_retries_per_second",
            number(budget.min_retries_per_second),
        ),
        ("ttl", budget.ttl.as_ref().map(duration)),
    ])
}

/// In its shortest decimals, and not with those that 64 bits add: 0.2 stays 0.2.
fn ratio(value: f32) -> Option<Value> {
    let shortest: f64 = value.to_string().parse().ok()?;
    let number = Number::from_f64(shortest)?;
    (value != 0.0).then_some(Value::Number(number))
}

fn weighted_dst(it: &WeightedDst) -> Value {
    object([
        ("authority", text(&it.authority)),
        ("weight", number(it.weight)),
        ("backend_ref", it.backend_ref.as_ref().map(metadata)),
    ])
}

fn route(route: &Route) -> Value {
    let classes = route.response_classes.iter().map(response_class).collect();
    object([
        ("condition", route.condition.as_ref().map(request_match)),
        ("response_classes", list(classes)),
        ("metrics_labels", labels(&route.metrics_labels)),
        ("is_retryable", truth(route.is_retryable)),
        ("timeout", route.timeout.as_ref().map(duration)),
    ])
}

fn request_match(condition: &RequestMatch) -> Value {
    use request_match::{Match, Seq};
    let seq = |seq: &Seq| {
        let matches = seq.matches.iter().map(request_match).collect();
        Some(object([("matches", list(matches))]))
    };
    match &condition.r#match {
        Some(Match::All(all)) => object([("all", seq(all))]),
        Some(Match::Any(any)) => object([("any", seq(any))]),
        Some(Match::Not(not)) => object([("not", Some(request_match(not)))]),
        Some(Match::Path(path)) => {
            let path = object([("regex", text(&path.regex))]);
            object([("path", Some(path))])
        }
        Some(Match::Method(it)) => object([("method", Some(method(it)))]),
        None => object([]),
    }
}

fn method(method: &HttpMethod) -> Value {
    match &method.r#type {
        Some(http_method::Type::Registered(number)) => {
            let known = http_method::Registered::try_from(*number);
            let name = known.map_or_else(|_| (*number).into(), |it| it.as_str_name().into());
            object([("registered", Some(name))])
        }
        Some(http_method::Type::Unregistered(name)) => {
            object([("unregistered", Some(name.as_str().into()))])
        }
        None => object([]),
    }
}

fn response_class(class: &ResponseClass) -> Value {
    object([
        ("condition", class.condition.as_ref().map(response_match)),
        ("is_failure", truth(class.is_failure)),
    ])
}

fn response_match(condition: &ResponseMatch) -> Value {
    use response_match::{Match, Seq};
    let seq = |seq: &Seq| {
        let matches = seq.matches.iter().map(response_match).collect();
        Some(object([("matches", list(matches))]))
    };
    match &condition.r#match {
        Some(Match::All(all)) => object([("all", seq(all))]),
        Some(Match::Any(any)) => object([("any", seq(any))]),
        Some(Match::Not(not)) => object([("not", Some(response_match(not)))]),
        Some(Match::Status(range)) => object([("status", Some(status(range)))]),
        None => object([]),
    }
}

fn status(range: &HttpStatusRange) -> Value {
    object([("min", number(range.min)), ("max", number(range.max))])
}
