//! Objects, lists and watch events as JSON.

use bytes::{BufMut, Bytes, BytesMut};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::kind::{Kind, Origin};
use crate::refusal::Refusal;
use crate::store::{Listing, WatchEvent};

/// How much of each object a client wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum View {
    Whole,
    /// `PartialObjectMetadata` of `meta.k8s.io/v1`.
    Metadata,
}

/// One object, as it is written.
struct Shown<'a> {
    object: &'a Value,
    view: View,
    types: Types,
}

/// Whether `kind` and `apiVersion` are written.
#[derive(Clone, Copy)]
enum Types {
    Written,
    /// In lists the real server leaves them out of the kinds compiled into it.
    LeftOut,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ShownList<'a> {
    kind: String,
    api_version: String,
    metadata: Value,
    /// Null when empty, in a list of metadata only: so the real server does.
    items: Option<Vec<Shown<'a>>>,
}

// === impl View ===

impl View {
    /// The view an `Accept` header asks for: the first that is served. A table
    /// is not; whoever asks for one also accepts the objects themselves.
    pub(super) fn parse(accept: &str) -> Result<Self, Refusal> {
        if accept.trim().is_empty() {
            return Ok(Self::Whole);
        }
        let view = |range: &str| {
            let mut parts = range.split(';').map(str::trim);
            let media = parts.next().unwrap_or_default();
            let form = parts.find_map(|part| part.strip_prefix("as="));
            match (media, form) {
                ("application/json" | "application/*" | "*/*", None) => Some(Self::Whole),
                (
                    "application/json",
                    Some("PartialObjectMetadata" | "PartialObjectMetadataList"),
                ) => Some(Self::Metadata),
                _ => None,
            }
        };
        accept
            .split(',')
            .find_map(view)
            .ok_or_else(Refusal::not_acceptable)
    }
}

// === impl Shown ===

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.view, self.types) {
            (View::Whole, Types::Written) => self.object.serialize(serializer),
            (View::Whole, Types::LeftOut) => {
                let fields = self.object.as_object().into_iter().flatten();
                let is_type = |field: &str| matches!(field, "kind" | "apiVersion");
                serializer.collect_map(fields.filter(|(field, _)| !is_type(field)))
            }
            (View::Metadata, _) => serializer.collect_map([
                ("kind", &json!("PartialObjectMetadata")),
                ("apiVersion", &json!("meta.k8s.io/v1")),
                (
                    "metadata",
                    self.object.get("metadata").unwrap_or(&Value::Null),
                ),
            ]),
        }
    }
}

/// One object.
pub(super) fn object(object: &Value, view: View) -> Bytes {
    json_bytes(&Shown {
        object,
        view,
        types: Types::Written,
    })
}

/// A list, whole or one page.
pub(super) fn list(kind: &Kind, listing: &Listing, view: View) -> Bytes {
    let mut metadata = json!({"resourceVersion": listing.revision.to_string()});
    if let Value::Object(fields) = &mut metadata {
        if let Some(token) = &listing.token {
            fields.insert("continue".to_owned(), token.as_str().into());
        }
        if let Some(remaining) = listing.remaining {
            fields.insert("remainingItemCount".to_owned(), remaining.into());
        }
    }
    let types = match kind.origin {
        Origin::BuiltIn => Types::LeftOut,
        Origin::Custom => Types::Written,
    };
    let is_null = view == View::Metadata && listing.items.is_empty();
    let items = listing
        .items
        .iter()
        .map(|object| Shown {
            object,
            view,
            types,
        })
        .collect();
    let (list_kind, api_version) = match view {
        View::Whole => (format!("{}List", kind.kind), kind.api_version()),
        View::Metadata => (
            "PartialObjectMetadataList".to_owned(),
            "meta.k8s.io/v1".to_owned(),
        ),
    };
    json_bytes(&ShownList {
        kind: list_kind,
        api_version,
        metadata,
        items: Some(items).filter(|_| !is_null),
    })
}

/// Watch events, one line each.
pub(super) fn events(kind: &Kind, events: &[WatchEvent], view: View) -> Bytes {
    let mut lines = BytesMut::new();
    for event in events {
        match event {
            WatchEvent::Added(object) => line(&mut lines, "ADDED", object, view),
            WatchEvent::Modified(object) => line(&mut lines, "MODIFIED", object, view),
            WatchEvent::Deleted(object) => line(&mut lines, "DELETED", object, view),
            WatchEvent::Bookmark(revision) => {
                let object = bookmark(kind, json!({"resourceVersion": revision.to_string()}));
                line(&mut lines, "BOOKMARK", &object, view);
            }
            WatchEvent::InitialEnd(revision) => {
                let object = bookmark(
                    kind,
                    json!({
                        "resourceVersion": revision.to_string(),
                        "annotations": {"k8s.io/initial-events-end": "true"},
                    }),
                );
                line(&mut lines, "BOOKMARK", &object, view);
            }
        }
    }
    lines.freeze()
}

/// The error that ends a watch.
pub(super) fn error_event(refusal: &Refusal) -> Bytes {
    let mut lines = BytesMut::new();
    line(&mut lines, "ERROR", &refusal.status(), View::Whole);
    lines.freeze()
}

/// Any JSON. Texts, numbers and maps keyed by text always serialise.
pub(super) fn json_bytes(value: &impl Serialize) -> Bytes {
    serde_json::to_vec(value)
        .map(Bytes::from)
        .unwrap_or_default()
}

fn bookmark(kind: &Kind, metadata: Value) -> Value {
    json!({"kind": kind.kind, "apiVersion": kind.api_version(), "metadata": metadata})
}

fn line(lines: &mut BytesMut, name: &str, shown: &Value, view: View) {
    lines.put_slice(b"{\"type\":\"");
    lines.put_slice(name.as_bytes());
    lines.put_slice(b"\",\"object\":");
    lines.put_slice(&object(shown, view));
    lines.put_slice(b"}\n");
}
