//! Facts by key, and typed questions to them.

use imbl::OrdMap;
use lockstep_model::{
    Fact, FactKey, FactKind, OwnerFact, PodFact, PodId, ServiceId, ServiceRecord, SliceFact,
    SliceId, Text,
};
use std::sync::Arc;

/// Every current fact, by key. A clone shares all of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts(OrdMap<FactKey, Arc<Fact>>);

impl Facts {
    pub(crate) fn get(&self, key: &FactKey) -> Option<&Arc<Fact>> {
        self.0.get(key)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&FactKey, &Arc<Fact>)> {
        self.0.iter()
    }

    /// The keys of one kind.
    pub(crate) fn keys_of(&self, kind: FactKind) -> impl Iterator<Item = &FactKey> {
        let first = FactKey::named(kind, "", "");
        self.0
            .range(first..)
            .map(|(key, _)| key)
            .take_while(move |key| key.kind == kind)
    }

    /// Puts a fact in place, or takes it away; gives back the one before.
    pub(crate) fn set(&mut self, key: &FactKey, fact: Option<Arc<Fact>>) -> Option<Arc<Fact>> {
        match fact {
            Some(fact) => self.0.insert(key.clone(), fact),
            None => self.0.remove(key),
        }
    }

    /// The zone of a node.
    pub(crate) fn zone(&self, node: &FactKey) -> Option<&Text> {
        match self.0.get(node).map(AsRef::as_ref) {
            Some(Fact::Node(zone)) => zone.as_ref(),
            Some(Fact::Owner(_) | Fact::Pod(_) | Fact::Service(_) | Fact::Slice(_)) | None => None,
        }
    }

    /// Who owns a ReplicaSet or Job.
    pub(crate) fn owner(&self, key: &FactKey) -> Option<&OwnerFact> {
        match self.0.get(key).map(AsRef::as_ref) {
            Some(Fact::Owner(owner)) => Some(owner),
            Some(Fact::Node(_) | Fact::Pod(_) | Fact::Service(_) | Fact::Slice(_)) | None => None,
        }
    }

    pub(crate) fn pod(&self, id: &PodId) -> Option<&PodFact> {
        match self.0.get(&pod_key(id)).map(AsRef::as_ref) {
            Some(Fact::Pod(pod)) => Some(pod),
            Some(Fact::Node(_) | Fact::Owner(_) | Fact::Service(_) | Fact::Slice(_)) | None => None,
        }
    }

    pub(crate) fn service(&self, id: &ServiceId) -> Option<&ServiceRecord> {
        match self.0.get(&service_key(id)).map(AsRef::as_ref) {
            Some(Fact::Service(service)) => Some(service),
            Some(Fact::Node(_) | Fact::Owner(_) | Fact::Pod(_) | Fact::Slice(_)) | None => None,
        }
    }

    pub(crate) fn slice(&self, id: &SliceId) -> Option<&SliceFact> {
        match self.0.get(&slice_key(id)).map(AsRef::as_ref) {
            Some(Fact::Slice(slice)) => Some(slice),
            Some(Fact::Node(_) | Fact::Owner(_) | Fact::Pod(_) | Fact::Service(_)) | None => None,
        }
    }
}

impl From<OrdMap<FactKey, Arc<Fact>>> for Facts {
    fn from(facts: OrdMap<FactKey, Arc<Fact>>) -> Self {
        Self(facts)
    }
}

pub(crate) fn pod_key(id: &PodId) -> FactKey {
    key(FactKind::Pod, &id.namespace, &id.name)
}

pub(crate) fn service_key(id: &ServiceId) -> FactKey {
    key(FactKind::Service, &id.namespace, &id.name)
}

pub(crate) fn slice_key(id: &SliceId) -> FactKey {
    key(FactKind::EndpointSlice, &id.namespace, &id.name)
}

/// Shares the texts, where [`FactKey::named`] would copy them.
pub(crate) fn key(kind: FactKind, namespace: &Text, name: &Text) -> FactKey {
    FactKey {
        kind,
        namespace: namespace.clone(),
        name: name.clone(),
    }
}
