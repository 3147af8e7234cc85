//! YAML in and out: documents as JSON values, and values as YAML that a person can paste.

use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt::Write;

/// Why a text is not what it should be: where, and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct YamlError(pub(crate) String);

/// How wide a line becomes before its parts go on lines of their own.
const WIDTH_MAX: usize = 120;

/// Reads one document.
///
/// # Errors
///
/// The text is no YAML, or not of this type; with the place.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, YamlError> {
    let read = serde_saphyr::from_str_with_options(text, options());
    read.map_err(|error| YamlError(error.to_string()))
}

/// Reads all documents of a text; empty ones are left out.
///
/// # Errors
///
/// The text is no YAML; with the place.
pub fn documents(text: &str) -> Result<Vec<Value>, YamlError> {
    let read = serde_saphyr::from_multiple_with_options(text, options());
    read.map_err(|error| YamlError(error.to_string()))
}

/// Only `true` and `false` are no text: an object may be called `n` or `on`.
fn options() -> serde_saphyr::Options {
    serde_saphyr::options! { strict_booleans: true }
}

/// Writes a value as YAML, small parts of it on one line.
#[must_use]
pub fn write(value: &Value) -> String {
    let mut text = String::new();
    block(&mut text, value, 0);
    text
}

/// Writes a value from the current column on; ends with a line break.
fn block(text: &mut String, value: &Value, depth: usize) {
    let flow = flow(value);
    if depth * 2 + flow.len() <= WIDTH_MAX {
        text.push_str(&flow);
        text.push('\n');
        return;
    }
    match value {
        Value::Object(fields) => {
            for (number, (key, value)) in fields.iter().enumerate() {
                indent(text, number, depth);
                let _ = write!(text, "{}:", scalar(key));
                child(text, value, depth + 1);
            }
        }
        Value::Array(values) => {
            for (number, value) in values.iter().enumerate() {
                indent(text, number, depth);
                text.push_str("- ");
                block(text, value, depth + 1);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            text.push_str(&flow);
            text.push('\n');
        }
    }
}

/// The first line of a block stands where its parent left off.
fn indent(text: &mut String, number: usize, depth: usize) {
    if number > 0 {
        text.push_str(&"  ".repeat(depth));
    }
}

fn child(text: &mut String, value: &Value, depth: usize) {
    if depth * 2 + flow(value).len() <= WIDTH_MAX {
        text.push(' ');
    } else {
        text.push('\n');
        text.push_str(&"  ".repeat(depth));
    }
    block(text, value, depth);
}

fn flow(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let pairs = fields.iter();
            let pairs = pairs.map(|(key, value)| format!("{}: {}", scalar(key), flow(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        Value::Array(values) => {
            format!(
                "[{}]",
                values.iter().map(flow).collect::<Vec<_>>().join(", ")
            )
        }
        Value::String(text) => scalar(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// Plain where no reader can take it for something else, else quoted.
fn scalar(text: &str) -> String {
    let is_plain = text.starts_with(|char: char| char.is_ascii_alphabetic())
        && text
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || "-_./".contains(char))
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
            .contains(&text.to_ascii_lowercase().as_str());
    if is_plain {
        text.to_owned()
    } else {
        Value::from(text).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_written_reads_the_same() {
        let long = "x".repeat(WIDTH_MAX);
        for value in [
            json!({}),
            json!([]),
            json!("on"),
            json!({"a": "1", "b": 1, "c": true, "d": "true", "e": null, "f": "a: b", "": ""}),
            json!({"a": {"b": [{"c": long, "d": [1, {"e": long}]}, [long, []]]}, "g": {}}),
            json!([[long, long], {"a": [long], "b": {"c": long}}]),
        ] {
            assert_eq!(
                read::<Value>(&write(&value)),
                Ok(value.clone()),
                "{}",
                write(&value)
            );
        }
    }

    #[test]
    fn a_name_is_no_truth() {
        let read = read::<Value>("[n, y, on, off, yes, no, true]");
        let expected = json!(["n", "y", "on", "off", "yes", "no", true]);
        assert_eq!(read, Ok(expected));
    }

    #[test]
    fn small_parts_stay_on_one_line() {
        let labels = json!({"namespace": "shop", "service": "web"});
        let text = write(&json!({"add": {"metric_labels": labels, "addrs": ["x".repeat(90)]}}));
        let quoted = "x".repeat(90);
        assert_eq!(
            text,
            format!(
                "add:\n  addrs: [{quoted}]\n  metric_labels: {{namespace: shop, service: web}}\n"
            )
        );
    }
}
