//! The profile of a service: its own words, and those of a ServiceProfile.

use linkerd2_proxy_api::{destination as api, meta};
use lockstep_model::{DstOverride, ResponseClass, RetryBudget, Route, ServiceProfileRecord};
use lockstep_resolution::{ChosenProfile, ServiceProfile};

use super::condition;

/// The budget that clients retry within unless a ServiceProfile gives another one.
pub(crate) const RETRY_BUDGET: api::RetryBudget = api::RetryBudget {
    retry_ratio: 0.2,
    min_retries_per_second: 10,
    ttl: Some(prost_types::Duration {
        seconds: 10,
        nanos: 0,
    }),
};

const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// The whole message.
pub(crate) fn message(service: &ServiceProfile) -> api::DestinationProfile {
    let plain = ServiceProfileRecord::default();
    let chosen = service.chosen.as_ref();
    let said = chosen.map_or(&plain, |chosen| chosen.record.as_ref());
    let budget = said.retry_budget.as_ref().map(retry_budget);
    let overrides = said.dst_overrides.iter();
    api::DestinationProfile {
        fully_qualified_name: service.name.to_string(),
        opaque_protocol: service.opaque,
        routes: said.routes.iter().map(route).collect(),
        retry_budget: Some(budget.unwrap_or(RETRY_BUDGET)),
        dst_overrides: overrides.map(|it| dst_override(it, service.port)).collect(),
        endpoint: None,
        parent_ref: Some(reference(parent(service))),
        profile_ref: Some(reference(profile(chosen))),
    }
}

fn parent(service: &ServiceProfile) -> meta::Resource {
    meta::Resource {
        group: "core".to_owned(),
        kind: "Service".to_owned(),
        name: service.service.name.to_string(),
        namespace: service.service.namespace.to_string(),
        section: String::new(),
        port: u32::from(service.port),
    }
}

/// Without a ServiceProfile, clients are used to a reference to nothing of its group.
fn profile(chosen: Option<&ChosenProfile>) -> meta::Resource {
    let nothing = meta::Resource {
        group: "linkerd.io".to_owned(),
        ..meta::Resource::default()
    };
    match chosen {
        None => nothing,
        Some(ChosenProfile { id, record: _ }) => meta::Resource {
            kind: "ServiceProfile".to_owned(),
            name: id.name.to_string(),
            namespace: id.namespace.to_string(),
            ..nothing
        },
    }
}

fn reference(resource: meta::Resource) -> meta::Metadata {
    meta::Metadata {
        kind: Some(meta::metadata::Kind::Resource(resource)),
    }
}

fn route(route: &Route) -> api::Route {
    let label = ("route".to_owned(), route.name.to_string());
    api::Route {
        condition: Some(condition::request(&route.condition)),
        response_classes: route.response_classes.iter().map(response_class).collect(),
        metrics_labels: [label].into(),
        is_retryable: route.is_retryable,
        timeout: route.timeout_ns.map(duration),
    }
}

fn response_class(class: &ResponseClass) -> api::ResponseClass {
    api::ResponseClass {
        condition: Some(condition::response(&class.condition)),
        is_failure: class.is_failure,
    }
}

fn retry_budget(budget: &RetryBudget) -> api::RetryBudget {
    api::RetryBudget {
        retry_ratio: budget.retry_ratio.get(),
        min_retries_per_second: budget.min_retries_per_second,
        ttl: budget.ttl_ns.map(duration),
    }
}

/// Seconds and nanoseconds have the sign of the whole, as the message wants it.
fn duration(nanoseconds: i64) -> prost_types::Duration {
    prost_types::Duration {
        seconds: nanoseconds / NANOS_PER_SECOND,
        // Less than a billion either way, which fits.
        nanos: i32::try_from(nanoseconds % NANOS_PER_SECOND).unwrap_or_default(),
    }
}

fn dst_override(instead: &DstOverride, requested: u16) -> api::WeightedDst {
    api::WeightedDst {
        authority: with_port(&instead.authority, requested),
        weight: instead.weight,
        backend_ref: None,
    }
}

/// The authority, with the port that the client asked for if it has none. As in the
/// controller that clients know, what has colons but no port is taken for an IPv6 literal.
fn with_port(authority: &str, requested: u16) -> String {
    if has_port(authority) {
        authority.to_owned()
    } else if authority.contains(':') {
        format!("[{authority}]:{requested}")
    } else {
        format!("{authority}:{requested}")
    }
}

/// Whether it is `host:port` or `[host]:port`. The port may be anything, nothing too.
fn has_port(authority: &str) -> bool {
    let Some((host, port)) = authority.rsplit_once(':') else {
        return false;
    };
    let brackets = ['[', ']'];
    let host = match host.strip_prefix('[').map(|rest| rest.strip_suffix(']')) {
        Some(Some(bracketed)) => return !bracketed.contains(brackets) && !port.contains(brackets),
        Some(None) => return false,
        None => host,
    };
    !host.contains(':') && !host.contains(brackets) && !port.contains(brackets)
}

#[cfg(test)]
mod tests;
