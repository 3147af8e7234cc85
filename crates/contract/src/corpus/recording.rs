//! `linkerd.*.json`: what the real controller answered.

use lockstep_model::{Http2Params, KeepAlive, Settings, TransportMode};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
};

use super::Method;

/// A configuration in which the real controller was recorded.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Instance {
    /// As the chart installs it: transport headers, no IPv6, HTTP/2 parameters.
    Chart,
    /// Transparent transport, IPv6, no HTTP/2 parameters.
    Plain,
}

impl Instance {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Chart, Self::Plain];

    /// The settings that it was recorded with.
    #[must_use]
    pub fn settings(self) -> Settings {
        let (transport_mode, ipv6, meshed_http2) = match self {
            Self::Chart => (TransportMode::TransportHeader, false, Some(http2())),
            Self::Plain => (TransportMode::Transparent, true, None),
        };
        Settings {
            transport_mode,
            ipv6,
            meshed_http2,
            ..Settings::default()
        }
    }
}

fn http2() -> Http2Params {
    let keep_alive = KeepAlive {
        interval_ms: 10_000,
        timeout_ms: 3_000,
        while_idle: true,
    };
    Http2Params {
        keep_alive: Some(keep_alive),
    }
}

impl Display for Instance {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Chart => "chart",
            Self::Plain => "plain",
        })
    }
}

/// What one instance answered.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Recording {
    /// The streams, by name.
    pub streams: BTreeMap<String, Stream>,
    /// Whether the process lived on, where it had one for itself.
    #[serde(default)]
    process_after: Process,
    /// Other recordings of the same streams.
    #[serde(default)]
    other_runs: Value,
}

#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
struct Process {
    crashed: bool,
}

/// One recorded stream.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Stream {
    /// The method.
    pub method: Method,
    /// The path that was asked.
    pub path: String,
    /// `open` at the end, `ended` by the server, or `cancelled by client`.
    pub state: String,
    /// One entry for each step in which it was open.
    pub log: Vec<Entry>,
    /// What a controller that started after the last step answered to the same question, if
    /// the stream was open then.
    #[serde(default)]
    pub fresh: Option<Fresh>,
    /// Other recordings of the same stream.
    #[serde(default)]
    other_runs: Value,
}

/// What a new controller answered to a question whose stream was open at the end.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Fresh {
    /// In words: the same as the open stream held.
    Same(String),
    /// It refused.
    Refused {
        /// How.
        end: End,
    },
    /// Something else; as the file has it.
    Other(Value),
}

/// What came on a stream in one step.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Entry {
    /// The step's number.
    pub after_step: u32,
    /// The messages, in order, in the form of [`crate::json`].
    #[serde(default, deserialize_with = "messages")]
    pub messages: Vec<Value>,
    /// How the stream ended, if it did in this step.
    #[serde(default)]
    pub end: Option<End>,
}

/// How a stream ended.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct End {
    /// The gRPC code, as `NOT_FOUND`.
    pub code: String,
    /// The text.
    #[serde(default)]
    pub message: String,
}

/// A recorded message stands beside a summary for people.
fn messages<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Value>, D::Error> {
    #[derive(Deserialize)]
    struct Recorded {
        message: Value,
    }
    let recorded = Vec::<Recorded>::deserialize(deserializer)?;
    Ok(recorded.into_iter().map(|it| it.message).collect())
}

impl Recording {
    /// Whether the controller's process ended.
    #[must_use]
    pub const fn has_crashed(&self) -> bool {
        self.process_after.crashed
    }

    /// All recordings of a stream, the main one first.
    #[must_use]
    pub fn runs(&self, name: &str) -> Vec<Vec<Entry>> {
        let Some(stream) = self.streams.get(name) else {
            return Vec::new();
        };
        let mut runs = vec![stream.log.clone()];
        collect_logs(&stream.other_runs, name, &mut runs);
        collect_logs(&self.other_runs, name, &mut runs);
        runs
    }
}

/// Finds the logs of a stream in what other runs say, however that is nested: a list of
/// runs, a run's streams by name, or the stream itself.
fn collect_logs(value: &Value, name: &str, runs: &mut Vec<Vec<Entry>>) {
    match value {
        Value::Array(values) => {
            if let Some(log) = log(value) {
                runs.push(log);
            } else {
                values.iter().for_each(|it| collect_logs(it, name, runs));
            }
        }
        Value::Object(fields) => {
            if let Some(found) = fields.get("log").and_then(log) {
                runs.push(found);
            } else if let Some(stream) = fields.get(name) {
                collect_logs(stream, name, runs);
            } else if let Some(streams) = fields.get("streams") {
                collect_logs(streams, name, runs);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn log(value: &Value) -> Option<Vec<Entry>> {
    let entries = value.as_array().filter(|entries| !entries.is_empty())?;
    let are_entries = entries.iter().all(|it| it.get("after_step").is_some());
    are_entries.then(|| Vec::deserialize(value).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn entry(code: &str) -> Value {
        json!({"after_step": 1, "end": {"code": code, "message": ""}})
    }

    fn recording(of_stream: Value, of_all: Value) -> Recording {
        let stream = json!({
            "method": "Get", "path": "web.shop.svc.cluster.local", "state": "ended",
            "log": [entry("A")], "other_runs": of_stream,
        });
        let recording = json!({"streams": {"get": stream}, "other_runs": of_all});
        serde_json::from_value(recording).unwrap()
    }

    #[test]
    fn other_runs_are_found_wherever_they_are() {
        let codes = |recording: &Recording| -> Vec<String> {
            let runs = recording.runs("get").into_iter().flatten();
            runs.map(|entry| entry.end.unwrap().code).collect()
        };
        for (of_stream, of_all) in [
            (json!([{"log": [entry("B")]}]), json!(null)),
            (json!([[entry("B")]]), json!(null)),
            (json!(null), json!({"get": [{"log": [entry("B")]}]})),
            (
                json!(null),
                json!([{"streams": {"get": {"log": [entry("B")]}, "x": {}}}]),
            ),
        ] {
            assert_eq!(codes(&recording(of_stream, of_all)), ["A", "B"]);
        }
        assert_eq!(codes(&recording(json!(null), json!({"other": []}))), ["A"]);
        assert_eq!(
            recording(json!(null), json!(null)).runs("nobody"),
            Vec::<Vec<Entry>>::new()
        );
    }

    #[test]
    fn a_fresh_answer_is_the_same_or_a_refusal_or_another() {
        let end = json!({"code": "NOT_FOUND", "message": "m"});
        let refused = Fresh::Refused {
            end: serde_json::from_value(end.clone()).unwrap(),
        };
        let other = json!({"final_addrs": [], "messages": []});
        for (file, fresh) in [
            (json!(null), None),
            (
                json!("same as final"),
                Some(Fresh::Same("same as final".into())),
            ),
            (json!({"end": end, "final_addrs": null}), Some(refused)),
            (other.clone(), Some(Fresh::Other(other))),
        ] {
            let stream = json!({"method": "Get", "path": "p", "state": "open", "log": [],
                "fresh": file});
            assert_eq!(
                serde_json::from_value::<Stream>(stream).unwrap().fresh,
                fresh
            );
        }
    }

    #[test]
    fn a_log_that_is_no_log_is_refused() {
        let error = serde_json::from_value::<Entry>(json!({"after_step": -1})).unwrap_err();
        assert_eq!(
            error.to_string(),
            "invalid value: integer `-1`, expected u32"
        );
        let error = serde_json::from_value::<Instance>(json!("both")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown variant `both`, expected `chart` or `plain`"
        );
    }
}
