//! Who a pod is said to belong to: the owner of its owner, where that means more.
//!
//! Source: Linkerd's metric labels, spec rule A8.11.

use lockstep_model::{FactKey, FactKind, Owner, OwnerRef, PodFact, PodId, Text};

use crate::facts::{Facts, key};

/// The kinds of owner that say more than their ReplicaSet.
const ABOVE_REPLICA_SETS: [&str; 4] = ["Job", "StatefulSet", "DaemonSet", "Deployment"];

/// The kind of fact that tells who owns this owner, if we follow it.
pub(crate) fn owner_kind(owner: &OwnerRef) -> Option<FactKind> {
    match owner.kind.as_ref() {
        "ReplicaSet" => Some(FactKind::ReplicaSet),
        "Job" => Some(FactKind::Job),
        _ => None,
    }
}

/// Resolves the owner of a pod as far up as the labels go.
pub(crate) fn resolve(id: &PodId, pod: &PodFact, facts: &Facts) -> Owner {
    let Some(owner) = &pod.owner else {
        return Owner {
            label: "pod".into(),
            name: id.name.clone(),
        };
    };
    let above = owner_kind(owner)
        .map(|kind| key(kind, &id.namespace, &owner.name))
        .and_then(|key| above(&key, facts));
    labelled(above.unwrap_or(owner))
}

fn above<'facts>(key: &FactKey, facts: &'facts Facts) -> Option<&'facts OwnerRef> {
    let above = facts.owner(key)?.owner.as_ref()?;
    let named = key.kind != FactKind::ReplicaSet || ABOVE_REPLICA_SETS.contains(&&*above.kind);
    named.then_some(above)
}

fn labelled(owner: &OwnerRef) -> Owner {
    Owner {
        label: label(&owner.kind),
        name: owner.name.clone(),
    }
}

/// A Job's label is not its kind: `job` is taken by Prometheus.
fn label(kind: &str) -> Text {
    match kind.to_lowercase().as_str() {
        "job" => "k8s_job".into(),
        lower => lower.into(),
    }
}

#[cfg(test)]
mod tests;
