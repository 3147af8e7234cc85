//! One event as one line of JSON, in the shape of Jepsen's operation maps:
//! `{"i":41,"t":1893,"type":"invoke","process":7,"f":"add","value":5}`.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{Call, Event, Operation, Process, Return, Seen, What};

/// A line before its value is understood.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    /// The place of the event, from 0.
    pub(super) i: usize,
    /// The time. Unit: nanoseconds.
    pub(super) t: u64,
    /// `invoke`, `ok`, `fail` or `info`.
    pub(super) r#type: String,
    /// Who.
    pub(super) process: Process,
    /// What was done or seen.
    pub(super) f: String,
    /// The rest.
    #[serde(default)]
    pub(super) value: Value,
}

/// Why a line holds no event.
#[derive(Debug, thiserror::Error)]
pub enum InvalidLine {
    /// It is no JSON object with the fields of a line, or breaks off.
    #[error("no event")]
    Json(#[source] serde_json::Error),
    /// The type is none.
    #[error("`{0}` is no type; allowed are `invoke`, `ok`, `fail` and `info`")]
    Type(String),
    /// The value does not fit `f`, or `f` is not known for this type.
    #[error("`{kind} {f}`")]
    Value {
        /// The type.
        kind: &'static str,
        /// What was done or seen.
        f: String,
        /// What was expected.
        source: serde_json::Error,
    },
}

/// The line of one event, without its end.
#[must_use]
pub fn to_line(place: usize, event: &Event) -> String {
    let (kind, told) = match &event.what {
        What::Invoke(call) => ("invoke", written(call)),
        What::Ok(returned) => ("ok", written(returned)),
        What::Fail(operation, reason) => ("fail", ended(*operation, reason)),
        What::Unknown(operation, reason) => ("info", ended(*operation, reason)),
        What::Seen(seen) => ("info", written(seen)),
    };
    let line = json!({
        "i": place,
        "t": event.at,
        "type": kind,
        "process": event.process,
        "f": told.get("f"),
        "value": told.get("value"),
    });
    line.to_string()
}

/// Reads one line: the event, and the place that it claims.
///
/// # Errors
///
/// [`InvalidLine`], with what would be allowed.
pub fn from_line(text: &str) -> Result<(usize, Event), InvalidLine> {
    let line: Line = serde_json::from_str(text).map_err(InvalidLine::Json)?;
    let what = match line.r#type.as_str() {
        "invoke" => What::Invoke(understood::<Call>("invoke", &line)?),
        "ok" => What::Ok(understood::<Return>("ok", &line)?),
        "fail" => {
            let Ended { f, value } = understood("fail", &line)?;
            What::Fail(f, value.error)
        }
        "info" => match understood::<Ended>("info", &line) {
            Ok(Ended { f, value }) => What::Unknown(f, value.error),
            Err(_) => What::Seen(understood::<Seen>("info", &line)?),
        },
        _ => return Err(InvalidLine::Type(line.r#type)),
    };
    let event = Event {
        at: line.t,
        process: line.process,
        what,
    };
    Ok((line.i, event))
}

/// An operation that did not end well.
#[derive(Serialize, Deserialize)]
struct Ended {
    f: Operation,
    value: Reason,
}

#[derive(Serialize, Deserialize)]
struct Reason {
    error: String,
}

fn ended(f: Operation, reason: &str) -> Value {
    let value = Reason {
        error: reason.to_owned(),
    };
    written(&Ended { f, value })
}

/// All values of a history have text for keys and finite numbers, so none fails.
fn written(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

fn understood<T: DeserializeOwned>(kind: &'static str, line: &Line) -> Result<T, InvalidLine> {
    let value = if line.value.is_null() {
        json!({"f": line.f})
    } else {
        json!({"f": line.f, "value": line.value})
    };
    serde_json::from_value(value).map_err(|source| InvalidLine::Value {
        kind,
        f: line.f.clone(),
        source,
    })
}
