//! Objects, lists and watch events as JSON.

use bytes::{BufMut, Bytes, BytesMut};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::kind::Origin;
use crate::refusal::Refusal;
use crate::resource::Resource;
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
    /// Replaces the object's own.
    api_version: Option<&'a Value>,
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
            (View::Whole, Types::Written) => match self.api_version {
                None => self.object.serialize(serializer),
                Some(api_version) => {
                    let fields = self.object.as_object().into_iter().flatten();
                    serializer.collect_map(fields.map(|(field, value)| match field.as_str() {
                        "apiVersion" => (field, api_version),
                        _ => (field, value),
                    }))
                }
            },
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
pub(super) fn object(resource: Resource, object: &Value, view: View) -> Bytes {
    json_bytes(&Shown {
        object,
        view,
        types: Types::Written,
        api_version: other_version(resource).as_ref(),
    })
}

/// `apiVersion` of the objects, where it is not the stored one.
fn other_version(resource: Resource) -> Option<Value> {
    (!resource.is_stored()).then(|| resource.api_version().into())
}

/// A list, whole or one page.
pub(super) fn list(resource: Resource, listing: &Listing, view: View) -> Bytes {
    let Resource { kind, .. } = resource;
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
    let other_version = other_version(resource);
    let is_null = view == View::Metadata && listing.items.is_empty();
    let items = listing
        .items
        .iter()
        .map(|object| Shown {
            object,
            view,
            types,
            api_version: other_version.as_ref(),
        })
        .collect();
    let (list_kind, api_version) = match view {
        View::Whole => (format!("{}List", kind.kind), resource.api_version()),
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
pub(super) fn events(resource: Resource, events: &[WatchEvent], view: View) -> Bytes {
    let mut lines = BytesMut::new();
    let whole = |shown: &Value| object(resource, shown, view);
    for event in events {
        match event {
            WatchEvent::Added(shown) => line(&mut lines, "ADDED", &whole(shown)),
            WatchEvent::Modified(shown) => line(&mut lines, "MODIFIED", &whole(shown)),
            WatchEvent::Deleted(shown) => line(&mut lines, "DELETED", &whole(shown)),
            WatchEvent::Bookmark(revision) => {
                let mark = bookmark(resource, json!({"resourceVersion": revision.to_string()}));
                line(&mut lines, "BOOKMARK", &whole(&mark));
            }
            WatchEvent::InitialEnd(revision) => {
                let mark = bookmark(
                    resource,
                    json!({
                        "resourceVersion": revision.to_string(),
                        "annotations": {"k8s.io/initial-events-end": "true"},
                    }),
                );
                line(&mut lines, "BOOKMARK", &whole(&mark));
            }
        }
    }
    lines.freeze()
}

/// The error that ends a watch.
pub(super) fn error_event(refusal: &Refusal) -> Bytes {
    let mut lines = BytesMut::new();
    line(&mut lines, "ERROR", &json_bytes(&refusal.status()));
    lines.freeze()
}

/// Any JSON. Texts, numbers and maps keyed by text always serialise.
pub(super) fn json_bytes(value: &impl Serialize) -> Bytes {
    serde_json::to_vec(value)
        .map(Bytes::from)
        .unwrap_or_default()
}

fn bookmark(resource: Resource, metadata: Value) -> Value {
    json!({
        "kind": resource.kind.kind, "apiVersion": resource.api_version(), "metadata": metadata,
    })
}

fn line(lines: &mut BytesMut, name: &str, shown: &Bytes) {
    lines.put_slice(b"{\"type\":\"");
    lines.put_slice(name.as_bytes());
    lines.put_slice(b"\",\"object\":");
    lines.put_slice(shown);
    lines.put_slice(b"}\n");
}
