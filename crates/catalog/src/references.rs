//! Which objects have to be looked at again when another one changes.
//!
//! ```text
//! ReplicaSet, Job ◀── Pod ◀─────────────── EndpointSlice ──▶ Service
//!                      │                        │
//!                      ▼                        ▼
//!        all Servers of the namespace ◀── ExternalWorkload
//! ```
//!
//! The references in this picture, read backwards. They have no circle.

use lockstep_model::{Fact, FactKey, OwnerRef, TargetRef};
use std::collections::{BTreeMap, BTreeSet};

use crate::{
    facts::{Facts, external_workload_key, key, pod_key, service_key},
    owner::owner_kind,
    servers,
};

/// For each object, known or not, those that refer to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct References(BTreeMap<FactKey, BTreeSet<FactKey>>);

impl References {
    /// The references of all these facts.
    pub(crate) fn of(facts: &Facts) -> Self {
        let mut references = Self::default();
        for (key, fact) in facts.iter() {
            references.replace(key, None, Some(fact));
        }
        references
    }

    /// Who refers to both.
    pub(crate) fn to_both<'a>(
        &'a self,
        one: &FactKey,
        other: &FactKey,
    ) -> impl Iterator<Item = &'a FactKey> + use<'a> {
        let both = self.0.get(one).zip(self.0.get(other));
        both.into_iter()
            .flat_map(|(one, other)| one.intersection(other))
    }

    /// Notes that `from` said `old` and says `new` now.
    pub(crate) fn replace(&mut self, from: &FactKey, old: Option<&Fact>, new: Option<&Fact>) {
        let old = old.map(|fact| referred(from, fact)).unwrap_or_default();
        let new = new.map(|fact| referred(from, fact)).unwrap_or_default();
        for to in old.difference(&new) {
            self.remove(from, to);
        }
        for to in new.difference(&old) {
            self.0.entry(to.clone()).or_default().insert(from.clone());
        }
    }

    /// `touched`, and all that refers to any of it, directly or not.
    pub(crate) fn affected(&self, touched: &BTreeSet<FactKey>) -> BTreeSet<FactKey> {
        let mut affected = touched.clone();
        let mut next: Vec<&FactKey> = touched.iter().collect();
        while let Some(key) = next.pop() {
            for referrer in self.0.get(key).into_iter().flatten() {
                if affected.insert(referrer.clone()) {
                    next.push(referrer);
                }
            }
        }
        affected
    }

    fn remove(&mut self, from: &FactKey, to: &FactKey) {
        let Some(referrers) = self.0.get_mut(to) else {
            return;
        };
        referrers.remove(from);
        if referrers.is_empty() {
            self.0.remove(to);
        }
    }
}

/// What the item made of `fact` depends on beside `fact` itself.
fn referred(from: &FactKey, fact: &Fact) -> BTreeSet<FactKey> {
    match fact {
        Fact::Node(_)
        | Fact::Owner(_)
        | Fact::Service(_)
        | Fact::ServiceProfile(_)
        | Fact::Server(_) => BTreeSet::new(),
        Fact::Pod(pod) => {
            let owner = pod.owner.as_ref().and_then(|owner| owner_key(from, owner));
            let servers = servers::all_of(&from.namespace);
            owner.into_iter().chain([servers]).collect()
        }
        Fact::ExternalWorkload(_) => [servers::all_of(&from.namespace)].into(),
        Fact::Slice(slice) => slice
            .endpoints
            .iter()
            .filter_map(|endpoint| match &endpoint.target {
                TargetRef::Pod { pod, .. } => Some(pod_key(pod)),
                TargetRef::External(workload) => Some(external_workload_key(workload)),
                TargetRef::Address => None,
            })
            .chain([service_key(&slice.service)])
            .collect(),
    }
}

fn owner_key(from: &FactKey, owner: &OwnerRef) -> Option<FactKey> {
    let kind = owner_kind(owner)?;
    Some(key(kind, &from.namespace, &owner.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_model::{
        AddressFamily, EndpointFact, FactKind, Mirror, NamedBy, PodId, Readiness, ServiceId,
        SliceFact,
    };

    fn slice(service: &str, pods: &[&str]) -> Fact {
        let endpoint = |pod: &&str| EndpointFact {
            addresses: Vec::new(),
            readiness: Readiness::Ready,
            hostname: None,
            zone: None,
            hint_zones: Vec::new(),
            hint_nodes: Vec::new(),
            target: TargetRef::Pod {
                pod: PodId::named("shop", pod),
                uid: None,
            },
        };
        Fact::Slice(SliceFact {
            service: ServiceId::named("shop", service),
            named_by: NamedBy::Label,
            created_s: 0,
            family: AddressFamily::V4,
            ports: Vec::new(),
            endpoints: pods.iter().map(endpoint).collect(),
            mirror: Mirror::default(),
        })
    }

    fn named(kind: FactKind, name: &str) -> FactKey {
        FactKey::named(kind, "shop", name)
    }

    #[test]
    fn nothing_is_left_of_a_reference_that_is_gone() {
        let from = named(FactKind::EndpointSlice, "web-1");
        let mut references = References::default();
        let (old, new) = (slice("web", &["a", "b"]), slice("cart", &["b"]));
        references.replace(&from, None, Some(&old));
        references.replace(&from, Some(&old), Some(&new));
        let expected = [named(FactKind::Pod, "b"), named(FactKind::Service, "cart")];
        assert_eq!(
            references.0.keys().cloned().collect::<Vec<_>>(),
            expected,
            "{references:?}"
        );
        references.replace(&from, Some(&new), None);
        assert!(references.0.is_empty());
    }

    #[test]
    fn only_what_refers_to_it_is_affected() {
        let mut references = References::default();
        for (name, pods) in [("web-1", ["a", "b"]), ("web-2", ["b", "c"])] {
            let from = named(FactKind::EndpointSlice, name);
            references.replace(&from, None, Some(&slice("web", &pods)));
        }
        let touched = BTreeSet::from([named(FactKind::Pod, "c")]);
        let expected = [
            named(FactKind::Pod, "c"),
            named(FactKind::EndpointSlice, "web-2"),
        ];
        assert_eq!(references.affected(&touched), BTreeSet::from(expected));
    }
}
