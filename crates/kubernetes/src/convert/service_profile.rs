//! ServiceProfile -> routes, budget, overrides.
//!
//! All or nothing, as the controller that clients know has it: a profile with one bad
//! condition is no profile. Only a timeout that is none is left out by itself.

mod condition;
mod overrides;

use lockstep_model::{
    Condition, Fact, FactKey, Ratio, ResponseClass, RetryBudget, Route, ServiceProfileRecord,
};
use serde_json::Value;
use std::sync::Arc;

use super::{
    Converted, Skipped, Unusable,
    duration::{DURATION, go_duration},
    field::{Fault, Field},
};

pub(super) fn convert(key: FactKey, object: &Value) -> Result<Converted, Unusable> {
    let mut skipped = Vec::new();
    match record(object, &mut skipped) {
        Ok(record) => Ok(Converted {
            key,
            fact: Fact::ServiceProfile(Arc::new(record)),
            skipped,
        }),
        Err(fault) => Err(Unusable::invalid(key, fault)),
    }
}

fn record(object: &Value, skipped: &mut Vec<Skipped>) -> Result<ServiceProfileRecord, Fault> {
    let object = Field::root(object);
    let spec = object.member("spec")?;
    let routes = spec.member("routes")?;
    let routes: Result<_, Fault> = routes.items()?.map(|it| route(&it, skipped)).collect();
    Ok(ServiceProfileRecord {
        routes: routes?,
        retry_budget: retry_budget(&spec.member("retryBudget")?)?,
        dst_overrides: overrides::read(&spec.member("dstOverrides")?, skipped)?,
    })
}

fn route(route: &Field<'_>, skipped: &mut Vec<Skipped>) -> Result<Route, Fault> {
    let classes = route.member("responseClasses")?;
    let classes: Result<_, Fault> = classes.items()?.map(|it| response_class(&it)).collect();
    Ok(Route {
        name: route.member("name")?.text()?.into(),
        condition: checked(&route.member("condition")?, condition::request)?,
        response_classes: classes?,
        is_retryable: route.member("isRetryable")?.truth()?,
        timeout_ns: timeout(&route.member("timeout")?, skipped)?,
    })
}

fn response_class(class: &Field<'_>) -> Result<ResponseClass, Fault> {
    Ok(ResponseClass {
        condition: checked(&class.member("condition")?, condition::response)?,
        is_failure: class.member("isFailure")?.truth()?,
    })
}

fn checked<Leaf>(
    field: &Field<'_>,
    read: impl Fn(&Field<'_>) -> Result<Condition<Leaf>, Fault>,
) -> Result<Condition<Leaf>, Fault> {
    let condition = read(field)?;
    let depth = condition.check_depth();
    depth.map_err(|too_deep| field.fault(too_deep.to_string()))?;
    Ok(condition)
}

/// A text that is no duration is left out, and so is zero.
fn timeout(field: &Field<'_>, skipped: &mut Vec<Skipped>) -> Result<Option<i64>, Fault> {
    let text = field.text()?;
    if text.is_empty() {
        return Ok(None);
    }
    let timeout = go_duration(text);
    if timeout.is_none() {
        skipped.push(Skipped::Duration {
            place: field.place(),
            text: text.to_owned(),
        });
    }
    Ok(timeout.filter(|nanoseconds| *nanoseconds != 0))
}

fn retry_budget(budget: &Field<'_>) -> Result<Option<RetryBudget>, Fault> {
    if !budget.is_given() {
        return Ok(None);
    }
    let ttl = budget.member("ttl")?;
    let nanoseconds = go_duration(ttl.text()?);
    let nanoseconds = nanoseconds.ok_or_else(|| ttl.fault(format!("must be {DURATION}")))?;
    Ok(Some(RetryBudget {
        retry_ratio: Ratio::new(budget.member("retryRatio")?.number()?),
        min_retries_per_second: budget.member("minRetriesPerSecond")?.count()?,
        ttl_ns: Some(nanoseconds).filter(|nanoseconds| *nanoseconds != 0),
    }))
}
