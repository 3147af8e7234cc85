//! The documents of a file, before anybody asks what they are.

use serde_json::Value;
use serde_saphyr::{Error, Spanned, UserMessageFormatter};

use super::Complaint;

/// One document, and the line where it begins.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Document {
    pub(super) line: u64,
    pub(super) value: Value,
}

/// The documents of a YAML text; empty ones are left out.
pub(super) fn yaml_documents(text: &str) -> Result<Vec<Document>, Complaint> {
    let options = serde_saphyr::options! { with_snippet: false, strict_booleans: true };
    let documents: Result<Vec<Spanned<Value>>, Error> =
        serde_saphyr::from_multiple_with_options(text, options);
    let documents = documents.map_err(|error| Complaint {
        line: error.location().map_or(1, |location| location.line()),
        reason: format!(
            "this is no YAML: {}",
            error.render_with_formatter(&UserMessageFormatter)
        ),
    })?;
    let documents = documents.into_iter().map(|document| Document {
        line: document.defined.line(),
        value: document.value,
    });
    Ok(documents.collect())
}

/// The documents of a JSON text, one after the other.
pub(super) fn json_documents(text: &str) -> Result<Vec<Document>, Complaint> {
    let mut documents = Vec::new();
    let mut rest = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    loop {
        let line = line_at(text, rest.byte_offset());
        match rest.next() {
            Some(Ok(value)) => documents.push(Document { line, value }),
            Some(Err(error)) => {
                return Err(Complaint {
                    line: u64::try_from(error.line()).unwrap_or(u64::MAX).max(1),
                    reason: format!("this is no JSON: {error}"),
                });
            }
            None => return Ok(documents),
        }
    }
}

/// The line of the first text at or after a place.
fn line_at(text: &str, offset: usize) -> u64 {
    let (before, after) = text.split_at_checked(offset).unwrap_or((text, ""));
    let blank = after.len() - after.trim_start().len();
    let blank = after.get(..blank).unwrap_or_default();
    let ends = before
        .bytes()
        .chain(blank.bytes())
        .filter(|byte| *byte == b'\n');
    ends.fold(1, |line, _| line + 1)
}
