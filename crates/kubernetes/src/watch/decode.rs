//! The answers of the API server, decoded object by object.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Status;
use lockstep_model::{Cursor, FactKey, FactKind};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{failure::Failure, machine::Told, page::Page};
use crate::convert::{Envelope, Skipped, Unusable, from_json};

/// What was found wrong with objects on the way.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Complaints {
    /// Objects that say nothing usable.
    pub(crate) unusable: Vec<Unusable>,
    /// Parts that were left out, with their objects.
    pub(crate) skipped: Vec<(FactKey, Skipped)>,
}

/// One line of a watch.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    /// An event.
    Told(Told),
    /// An `ERROR` event: the server ends the watch.
    Failed(Failure),
}

/// Why an answer as a whole could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unreadable {
    /// It is not what it should be.
    #[error("the answer is not readable")]
    Json(#[from] serde_json::Error),
    /// A list, a bookmark or an object does not say when it was true.
    #[error("the {0} has no resourceVersion")]
    NoVersion(&'static str),
    /// An event of a type that no version of the API knows.
    #[error("the event type `{0}` is unknown; known are ADDED, MODIFIED, DELETED, BOOKMARK, ERROR")]
    Type(String),
}

#[derive(Deserialize)]
struct RawPage<'a> {
    #[serde(default)]
    metadata: PageMetadata,
    #[serde(default, borrow)]
    items: Option<Vec<&'a RawValue>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PageMetadata {
    resource_version: Option<String>,
    #[serde(rename = "continue")]
    token: Option<String>,
}

#[derive(Deserialize)]
struct RawEvent<'a> {
    r#type: String,
    #[serde(borrow)]
    object: &'a RawValue,
}

/// Decodes one page of a list.
///
/// # Errors
///
/// The page as a whole is unreadable; a bad object on it is only a complaint, and named
/// as unread if it has a name: it was not deleted.
pub(crate) fn page(kind: FactKind, body: &[u8]) -> Result<(Page, Complaints), Unreadable> {
    let raw: RawPage = serde_json::from_slice(body)?;
    let version = raw
        .metadata
        .resource_version
        .filter(|version| !version.is_empty());
    let cursor = version.ok_or(Unreadable::NoVersion("list"))?;
    let items = raw.items.unwrap_or_default();
    let mut complaints = Complaints::default();
    let mut facts = Vec::with_capacity(items.len());
    let mut unread = Vec::new();
    for item in items {
        match from_json(kind, item.get()) {
            Ok(converted) => {
                complaints.skip(&converted.key, converted.skipped);
                facts.push((converted.key, converted.fact));
            }
            Err(unusable) => {
                if unusable.key().is_none() {
                    unread.extend(named(kind, item.get()));
                }
                complaints.unusable.push(unusable);
            }
        }
    }
    let page = Page {
        facts,
        unread,
        cursor: Cursor(cursor.into()),
        next: raw.metadata.token.filter(|token| !token.is_empty()),
    };
    Ok((page, complaints))
}

/// Decodes one line of a watch.
///
/// # Errors
///
/// The line is no event; an event about a bad object is only a complaint.
pub(crate) fn line(kind: FactKind, line: &[u8]) -> Result<(Line, Complaints), Unreadable> {
    let event: RawEvent = serde_json::from_slice(line)?;
    let object = event.object.get();
    let mut complaints = Complaints::default();
    let line = match event.r#type.as_str() {
        "ADDED" | "MODIFIED" => Line::Told(changed(kind, object, &mut complaints)?),
        "DELETED" => Line::Told(deleted(kind, object, &mut complaints)?),
        "BOOKMARK" => {
            let envelope: Envelope = serde_json::from_str(object)?;
            let at = cursor(&envelope).ok_or(Unreadable::NoVersion("bookmark"))?;
            Line::Told(Told::Bookmark(at))
        }
        "ERROR" => Line::Failed(Failure::from_status(&serde_json::from_str::<Status>(
            object,
        )?)),
        other => return Err(Unreadable::Type(other.to_owned())),
    };
    Ok((line, complaints))
}

fn changed(kind: FactKind, object: &str, into: &mut Complaints) -> Result<Told, Unreadable> {
    let at = serde_json::from_str(object)
        .ok()
        .and_then(|envelope| cursor(&envelope));
    match from_json(kind, object) {
        Ok(converted) => {
            into.skip(&converted.key, converted.skipped);
            Ok(Told::Changed {
                key: converted.key,
                fact: Some(Box::new(converted.fact)),
                cursor: at.ok_or(Unreadable::NoVersion("object"))?,
            })
        }
        Err(unusable) => {
            let known = unusable.key().cloned();
            into.unusable.push(unusable);
            match known {
                Some(key) => Ok(Told::Changed {
                    key,
                    fact: None,
                    cursor: at.ok_or(Unreadable::NoVersion("object"))?,
                }),
                None => Ok(Told::Undecodable(at)),
            }
        }
    }
}

/// Of a deleted object only the name matters, however bad the rest is.
fn deleted(kind: FactKind, object: &str, into: &mut Complaints) -> Result<Told, Unreadable> {
    let envelope: Envelope = serde_json::from_str(object)?;
    let at = cursor(&envelope).ok_or(Unreadable::NoVersion("object"))?;
    match envelope.key(kind) {
        Ok(key) => Ok(Told::Changed {
            key,
            fact: None,
            cursor: at,
        }),
        Err(unusable) => {
            into.unusable.push(unusable);
            Ok(Told::Undecodable(Some(at)))
        }
    }
}

/// Which object this is, however bad the rest of it.
fn named(kind: FactKind, object: &str) -> Option<FactKey> {
    let envelope: Envelope = serde_json::from_str(object).ok()?;
    envelope.key(kind).ok()
}

fn cursor(envelope: &Envelope) -> Option<Cursor> {
    envelope
        .resource_version()
        .map(|version| Cursor(version.into()))
}

impl Complaints {
    fn skip(&mut self, key: &FactKey, skipped: Vec<Skipped>) {
        let named = skipped.into_iter().map(|skipped| (key.clone(), skipped));
        self.skipped.extend(named);
    }
}

#[cfg(test)]
mod tests;
