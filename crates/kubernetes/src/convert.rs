//! Kubernetes objects become facts, here and nowhere else.
//!
//! ```text
//! JSON ─decode─▶ typed object, or JSON value ─convert─▶ key, fact, what was skipped
//!                                                  or Unusable
//! ```
//!
//! Pure functions, one file a kind. An object is decoded by itself, so that a bad one
//! spoils no list and no watch. Two grades of bad: an object that is [`Unusable`] as a
//! whole, and parts of a good one that are left out ([`Skipped`]). Fields that the API
//! allows to be absent or null never fail.

mod address;
mod duration;
mod endpoint_slice;
mod external_workload;
mod field;
mod job;
mod metadata;
mod node;
mod pod;
mod port_list;
mod quantity;
mod replica_set;
mod selector;
mod server;
mod service;
mod service_profile;
mod skipped;
mod unusable;

use k8s_openapi::{
    api::{core::v1::Pod, discovery::v1::EndpointSlice},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use lockstep_model::{Fact, FactKey, FactKind};
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::Value;

pub(crate) use metadata::Envelope;
use metadata::Metadata;
use service::WithoutStatus;
pub use skipped::Skipped;
pub use unusable::Unusable;

/// An object that says something usable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Converted {
    /// Which object.
    pub key: FactKey,
    /// What it says.
    pub fact: Fact,
    /// The parts that were left out, in the order of the object.
    pub skipped: Vec<Skipped>,
}

/// Converts one object of `kind`, given as a JSON value.
///
/// # Errors
///
/// Why the object as a whole says nothing usable; see [`Unusable`].
pub fn from_value(kind: FactKind, object: Value) -> Result<Converted, Unusable> {
    let envelope = Envelope::deserialize(&object).unwrap_or_default();
    decode(kind, object).unwrap_or_else(|error| Err(undecodable(kind, &envelope, &error)))
}

/// Converts one object of `kind`, given as JSON text.
///
/// # Errors
///
/// Why the object as a whole says nothing usable; see [`Unusable`].
pub fn from_json(kind: FactKind, object: &str) -> Result<Converted, Unusable> {
    decode(kind, &mut serde_json::Deserializer::from_str(object)).unwrap_or_else(|error| {
        let envelope = serde_json::from_str(object).unwrap_or_default();
        Err(undecodable(kind, &envelope, &error))
    })
}

/// The outer error is the decoder's, the inner one ours.
fn decode<'de, D: Deserializer<'de>>(
    kind: FactKind,
    object: D,
) -> Result<Result<Converted, Unusable>, D::Error> {
    Ok(match kind {
        FactKind::Node => node::convert(&Metadata::deserialize(object)?.into_inner()),
        FactKind::ReplicaSet => replica_set::convert(&Metadata::deserialize(object)?.into_inner()),
        FactKind::Job => job::convert(&Metadata::deserialize(object)?.into_inner()),
        FactKind::Pod => pod::convert(&Pod::deserialize(object)?),
        FactKind::Service => service::convert(&WithoutStatus::deserialize(object)?.into()),
        FactKind::EndpointSlice => endpoint_slice::convert(&EndpointSlice::deserialize(object)?),
        FactKind::ServiceProfile => custom(kind, object, |key, _, object| {
            service_profile::convert(key, object)
        })?,
        FactKind::Server => custom(kind, object, |key, _, object| server::convert(key, object))?,
        FactKind::ExternalWorkload => custom(kind, object, external_workload::convert)?,
    })
}

/// Custom resources have no Rust type: they are read with the name known, so that a bad
/// one is still known to be this one.
fn custom<'de, D: Deserializer<'de>>(
    kind: FactKind,
    object: D,
    read: impl Fn(FactKey, &ObjectMeta, &Value) -> Result<Converted, Unusable>,
) -> Result<Result<Converted, Unusable>, D::Error> {
    let object = Value::deserialize(object)?;
    let metadata = Metadata::deserialize(&object).map_err(D::Error::custom)?;
    let metadata = metadata.into_inner();
    Ok(metadata::key(kind, &metadata).and_then(|key| read(key, &metadata, &object)))
}

/// An API server checks little of a custom resource, so that a bad one is its owner's
/// doing; a bad one of any other kind is a fault on the way, from which nothing follows.
fn undecodable(kind: FactKind, envelope: &Envelope, error: &dyn std::error::Error) -> Unusable {
    if kind.is_optional()
        && let Ok(key) = envelope.key(kind)
    {
        return Unusable::Invalid {
            key,
            place: "object".to_owned(),
            reason: error.to_string(),
        };
    }
    Unusable::Undecodable {
        kind,
        name: envelope.place(),
        reason: error.to_string(),
    }
}

#[cfg(test)]
mod tests;
