//! Which object.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

use crate::Text;

/// The kinds of object that an answer to `Get` can depend on.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// `v1` Node.
    Node,
    /// `apps/v1` ReplicaSet.
    ReplicaSet,
    /// `batch/v1` Job.
    Job,
    /// `v1` Pod.
    Pod,
    /// `v1` Service.
    Service,
    /// `discovery.k8s.io/v1` EndpointSlice.
    EndpointSlice,
    /// `policy.linkerd.io` Server.
    Server,
    /// `workload.linkerd.io` ExternalWorkload.
    ExternalWorkload,
}

/// Names one object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjectKey {
    /// The kind.
    pub kind: Kind,
    /// The namespace; empty for a Node.
    #[serde(default)]
    pub namespace: Text,
    /// The name.
    pub name: Text,
}

/// Why a JSON value names no object of a kind that matters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no kind with `metadata.name`; allowed are Node, ReplicaSet, Job, Pod, Service, \
     EndpointSlice, Server and ExternalWorkload"
)]
pub struct UnnamedObject(String);

// === impl ObjectKey ===

impl ObjectKey {
    /// Names an object.
    #[must_use]
    pub fn new(kind: Kind, namespace: &str, name: &str) -> Self {
        Self {
            kind,
            namespace: namespace.into(),
            name: name.into(),
        }
    }

    /// The key of an object, from its `kind` and `metadata`.
    ///
    /// # Errors
    ///
    /// [`UnnamedObject`] for another kind, or without a name.
    pub fn of(object: &Value) -> Result<Self, UnnamedObject> {
        let text = |path| object.pointer(path).and_then(Value::as_str);
        let kind = object.get("kind").cloned().unwrap_or_default();
        let unnamed = || UnnamedObject(text("/kind").unwrap_or("nothing").to_owned());
        let kind: Kind = serde_json::from_value(kind).map_err(|_| unnamed())?;
        let name = text("/metadata/name").ok_or_else(unnamed)?;
        let namespace = text("/metadata/namespace").unwrap_or_default();
        Ok(Self::new(kind, namespace, name))
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}/{}", self.kind, self.namespace, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, ObjectKey};
    use serde_json::json;

    #[test]
    fn an_object_names_itself() {
        let pod = json!({"kind": "Pod", "metadata": {"namespace": "shop", "name": "web-1"}});
        assert_eq!(
            ObjectKey::of(&pod),
            Ok(ObjectKey::new(Kind::Pod, "shop", "web-1"))
        );
    }

    #[test]
    fn another_kind_and_a_missing_name_are_refused() {
        for object in [
            json!({"kind": "ConfigMap", "metadata": {"name": "a"}}),
            json!({"kind": "Pod"}),
        ] {
            assert!(ObjectKey::of(&object).is_err(), "{object}");
        }
    }
}
