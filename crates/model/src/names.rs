//! Names of Kubernetes objects, one type for each kind that we tell apart.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Shared, immutable text: a name, a label value, a zone.
pub type Text = Arc<str>;

/// The name of a Kubernetes node (never a replica: a node is a machine).
pub type NodeName = Text;

macro_rules! namespaced {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name {
            /// The namespace of the object.
            pub namespace: Text,
            /// The name of the object in its namespace.
            pub name: Text,
        }

        impl $name {
            /// Names the object `name` in `namespace`.
            #[must_use]
            pub fn named(namespace: &str, name: &str) -> Self {
                Self { namespace: namespace.into(), name: name.into() }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}/{}", self.namespace, self.name)
            }
        }
    };
}

namespaced! {
    /// Names a Service. Prints as `namespace/name`.
    ServiceId
}
namespaced! {
    /// Names an EndpointSlice. Prints as `namespace/name`.
    SliceId
}
namespaced! {
    /// Names a Pod. Prints as `namespace/name`.
    PodId
}
namespaced! {
    /// Names an ExternalWorkload. Prints as `namespace/name`.
    ExternalWorkloadId
}
namespaced! {
    /// Names a ServiceProfile. Prints as `namespace/name`.
    ServiceProfileId
}
