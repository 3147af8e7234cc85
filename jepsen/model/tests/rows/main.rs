//! Every row of the contract, which was recorded or written down without this model: what it
//! lets a client be told must be what the model expects, after each step.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod edit;
mod wire;

use lockstep_jepsen_model::{Cluster, Expected, Fold, Question, Settings, Transport, expect};
use serde_json::{Map, Value};
use std::{collections::BTreeMap, fs, path::PathBuf, sync::Arc};

/// Rows of which the model says nothing.
const BEYOND: &[(&str, &str)] = &[(
    "like: chart",
    "the recorded instance's settings are not written in the row",
)];

struct Asking {
    question: Question,
    fold: Fold,
    ended: Option<String>,
}

fn rows() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../crates/contract/rows");
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut rows: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|ending| ending == "yaml"))
        .collect();
    rows.sort();
    rows
}

fn settings(row: &Value) -> Settings {
    let mut settings = Settings::default();
    for (name, value) in row["settings"].as_object().into_iter().flatten() {
        match (name.as_str(), value) {
            ("transport_mode", Value::String(mode)) if mode == "Transparent" => {
                settings.transport = Transport::Transparent;
            }
            ("transport_mode", _) => settings.transport = Transport::TransportHeader,
            ("h2_upgrade", value) => settings.h2_upgrade = value.as_bool().unwrap(),
            ("ipv6", value) => settings.ipv6 = value.as_bool().unwrap(),
            ("zone_weights", value) => settings.zone_weights = value.as_bool().unwrap(),
            ("node_hints", value) => settings.node_hints = value.as_bool().unwrap(),
            ("serve_terminating", value) => settings.serve_leaving = value.as_bool().unwrap(),
            ("answer_absent", value) => settings.answer_absent = value.as_bool().unwrap(),
            ("trust_domain", Value::String(domain)) => {
                settings.trust_domain = domain.as_str().into()
            }
            ("cluster_domain", Value::String(domain)) => {
                settings.cluster_domain = domain.as_str().into();
            }
            ("control_plane", Value::String(name)) => settings.control_plane = name.as_str().into(),
            ("default_opaque_ports", Value::String(ports)) => {
                settings.default_opaque = ports.parse().unwrap();
            }
            ("meshed_http2", value) => {
                settings.http2 = Some(serde_json::from_value(value["keep_alive"].clone()).unwrap());
            }
            (name, value) => panic!("setting {name}: {value}"),
        }
    }
    settings
}

/// Of the token only the node counts, and only in the JSON form.
fn question(open: &Map<String, Value>) -> Question {
    let token = open.get("token").and_then(Value::as_str).unwrap_or("{}");
    let token: Value = serde_json::from_str(token.trim()).unwrap_or_default();
    Question {
        authority: open["path"].as_str().unwrap().into(),
        node: token["nodeName"].as_str().unwrap_or_default().into(),
    }
}

fn one_or_many(value: &Value) -> Vec<&Value> {
    value
        .as_array()
        .map_or_else(|| vec![value], |many| many.iter().collect())
}

impl Asking {
    fn hear(&mut self, told: &Value) {
        for message in one_or_many(told) {
            match message.get("end") {
                Some(code) => self.ended = Some(code.as_str().unwrap().to_owned()),
                None => drop(self.fold.take(&wire::message(message))),
            }
        }
    }

    /// What is wrong, if anything is.
    fn judge(&self, expected: &Expected, settings: &Settings) -> Option<String> {
        let ended = self.ended.as_deref();
        match (expected, ended) {
            (Expected::Elsewhere, _) => None,
            (Expected::Refused | Expected::Alias(_), Some("INVALID_ARGUMENT")) => None,
            (Expected::Absent, Some("NOT_FOUND")) if !settings.answer_absent => None,
            (Expected::Absent | Expected::Alias(_) | Expected::Present(_), None) => {
                let differences = expected.set()?.differences(&self.fold);
                let told: Vec<String> = differences.iter().map(ToString::to_string).collect();
                (!told.is_empty()).then(|| told.join("; "))
            }
            (expected, ended) => Some(format!("{expected:?}, and it ended with {ended:?}")),
        }
    }
}

/// How many comparisons a row gave, or where it differs.
fn run(row: &Value) -> Result<usize, String> {
    let settings = Arc::new(settings(row));
    let mut cluster = Cluster::default();
    let mut unseen = Vec::new();
    edit::all(&mut cluster, &row["objects"]);
    let mut streams: BTreeMap<String, Asking> = BTreeMap::new();
    let mut compared = 0;
    for step in row["steps"].as_array().unwrap() {
        for each in step["edits"].as_array().into_iter().flatten() {
            edit::one(&mut cluster, &mut unseen, each);
        }
        for name in step["close"].as_array().into_iter().flatten() {
            streams.remove(name.as_str().unwrap());
        }
        for (name, open) in step["open"].as_object().into_iter().flatten() {
            let open = open.as_object().unwrap();
            if open["method"] == "Get" {
                let asking = Asking {
                    question: question(open),
                    fold: Fold::default(),
                    ended: None,
                };
                streams.insert(name.clone(), asking);
            }
        }
        for (name, told) in step["expect"].as_object().into_iter().flatten() {
            if let Some(asking) = streams.get_mut(name) {
                asking.hear(told);
            }
        }
        let content = cluster.content(&settings);
        for (name, asking) in &streams {
            let expected = expect(&content, &asking.question);
            if let Some(fault) = asking.judge(&expected, &settings) {
                return Err(format!("{}, {name}: {fault}", step["note"]));
            }
            compared += 1;
        }
        streams.retain(|_, asking| asking.ended.is_none());
    }
    Ok(compared)
}

#[test]
fn the_model_expects_what_every_row_says() {
    let mut compared = 0;
    let mut faults = Vec::new();
    for path in rows() {
        let text = fs::read_to_string(&path).unwrap();
        if BEYOND.iter().any(|(mark, _)| text.contains(mark)) {
            continue;
        }
        let row: Value = edit::yaml(&text);
        if row["steps"].is_array() {
            match run(&row) {
                Ok(of_row) => compared += of_row,
                Err(fault) => {
                    faults.push(format!("{}: {fault}", path.file_name().unwrap().display()))
                }
            }
        }
    }
    assert_eq!(faults, Vec::<String>::new(), "{} rows differ", faults.len());
    assert!(compared > 300, "only {compared} comparisons were made");
}
