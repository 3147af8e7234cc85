//! What every object has: a name, labels, owners.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use lockstep_model::{FactKey, FactKind, ObjectLabels, OwnerRef, Text};
use serde::Deserialize;

use super::Unusable;

/// An object of which only the metadata is read: `PartialObjectMetadata`, or any other.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Metadata {
    metadata: Option<ObjectMeta>,
}

impl Metadata {
    pub(super) fn into_inner(self) -> ObjectMeta {
        self.metadata.unwrap_or_default()
    }
}

/// The least that can be read of an object, even if the rest of it cannot.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Envelope {
    metadata: Option<EnvelopeMetadata>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct EnvelopeMetadata {
    name: Option<String>,
    namespace: Option<String>,
    resource_version: Option<String>,
}

impl Envelope {
    /// The object's resource version, if it has one.
    pub(crate) fn resource_version(&self) -> Option<&str> {
        given(self.metadata.as_ref()?.resource_version.as_deref())
    }

    /// Names the object.
    pub(crate) fn key(&self, kind: FactKind) -> Result<FactKey, Unusable> {
        let (namespace, name) = self.names();
        named(kind, namespace, name)
    }

    fn names(&self) -> (Option<&str>, Option<&str>) {
        let metadata = self.metadata.as_ref();
        let namespace = metadata.and_then(|metadata| metadata.namespace.as_deref());
        let name = metadata.and_then(|metadata| metadata.name.as_deref());
        (given(namespace), given(name))
    }

    /// Namespace and name for people, `?` where there is none.
    pub(crate) fn place(&self) -> String {
        match self.names() {
            (Some(namespace), name) => format!("{namespace}/{}", name.unwrap_or("?")),
            (None, name) => name.unwrap_or("?").to_owned(),
        }
    }
}

/// Names an object by its metadata.
pub(super) fn key(kind: FactKind, metadata: &ObjectMeta) -> Result<FactKey, Unusable> {
    named(
        kind,
        metadata.namespace.as_deref(),
        metadata.name.as_deref(),
    )
}

fn named(kind: FactKind, namespace: Option<&str>, name: Option<&str>) -> Result<FactKey, Unusable> {
    let name = given(name).ok_or(Unusable::Nameless { kind })?;
    let namespace = match kind {
        FactKind::Node => "",
        FactKind::ReplicaSet
        | FactKind::Job
        | FactKind::Pod
        | FactKind::Service
        | FactKind::EndpointSlice
        | FactKind::ServiceProfile
        | FactKind::Server
        | FactKind::ExternalWorkload => given(namespace).ok_or_else(|| Unusable::NoNamespace {
            kind,
            name: name.to_owned(),
        })?,
    };
    Ok(FactKey::named(kind, namespace, name))
}

/// The text, unless it is empty: Go writes an absent text as an empty one.
pub(super) fn given(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

/// The label, unless it is absent or empty.
pub(super) fn label(metadata: &ObjectMeta, name: &str) -> Option<Text> {
    let label = metadata.labels.as_ref()?.get(name)?;
    given(Some(label.as_str())).map(Text::from)
}

/// Every label.
pub(super) fn labels(metadata: &ObjectMeta) -> ObjectLabels {
    let labels = metadata.labels.iter().flatten();
    labels
        .map(|(key, value)| (key.as_str().into(), value.as_str().into()))
        .collect()
}

/// The annotation, even if it is empty.
pub(super) fn annotation<'a>(metadata: &'a ObjectMeta, name: &str) -> Option<&'a str> {
    metadata.annotations.as_ref()?.get(name).map(String::as_str)
}

/// The owner, if there is exactly one.
pub(super) fn single_owner(metadata: &ObjectMeta) -> Option<OwnerRef> {
    match metadata.owner_references.as_deref() {
        Some([owner]) => Some(OwnerRef {
            kind: owner.kind.as_str().into(),
            name: owner.name.as_str().into(),
        }),
        Some(_) | None => None,
    }
}
