//! Selectors of labels.

use lockstep_model::{Holds, LabelSelector, Requirement, Text};

use super::{
    Skipped,
    field::{Fault, Field},
};

/// The selector; `None`, which chooses nothing, if it is absent or makes no sense.
pub(super) fn read(
    selector: &Field<'_>,
    skipped: &mut Vec<Skipped>,
) -> Result<Option<LabelSelector>, Fault> {
    if !selector.is_given() {
        return Ok(None);
    }
    let mut requirements = Vec::new();
    for (key, value) in selector.member("matchLabels")?.members()? {
        let values = vec![Text::from(value.text()?)];
        requirements.push(requirement(&value, key, Holds::In(values)));
    }
    for expression in selector.member("matchExpressions")?.items()? {
        requirements.push(match holds(&expression)? {
            Ok(holds) => requirement(&expression, expression.member("key")?.text()?, holds),
            Err(nonsense) => Err(nonsense),
        });
    }
    let requirements: Result<Vec<Requirement>, Fault> = requirements.into_iter().collect();
    Ok(match requirements {
        Ok(mut requirements) => {
            // Of equal selectors, one form.
            requirements.sort_unstable();
            Some(LabelSelector(requirements))
        }
        Err(Fault { place, reason }) => {
            skipped.push(Skipped::Selector { place, reason });
            None
        }
    })
}

/// The outer fault is one of types, the inner one of sense.
fn holds(expression: &Field<'_>) -> Result<Result<Holds, Fault>, Fault> {
    let operator = expression.member("operator")?;
    let list = expression.member("values")?;
    let values: Result<Vec<Text>, Fault> = list
        .items()?
        .map(|value| Ok(value.text()?.into()))
        .collect();
    let mut values = values?;
    values.sort_unstable();
    let is_empty = values.is_empty();
    Ok(match operator.text()? {
        "In" | "NotIn" if is_empty => Err(list.fault("must not be empty")),
        "Exists" | "DoesNotExist" if !is_empty => Err(list.fault("must be empty")),
        "In" => Ok(Holds::In(values)),
        "NotIn" => Ok(Holds::NotIn(values)),
        "Exists" => Ok(Holds::Exists),
        "DoesNotExist" => Ok(Holds::DoesNotExist),
        _ => Err(operator.fault("must be one of In, NotIn, Exists, DoesNotExist")),
    })
}

/// What no label can be is refused as Kubernetes does: that a label is *not* so would
/// otherwise hold of everything.
fn requirement(field: &Field<'_>, key: &str, holds: Holds) -> Result<Requirement, Fault> {
    if !is_key(key) {
        return Err(field.fault(format!("`{key}` is no key of a label")));
    }
    let values = match &holds {
        Holds::In(values) | Holds::NotIn(values) => values.as_slice(),
        Holds::Exists | Holds::DoesNotExist => &[],
    };
    match values.iter().find(|value| !is_value(value)) {
        Some(value) => Err(field.fault(format!("`{value}` is no value of a label"))),
        None => Ok(Requirement {
            key: key.into(),
            holds,
        }),
    }
}

/// A name, perhaps below a domain: `app.kubernetes.io/name`.
fn is_key(key: &str) -> bool {
    let (domain, name) = match key.split_once('/') {
        Some((domain, name)) => (Some(domain), name),
        None => (None, key),
    };
    domain.is_none_or(is_domain) && !name.is_empty() && is_value(name)
}

fn is_domain(domain: &str) -> bool {
    let lower = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    domain.len() <= 253 && domain.split('.').all(|part| is_framed(part, lower, b"-"))
}

/// Empty, or up to 63 letters, digits, `-`, `_` and `.`, at both ends a letter or digit.
fn is_value(value: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric();
    value.is_empty() || (value.len() <= 63 && is_framed(value, letter, b"-_."))
}

fn is_framed(text: &str, is_outer: impl Fn(u8) -> bool, inner: &[u8]) -> bool {
    let bytes = text.as_bytes();
    let ends = [bytes.first(), bytes.last()];
    ends.iter().all(|end| end.is_some_and(|end| is_outer(*end)))
        && bytes
            .iter()
            .all(|byte| is_outer(*byte) || inner.contains(byte))
}
