//! Label and field selectors: which objects a list or a watch is about.

use serde_json::Value;

use crate::kind::Kind;
use crate::object::metadata;
use crate::refusal::Refusal;

/// Which objects of one kind a request is about; the default is all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    /// One namespace, or all.
    pub(crate) namespace: Option<String>,
    labels: Vec<Requirement>,
    fields: Vec<FieldTerm>,
}

/// One comma separated part of a label selector.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Requirement {
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
    Exists(String),
    Absent(String),
}

/// One comma separated part of a field selector.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FieldTerm {
    path: String,
    value: String,
    sense: Sense,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sense {
    Equal,
    Unequal,
}

// === impl Selection ===

impl Selection {
    /// Parses both selectors of a request; empty texts select everything.
    pub(crate) fn parse(
        kind: &Kind,
        namespace: Option<String>,
        labels: &str,
        fields: &str,
    ) -> Result<Self, Refusal> {
        let parsed = Self {
            namespace,
            labels: split_outside_parentheses(labels)
                .into_iter()
                .map(parse_requirement)
                .collect::<Result<_, _>>()?,
            fields: fields
                .split(',')
                .filter(|term| !term.is_empty())
                .map(parse_field_term)
                .collect::<Result<_, _>>()?,
        };
        let known = |path: &str| {
            matches!(path, "metadata.name" | "metadata.namespace")
                || kind.field_labels.contains(&path)
        };
        match parsed.fields.iter().find(|term| !known(&term.path)) {
            None => Ok(parsed),
            Some(term) => {
                let message = format!("field label not supported: {}", term.path);
                Err(Refusal::bad_request(message))
            }
        }
    }

    /// Whether selectors (not the namespace) leave anything out.
    pub(crate) fn is_filtered(&self) -> bool {
        !self.labels.is_empty() || !self.fields.is_empty()
    }

    pub(crate) fn matches(&self, object: &Value) -> bool {
        self.namespace
            .as_deref()
            .is_none_or(|ns| metadata::text(object, "namespace") == ns)
            && self
                .labels
                .iter()
                .all(|requirement| requirement.matches(object))
            && self.fields.iter().all(|term| term.matches(object))
    }
}

// === impl Requirement ===

impl Requirement {
    fn matches(&self, object: &Value) -> bool {
        let label = |key: &str| {
            metadata::of(object)
                .and_then(|m| m.get("labels")?.get(key))
                .and_then(Value::as_str)
        };
        match self {
            Self::In(key, values) => label(key).is_some_and(|v| values.iter().any(|x| x == v)),
            Self::NotIn(key, values) => label(key).is_none_or(|v| values.iter().all(|x| x != v)),
            Self::Exists(key) => label(key).is_some(),
            Self::Absent(key) => label(key).is_none(),
        }
    }
}

// === impl FieldTerm ===

impl FieldTerm {
    fn matches(&self, object: &Value) -> bool {
        let found = self
            .path
            .split('.')
            .try_fold(object, |value, step| value.get(step));
        let text = match found {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Null) | None => String::new(),
            Some(other) => other.to_string(),
        };
        match self.sense {
            Sense::Equal => text == self.value,
            Sense::Unequal => text != self.value,
        }
    }
}

fn split_outside_parentheses(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    text.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    })
    .map(str::trim)
    .filter(|part| !part.is_empty())
    .collect()
}

fn parse_requirement(part: &str) -> Result<Requirement, Refusal> {
    let bad = || Refusal::bad_request(format!("unable to parse requirement: {part:?}"));
    let key = |text: &str| {
        let text = text.trim();
        let ok = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
        if !text.is_empty() && text.chars().all(ok) {
            Ok(text.to_owned())
        } else {
            Err(bad())
        }
    };
    if let Some(absent) = part.strip_prefix('!') {
        return Ok(Requirement::Absent(key(absent)?));
    }
    if let Some((left, right)) = part.split_once("!=") {
        return Ok(Requirement::NotIn(
            key(left)?,
            vec![right.trim().to_owned()],
        ));
    }
    if let Some((left, right)) = part.split_once("==").or_else(|| part.split_once('=')) {
        return Ok(Requirement::In(key(left)?, vec![right.trim().to_owned()]));
    }
    let Some((left, list)) = part.split_once('(') else {
        return Ok(Requirement::Exists(key(part)?));
    };
    let list = list.strip_suffix(')').ok_or_else(bad)?;
    let values = list
        .split(',')
        .map(|value| value.trim().to_owned())
        .collect();
    match left.trim().rsplit_once(char::is_whitespace) {
        Some((name, "in")) => Ok(Requirement::In(key(name)?, values)),
        Some((name, "notin")) => Ok(Requirement::NotIn(key(name)?, values)),
        Some(_) | None => Err(bad()),
    }
}

fn parse_field_term(part: &str) -> Result<FieldTerm, Refusal> {
    let (path, value, sense) = if let Some((path, value)) = part.split_once("!=") {
        (path, value, Sense::Unequal)
    } else if let Some((path, value)) = part.split_once("==").or_else(|| part.split_once('=')) {
        (path, value, Sense::Equal)
    } else {
        let message = format!("invalid selector: '{part}'; can't understand '{part}'");
        return Err(Refusal::bad_request(message));
    };
    Ok(FieldTerm {
        path: path.to_owned(),
        value: value.to_owned(),
        sense,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn selects(labels: &str, fields: &str) -> bool {
        let object = json!({
            "metadata": {"name": "web-1", "namespace": "shop", "labels": {"app": "web"}},
            "spec": {"nodeName": "n1"},
        });
        let kind = Kind::named("Pod").unwrap();
        Selection::parse(kind, None, labels, fields)
            .unwrap()
            .matches(&object)
    }

    #[test]
    fn every_form_of_label_requirement_is_understood() {
        for yes in [
            "app",
            "app=web",
            "app==web",
            "app in (api, web)",
            "!tier",
            "tier!=db",
            "",
        ] {
            assert!(selects(yes, ""), "{yes}");
        }
        for no in [
            "!app",
            "app=api",
            "app notin (web),app",
            "app in (api)",
            "app!=web",
            "tier",
        ] {
            assert!(!selects(no, ""), "{no}");
        }
    }

    #[test]
    fn fields_select_by_path() {
        assert!(selects(
            "",
            "metadata.name=web-1,spec.nodeName!=n2,status.phase="
        ));
        assert!(!selects("", "metadata.namespace=other"));
    }

    #[test]
    fn what_cannot_be_understood_is_refused_by_name() {
        let refused = |labels: &str, fields: &str| {
            Selection::parse(Kind::named("Service").unwrap(), None, labels, fields)
                .unwrap_err()
                .message
        };
        assert_eq!(refused("a b", ""), "unable to parse requirement: \"a b\"");
        assert_eq!(
            refused("a within (b)", ""),
            "unable to parse requirement: \"a within (b)\""
        );
        assert_eq!(
            refused("", "name"),
            "invalid selector: 'name'; can't understand 'name'"
        );
        assert_eq!(refused("", "spec.x=1"), "field label not supported: spec.x");
    }
}
