//! The conditions of a profile.

use lockstep_model::{CONDITION_DEPTH_MAX, Condition, RequestMatch, StatusRange, TooDeep};

use crate::convert::field::{Fault, Field};

type Read<Leaf> = Result<Condition<Leaf>, Fault>;

/// How deep objects may be read: of two levels of an object, one may vanish as the only
/// one of its level. What is left is checked by itself.
const LEVELS_MAX: usize = 2 * CONDITION_DEPTH_MAX;

/// A condition of requests.
pub(super) fn request(field: &Field<'_>) -> Read<RequestMatch> {
    request_within(field, LEVELS_MAX)
}

/// A condition of responses.
pub(super) fn response(field: &Field<'_>) -> Read<StatusRange> {
    response_within(field, LEVELS_MAX)
}

fn request_within(field: &Field<'_>, levels: usize) -> Read<RequestMatch> {
    let below = one_less(field, levels)?;
    let read = |each: &Field<'_>| request_within(each, below);
    let mut parts = Vec::new();
    parts.extend(several(field, "all", read)?.map(Condition::All));
    parts.extend(several(field, "any", read)?.map(Condition::Any));
    let method = field.member("method")?.text()?.to_ascii_uppercase();
    if !method.is_empty() {
        parts.push(Condition::Is(RequestMatch::Method(method.into())));
    }
    parts.extend(negated(field, read)?);
    let path = field.member("pathRegex")?.text()?;
    if !path.is_empty() {
        parts.push(Condition::Is(RequestMatch::PathRegex(path.into())));
    }
    joined(parts).ok_or_else(|| field.fault("must have one of all, any, method, not, pathRegex"))
}

fn response_within(field: &Field<'_>, levels: usize) -> Read<StatusRange> {
    let below = one_less(field, levels)?;
    let read = |each: &Field<'_>| response_within(each, below);
    let mut parts = Vec::new();
    parts.extend(several(field, "all", read)?.map(Condition::All));
    parts.extend(several(field, "any", read)?.map(Condition::Any));
    let status = field.member("status")?;
    if status.is_given() {
        parts.push(Condition::Is(status_range(&status)?));
    }
    parts.extend(negated(field, read)?);
    joined(parts).ok_or_else(|| field.fault("must have one of all, any, status, not"))
}

fn one_less(field: &Field<'_>, levels: usize) -> Result<usize, Fault> {
    levels
        .checked_sub(1)
        .ok_or_else(|| field.fault(TooDeep.to_string()))
}

/// The conditions of a list; an empty list is one that every request fulfils, or none.
fn several<Leaf>(
    field: &Field<'_>,
    name: &str,
    read: impl Fn(&Field<'_>) -> Read<Leaf>,
) -> Result<Option<Vec<Condition<Leaf>>>, Fault> {
    let list = field.member(name)?;
    if !list.is_given() {
        return Ok(None);
    }
    let each: Result<_, Fault> = list.items()?.map(|item| read(&item)).collect();
    each.map(Some)
}

fn negated<Leaf>(
    field: &Field<'_>,
    read: impl Fn(&Field<'_>) -> Read<Leaf>,
) -> Result<Option<Condition<Leaf>>, Fault> {
    let inner = field.member("not")?;
    if !inner.is_given() {
        return Ok(None);
    }
    Ok(Some(Condition::Not(Box::new(read(&inner)?))))
}

/// One part is the condition; of several, all must hold.
fn joined<Leaf>(mut parts: Vec<Condition<Leaf>>) -> Option<Condition<Leaf>> {
    match parts.len() {
        0 | 1 => parts.pop(),
        2.. => Some(Condition::All(parts)),
    }
}

fn status_range(status: &Field<'_>) -> Result<StatusRange, Fault> {
    let (min, max) = (bound(status, "min")?, bound(status, "max")?);
    if min != 0 && max != 0 && max < min {
        return Err(status.fault(format!("max {max} is below min {min}")));
    }
    Ok(StatusRange { min, max })
}

fn bound(status: &Field<'_>, name: &str) -> Result<u32, Fault> {
    let bound = status.member(name)?;
    match bound.count()? {
        code @ (0 | 100..=599) => Ok(code),
        _ => Err(bound.fault("must be a status code (100 to 599), or 0 for no bound")),
    }
}
