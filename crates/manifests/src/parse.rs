//! The text of one file becomes objects and complaints. Pure.

mod document;

use lockstep_kubernetes::convert::{Converted, from_value};
use lockstep_model::{Fact, FactKey, FactKind};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

use crate::kind::{DocumentKind, document_kind};
use document::{Document, json_documents, yaml_documents};

/// The namespace of an object that names none, as for `kubectl apply`.
const DEFAULT_NAMESPACE: &str = "default";

/// As an API server refuses it: what is larger would not fit into an entry of the log.
const OBJECT_BYTES_MAX: usize = 3 * 512 * 1024;

// Reduced to a fact an object only becomes smaller.
const _: () = assert!(OBJECT_BYTES_MAX < lockstep_model::ENTRY_BYTES_MAX);

/// How a file is written, by the end of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// `.yaml` or `.yml`.
    Yaml,
    /// `.json`.
    Json,
}

/// Something wrong at a line, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Complaint {
    pub(crate) line: u64,
    pub(crate) reason: String,
}

/// What a file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Parsed {
    /// Its usable objects, each with the line where its document begins.
    pub(crate) objects: BTreeMap<FactKey, (u64, Fact)>,
    /// Objects that cannot be decoded: nothing is concluded from them.
    pub(crate) undecodable: BTreeSet<FactKey>,
    /// What is wrong, in the order of the file.
    pub(crate) complaints: Vec<Complaint>,
}

/// Reads every document of a file.
///
/// # Errors
///
/// The text is not YAML or JSON, so that nothing is known of what follows the fault. An
/// object that is bad by itself is only a complaint.
pub(crate) fn parse(format: Format, text: &str) -> Result<Parsed, Complaint> {
    let documents = match format {
        Format::Yaml => yaml_documents(text)?,
        Format::Json => json_documents(text)?,
    };
    let mut parsed = Parsed::default();
    for document in documents {
        parsed.read(document);
    }
    Ok(parsed)
}

impl Parsed {
    fn read(&mut self, document: Document) {
        let Document { line, value } = document;
        let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        if kind.is_empty() {
            let reason = "this is no Kubernetes object: it has no `kind`";
            return self.complain(line, reason.to_owned());
        }
        match document_kind(api_version, kind) {
            DocumentKind::Watched(kind) => self.object(line, kind, value),
            DocumentKind::List => self.list(line, value),
            DocumentKind::OtherVersion(known) => {
                let reason =
                    format!("{kind} of apiVersion `{api_version}` is not read; use `{known}`");
                self.complain(line, reason);
            }
            DocumentKind::Unwatched => tracing::debug!(line, kind, "kind is not watched"),
        }
    }

    fn list(&mut self, line: u64, mut list: Value) {
        match list.get_mut("items").map(Value::take) {
            Some(Value::Array(items)) => {
                for value in items {
                    self.read(Document { line, value });
                }
            }
            Some(Value::Null) | None => {}
            Some(_) => self.complain(line, "`items` of this List is not a list".to_owned()),
        }
    }

    fn object(&mut self, line: u64, kind: FactKind, mut value: Value) {
        if kind != FactKind::Node {
            set_default_namespace(&mut value);
        }
        let named = named(kind, &value);
        let bytes = value.to_string().len();
        if bytes > OBJECT_BYTES_MAX {
            self.undecodable.extend(named);
            let reason = format!(
                "an object of {bytes} bytes; an API server stores at most {OBJECT_BYTES_MAX}"
            );
            return self.complain(line, reason);
        }
        match from_value(kind, value) {
            Ok(converted) => self.keep(line, converted),
            Err(unusable) => {
                self.complain(line, unusable.to_string());
                if unusable.key().is_none() {
                    self.undecodable.extend(named);
                }
            }
        }
    }

    fn keep(&mut self, line: u64, converted: Converted) {
        let Converted { key, fact, skipped } = converted;
        for skipped in skipped {
            self.complain(line, format!("{key}: {skipped}"));
        }
        if let Some((first, _)) = self.objects.get(&key) {
            let reason = format!("{key} stands already at line {first}, which is in force");
            return self.complain(line, reason);
        }
        self.objects.insert(key, (line, fact));
    }

    fn complain(&mut self, line: u64, reason: String) {
        self.complaints.push(Complaint { line, reason });
    }
}

fn set_default_namespace(object: &mut Value) {
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        let namespace = metadata.get("namespace").and_then(Value::as_str);
        if namespace.unwrap_or_default().is_empty() {
            metadata.insert("namespace".to_owned(), DEFAULT_NAMESPACE.into());
        }
    }
}

/// Names an object that may be bad in everything but its name.
fn named(kind: FactKind, object: &Value) -> Option<FactKey> {
    let metadata = object.get("metadata")?;
    let name = metadata.get("name")?.as_str()?;
    let namespace = match kind {
        FactKind::Node => "",
        FactKind::ReplicaSet
        | FactKind::Job
        | FactKind::Pod
        | FactKind::Service
        | FactKind::EndpointSlice
        | FactKind::ServiceProfile
        | FactKind::Server
        | FactKind::ExternalWorkload => metadata.get("namespace")?.as_str()?,
    };
    Some(FactKey::named(kind, namespace, name))
}

#[cfg(test)]
mod tests;
