//! Runs a row against a real server.

use serde_json::Value;
use std::collections::BTreeMap;

use super::{Expected, ExpectedItem, Row, RowStep, SettingsError, settings};
use crate::{
    board::Board,
    corpus::End,
    difference,
    fold::socket_in_json,
    mesh::{Mesh, MeshError},
    serve::Served,
    shorthand,
    streams::{Heard, Streams},
    yaml::{self, YamlError},
};

/// Why a row is not kept, or could not be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowFailure {
    /// `settings` is wrong.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// `objects` is no list and no text of YAML documents.
    #[error("`objects` is not what it should be: {0}")]
    Objects(#[from] YamlError),
    /// An object is none, or an edit cannot be made.
    #[error("{place}: {source}")]
    Edit {
        /// Before the steps, or in which.
        place: String,
        /// Why.
        source: MeshError,
    },
    /// Streams were told something else.
    #[error(
        "{place}: told otherwise than expected (- expected, + told)\n{differences}\n\
             every message of this step, to paste where it is right:\n\n{told}"
    )]
    Told {
        /// In which step.
        place: String,
        /// What differs, stream by stream.
        differences: String,
        /// What all streams were told.
        told: String,
    },
    /// A stream was told what no good server says.
    #[error("{place}: what no good server sends: {violations}")]
    Violations {
        /// In which step.
        place: String,
        /// By stream.
        violations: String,
    },
}

/// Runs the steps of a row, to the end even if one of them is not kept; call within a
/// runtime.
///
/// # Errors
///
/// Every step whose messages are not exactly those that are expected.
pub async fn run(row: &Row) -> Result<(), Vec<RowFailure>> {
    let mut mesh = mesh(row).map_err(|failure| vec![failure])?;
    let board = Board::with(Vec::new());
    board.change(mesh.commit());
    let served = Served::of(board).await;
    let mut streams = Streams::to(&served).await;
    let mut failures = Vec::new();
    for (number, step) in (1..).zip(&row.steps) {
        let place = format!("step {number} ({})", step.note);
        if let Err(failure) = edit(&mut mesh, step, &place) {
            failures.push(failure);
            break;
        }
        let commands = mesh.commit();
        if !commands.is_empty() {
            served.board.change(commands);
        }
        carry_out(step, &mut streams).await;
        failures.extend(compare(&place, &step.expect, &streams.take()));
        failures.extend(violations(&place, &streams));
    }
    if failures.is_empty() {
        Ok(())
    } else {
        Err(failures)
    }
}

fn mesh(row: &Row) -> Result<Mesh, RowFailure> {
    let objects = objects(&row.objects)?;
    let mesh = Mesh::new(settings(&row.settings)?, objects);
    mesh.map_err(|source| RowFailure::Edit {
        place: "before the steps".to_owned(),
        source,
    })
}

/// Closes and opens streams, each time when there is nothing left to be said.
async fn carry_out(step: &RowStep, streams: &mut Streams<'_>) {
    streams.settle().await;
    step.close.iter().for_each(|name| streams.close(name));
    for (name, opening) in &step.open {
        let (path, token) = (&opening.path, &opening.token);
        streams.open(name, opening.method, path, token).await;
    }
    streams.settle().await;
}

fn violations(place: &str, streams: &Streams<'_>) -> Option<RowFailure> {
    let violations = streams.violations();
    (!violations.is_empty()).then(|| RowFailure::Violations {
        place: place.to_owned(),
        violations: format!("{violations:?}"),
    })
}

fn edit(mesh: &mut Mesh, step: &RowStep, place: &str) -> Result<(), RowFailure> {
    for edit in &step.edits {
        mesh.edit(edit.clone()).map_err(|source| RowFailure::Edit {
            place: place.to_owned(),
            source,
        })?;
    }
    Ok(())
}

fn objects(value: &Value) -> Result<Vec<Value>, YamlError> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(objects) => Ok(objects.clone()),
        Value::String(text) => yaml::documents(text),
        other => {
            let text = format!("a list or a text of documents is expected, not {other}");
            Err(YamlError(text))
        }
    }
}

fn compare(
    place: &str,
    expected: &BTreeMap<String, Expected>,
    told: &BTreeMap<String, Vec<Heard>>,
) -> Option<RowFailure> {
    let differences = told.iter().filter_map(|(stream, heard)| {
        let items = expected.get(stream).map_or(&[][..], |it| it.0.as_slice());
        let difference = difference(items, heard)?;
        Some(format!("stream `{stream}`: {difference}"))
    });
    let differences: String = differences.collect();
    (!differences.is_empty()).then(|| RowFailure::Told {
        place: place.to_owned(),
        differences,
        told: to_paste(told),
    })
}

fn difference(items: &[ExpectedItem], heard: &[Heard]) -> Option<String> {
    let wanted: Vec<Value> = items.iter().map(wanted).collect();
    let texts = items.iter().map(has_text).chain(std::iter::repeat(true));
    let heard = heard.iter().zip(texts);
    let heard: Vec<Value> = heard.map(|(it, text)| shown(it, text)).collect();
    match (wanted.len(), heard.len()) {
        (_, _) if wanted == heard => None,
        (0, some) => Some(format!("nothing is expected, {some} came\n")),
        (some, 0) => Some(format!("{some} are expected, nothing came\n")),
        (_, _) => {
            let picture = difference::of_values(&wanted.into(), &heard.into());
            Some(format!("\n{picture}"))
        }
    }
}

fn wanted(item: &ExpectedItem) -> Value {
    match item {
        ExpectedItem::Message(message) => {
            let mut message = message.clone();
            shorthand::expand(&mut message);
            readable(message)
        }
        ExpectedItem::End { code, text } => end(code, text.as_deref()),
    }
}

const fn has_text(item: &ExpectedItem) -> bool {
    match item {
        ExpectedItem::Message(_) => true,
        ExpectedItem::End { text, .. } => text.is_some(),
    }
}

fn shown(heard: &Heard, has_text: bool) -> Value {
    match heard {
        Heard::Message(message) => readable(message.clone()),
        Heard::End(End { code, message }) => end(code, has_text.then_some(message.as_str())),
    }
}

fn end(code: &str, text: Option<&str>) -> Value {
    let fields = [("end", Some(code)), ("text", text)].into_iter();
    let fields = fields.filter_map(|(name, text)| Some((name.to_owned(), text?.into())));
    Value::Object(fields.collect())
}

/// A message in whole form, with its addresses sorted and then written short.
fn readable(mut message: Value) -> Value {
    for pointer in ["/add/addrs", "/remove/addrs"] {
        if let Some(Value::Array(addrs)) = message.pointer_mut(pointer) {
            addrs.sort_by_key(|it| socket_in_json(it.get("addr").unwrap_or(it)));
        }
    }
    shorthand::contract(&mut message);
    message
}

fn to_paste(told: &BTreeMap<String, Vec<Heard>>) -> String {
    let mut text = "  expect:\n".to_owned();
    for (stream, heard) in told.iter().filter(|(_, heard)| !heard.is_empty()) {
        text.push_str(&format!("    {stream}:\n"));
        for item in heard {
            let item = yaml::write(&shown(item, true));
            for (number, line) in item.lines().enumerate() {
                let lead = if number == 0 { "    - " } else { "      " };
                text.push_str(&format!("{lead}{line}\n"));
            }
        }
    }
    text
}

#[cfg(test)]
mod tests;
