//! Why an object as a whole says nothing usable.

use lockstep_model::{FactKey, FactKind};

use super::field::Fault;

/// Why an object as a whole says nothing usable.
///
/// The variants split on what a watch may do: with a [`key`](Self::key) the object is
/// known and says nothing any more; without one, nothing is known about which object
/// speaks or what it means, so nothing is concluded from it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// A field has a type that the API schema does not allow.
    #[error("{kind} {name} cannot be decoded: {reason}")]
    Undecodable {
        /// The kind that was expected.
        kind: FactKind,
        /// Namespace and name as far as they can be read, else `?`.
        name: String,
        /// What the decoder says.
        reason: String,
    },
    /// `metadata.name` is absent or empty.
    #[error("an object of {kind} has no metadata.name")]
    Nameless {
        /// The kind that was expected.
        kind: FactKind,
    },
    /// `metadata.namespace` is absent or empty, for a kind that lives in namespaces.
    #[error("{kind} {name} has no metadata.namespace")]
    NoNamespace {
        /// The kind that was expected.
        kind: FactKind,
        /// Its name.
        name: String,
    },
    /// A slice that belongs to no service.
    #[error(
        "{key} belongs to no service: it has neither the label `kubernetes.io/service-name` \
         nor an owner reference of kind Service"
    )]
    NoService {
        /// The slice.
        key: FactKey,
    },
    /// A slice of addresses that are not IP addresses.
    #[error("{key} has addresses of type `{found}`; allowed are `IPv4` and `IPv6`")]
    AddressType {
        /// The slice.
        key: FactKey,
        /// What it says: `FQDN`, or anything else.
        found: String,
    },
    /// A custom resource that is not what its kind prescribes.
    #[error("{key} is invalid: {place}: {reason}")]
    Invalid {
        /// The object.
        key: FactKey,
        /// Where the first fault stands: `spec.routes[2].condition`.
        place: String,
        /// What must be so, or is not.
        reason: String,
    },
}

impl Unusable {
    pub(super) fn invalid(key: FactKey, fault: Fault) -> Self {
        let Fault { place, reason } = fault;
        Self::Invalid { key, place, reason }
    }

    /// The object, if it could be decoded: it exists, and says nothing usable.
    #[must_use]
    pub const fn key(&self) -> Option<&FactKey> {
        match self {
            Self::NoService { key } | Self::AddressType { key, .. } | Self::Invalid { key, .. } => {
                Some(key)
            }
            Self::Undecodable { .. } | Self::Nameless { .. } | Self::NoNamespace { .. } => None,
        }
    }

    /// The reason as a metric label; one of six.
    #[must_use]
    pub const fn label(&self) -> &'static str {
        match self {
            Self::Undecodable { .. } => "undecodable",
            Self::Nameless { .. } => "nameless",
            Self::NoNamespace { .. } => "no_namespace",
            Self::NoService { .. } => "no_service",
            Self::AddressType { .. } => "address_type",
            Self::Invalid { .. } => "invalid",
        }
    }
}
