//! Who owns a pod, as far up as Linkerd's metrics want it (A8.11).

use serde_json::Value;

use super::{Cluster, Kind, ObjectKey, json::text};
use crate::{Name, Owner};

impl Cluster {
    /// The owner of a pod.
    pub(super) fn owner_of_pod(&self, name: &Name, pod: &Value) -> Owner {
        let Some((kind, owner)) = single_owner(pod) else {
            return named("pod", &name.name);
        };
        match kind {
            "ReplicaSet" => self
                .above(Kind::ReplicaSet, name, owner)
                .filter(|(kind, _)| {
                    ["Job", "StatefulSet", "DaemonSet", "Deployment"].contains(kind)
                })
                .map_or_else(
                    || named("replicaset", owner),
                    |(kind, name)| of_kind(kind, name),
                ),
            "Job" => self.above(Kind::Job, name, owner).map_or_else(
                || named("k8s_job", owner),
                |(kind, name)| of_kind(kind, name),
            ),
            kind => of_kind(kind, owner),
        }
    }

    /// The single owner of the object that owns a pod.
    fn above(&self, kind: Kind, pod: &Name, owner: &str) -> Option<(&str, &str)> {
        let key = ObjectKey::new(kind, &pod.namespace, owner);
        single_owner(self.object(&key)?)
    }
}

/// Kind and name of the only owner, if there is exactly one.
pub(super) fn single_owner(object: &Value) -> Option<(&str, &str)> {
    let owners = object.pointer("/metadata/ownerReferences")?.as_array()?;
    match owners.as_slice() {
        [owner] => Some((text(owner, "/kind")?, text(owner, "/name")?)),
        _ => None,
    }
}

/// An owner of a kind as objects spell it.
fn of_kind(kind: &str, name: &str) -> Owner {
    let label = kind.to_lowercase();
    named(if label == "job" { "k8s_job" } else { &label }, name)
}

fn named(label: &str, name: &str) -> Owner {
    Owner {
        label: label.into(),
        name: name.into(),
    }
}
