//! Rows of the contract: each says in one YAML file which objects there are, what happens
//! to them, and every message that every stream is told. The format is described beside
//! the files.

mod known;
mod run;
mod settings;
mod table;

use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::{Map, Value};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use crate::{corpus::Method, edit::Edit, yaml};

pub use known::{KnownRow, known_rows};
pub use run::{RowFailure, run};
pub use settings::{SettingsError, settings};
pub use table::{open_rows, table};

/// One file: a test of one row, or of several on one stream.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The rows, such as `F41`, `G-Q2` or `row A`.
    #[serde(deserialize_with = "one_or_many")]
    pub row: Vec<String>,
    /// What happens, in a few words.
    pub title: String,
    /// What is pinned, in one sentence.
    pub pins: String,
    /// The test that it mirrors.
    #[serde(default)]
    pub source: Option<String>,
    /// The file of another test that pins the row, from the root of the workspace, and
    /// perhaps words after it.
    #[serde(default, rename = "where")]
    pub pinned_by: Option<String>,
    /// Why nothing pins the row.
    #[serde(default)]
    pub not_served: Option<String>,
    /// Settings that are not the default ones.
    #[serde(default)]
    pub settings: Map<String, Value>,
    /// The objects before the first step: a list, or a text of YAML documents.
    #[serde(default)]
    pub objects: Value,
    /// What happens.
    #[serde(default)]
    pub steps: Vec<RowStep>,
}

/// One step: edits as one commit, then closings, then openings, then silence.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowStep {
    /// What happens, in words.
    pub note: String,
    /// What happens to the objects.
    #[serde(default)]
    pub edits: Vec<Edit>,
    /// The streams that the client gives up.
    #[serde(default)]
    pub close: Vec<String>,
    /// The streams that it opens, by name.
    #[serde(default)]
    pub open: BTreeMap<String, RowOpening>,
    /// What comes on each stream; on one that is not named, nothing.
    #[serde(default)]
    pub expect: BTreeMap<String, Expected>,
}

/// A stream to be opened.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowOpening {
    /// The method.
    pub method: Method,
    /// The path of the request.
    pub path: String,
    /// Its context token.
    #[serde(default)]
    pub token: String,
}

/// What comes on a stream, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected(pub Vec<ExpectedItem>);

/// One thing that comes on a stream.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpectedItem {
    /// A message, in the form of [`crate::json`], its addresses written short or long.
    Message(Value),
    /// The end.
    End {
        /// The gRPC code, such as `NOT_FOUND`.
        code: String,
        /// The text; any if not said.
        text: Option<String>,
    },
}

/// A file, and what it says or why it is no row.
#[derive(Clone, Debug)]
pub struct RowFile {
    /// Its name in the folder of rows.
    pub name: String,
    /// What it says.
    pub row: Result<Row, RowError>,
}

/// Why a file is no row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowError {
    /// It is no YAML, or has another form.
    #[error("{0}")]
    Form(#[from] yaml::YamlError),
    /// It names a row that does not exist.
    #[error("there is no row `{0}`; rows are F1 to F163, G-Q1 to G-Q25, and `row A` to `row O`")]
    Unknown(String),
    /// It has no row.
    #[error("`row` names no row")]
    Rowless,
    /// It has not exactly one of the three.
    #[error("a row has one of `steps`, `where` and `not_served`; this one has {0}")]
    Kind(&'static str),
    /// A step closes or expects of a stream that is not open then.
    #[error("step {step} {what} `{stream}`, which is not open; open are: {open}")]
    Stream {
        /// Which step, from 1.
        step: usize,
        /// What it does.
        what: &'static str,
        /// The name.
        stream: String,
        /// The names that it could mean.
        open: String,
    },
    /// A step opens a stream of a name that is open.
    #[error("step {step} opens `{stream}`, which is open already")]
    Twice {
        /// Which step, from 1.
        step: usize,
        /// The name.
        stream: String,
    },
    /// `settings` is wrong.
    #[error(transparent)]
    Settings(#[from] SettingsError),
}

/// Where the rows are.
#[must_use]
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("rows")
}

/// Reads every row, in the order of the files' names.
///
/// # Errors
///
/// The folder or a file cannot be read; that one is no row is part of the outcome.
pub fn rows(folder: &Path) -> std::io::Result<Vec<RowFile>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name.ends_with(".yaml") {
            files.insert(name, fs::read_to_string(path)?);
        }
    }
    let read = |(name, text): (String, String)| RowFile {
        row: Row::read(&text),
        name,
    };
    Ok(files.into_iter().map(read).collect())
}

