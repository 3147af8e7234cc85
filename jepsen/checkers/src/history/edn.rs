//! A history as EDN, the notation of Jepsen's own checkers (Knossos, Elle): one operation map a
//! line.

use serde_json::Value;
use std::io::{self, Write};

use super::{History, line::to_line};

impl History {
    /// Writes the whole history as EDN.
    ///
    /// # Errors
    ///
    /// Whatever the sink reports.
    pub fn write_edn(&self, mut sink: impl Write) -> io::Result<()> {
        for (place, event) in self.events().iter().enumerate() {
            let line = serde_json::from_str(&to_line(place, event))?;
            writeln!(sink, "{}", operation(&line))?;
        }
        sink.flush()
    }
}

/// Jepsen's names for the fields of a line; `type`, `f` and the nemesis are keywords.
fn operation(line: &Value) -> String {
    let field = |name: &str| line.get(name).unwrap_or(&Value::Null);
    let keyword = |name: &str| match field(name).as_str() {
        Some(text) => format!(":{text}"),
        None => edn(field(name)),
    };
    format!(
        "{{:index {}, :time {}, :type {}, :process {}, :f {}, :value {}}}",
        edn(field("i")),
        edn(field("t")),
        keyword("type"),
        keyword("process"),
        keyword("f"),
        edn(field("value")),
    )
}

fn edn(value: &Value) -> String {
    match value {
        Value::Null => "nil".to_owned(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(edn).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{} {}", key(name), edn(value)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
    }
}

/// A keyword where the name can be one; else a text, such as an address.
fn key(name: &str) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || "-_".contains(char);
    let starts = name.starts_with(|char: char| char.is_ascii_alphabetic());
    if starts && name.chars().all(plain) {
        format!(":{name}")
    } else {
        Value::from(name).to_string()
    }
}