impl Row {
    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// See [`RowError`].
    pub fn read(text: &str) -> Result<Self, RowError> {
        let row: Self = yaml::read(text)?;
        row.check_names()?;
        row.check_kind()?;
        row.check_streams()?;
        settings(&row.settings)?;
        Ok(row)
    }

    /// The name of its test.
    #[must_use]
    pub fn trial(&self) -> String {
        format!("{} {}", self.row.join(" "), self.title)
    }

    fn check_names(&self) -> Result<(), RowError> {
        let known: BTreeSet<String> = known_rows().into_iter().map(|it| it.id).collect();
        if self.row.is_empty() {
            return Err(RowError::Rowless);
        }
        let unknown = self.row.iter().find(|it| !known.contains(*it));
        unknown.map_or(Ok(()), |it| Err(RowError::Unknown(it.clone())))
    }

    fn check_kind(&self) -> Result<(), RowError> {
        let has = (
            !self.steps.is_empty(),
            self.pinned_by.is_some(),
            self.not_served.is_some(),
        );
        match has {
            (true, false, false) | (false, true, false) | (false, false, true) => Ok(()),
            (false, false, false) => Err(RowError::Kind("none")),
            (_, _, _) => Err(RowError::Kind("several")),
        }
    }

    fn check_streams(&self) -> Result<(), RowError> {
        let mut open = BTreeSet::new();
        for (number, step) in (1..).zip(&self.steps) {
            let unknown = |open: &BTreeSet<&String>, what, stream: &String| RowError::Stream {
                step: number,
                what,
                stream: stream.clone(),
                open: open
                    .iter()
                    .map(|it| it.as_str())
                    .collect::<Vec<_>>()
                    .join(", "),
            };
            for stream in &step.close {
                if !open.remove(stream) {
                    return Err(unknown(&open, "closes", stream));
                }
            }
            for stream in step.open.keys() {
                if !open.insert(stream) {
                    let stream = stream.clone();
                    return Err(RowError::Twice {
                        step: number,
                        stream,
                    });
                }
            }
            if let Some(stream) = step.expect.keys().find(|it| !open.contains(it)) {
                return Err(unknown(&open, "expects something of", stream));
            }
        }
        Ok(())
    }
}

fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let names = match Value::deserialize(deserializer)? {
        Value::Array(values) => values.iter().map(text).collect(),
        value => text(&value).map(|it| vec![it]),
    };
    names.ok_or_else(|| D::Error::custom("`row` is the name of a row, or a list of names"))
}

impl<'de> Deserialize<'de> for Expected {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items = match Value::deserialize(deserializer)? {
            Value::Array(items) => items,
            Value::Null => Vec::new(),
            item => vec![item],
        };
        let items = items.into_iter().map(item).collect::<Result<_, _>>();
        items.map(Self).map_err(D::Error::custom)
    }
}

/// The fields of the messages of both methods.
const FIELDS: [&str; 11] = [
    "add",
    "remove",
    "no_endpoints",
    "fully_qualified_name",
    "opaque_protocol",
    "routes",
    "retry_budget",
    "dst_overrides",
    "endpoint",
    "parent_ref",
    "profile_ref",
];

fn item(value: Value) -> Result<ExpectedItem, String> {
    let Value::Object(fields) = &value else {
        return Err(format!("a message or an end is expected, not {value}"));
    };
    if let Some(code) = fields.get("end") {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let is_other = fields.keys().any(|key| key != "end" && key != "text");
        return match (text(code), fields.get("text").map(text), is_other) {
            (Some(code), None, false) => Ok(ExpectedItem::End { code, text: None }),
            (Some(code), Some(Some(text)), false) => Ok(ExpectedItem::End {
                code,
                text: Some(text),
            }),
            (_, _, _) => Err(format!(
                "an end has `end: CODE` and perhaps `text`, not {value}"
            )),
        };
    }
    let unknown = fields.keys().find(|key| !FIELDS.contains(&key.as_str()));
    match unknown {
        Some(key) => Err(format!(
            "`{key}` is no field of a message; known are `end`, {}",
            FIELDS.map(|it| format!("`{it}`")).join(", ")
        )),
        None => Ok(ExpectedItem::Message(value)),
    }
}

#[cfg(test)]
mod tests;
