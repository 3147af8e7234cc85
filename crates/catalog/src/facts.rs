//! Facts by key, and typed questions to them.

use imbl::OrdMap;
use lockstep_model::{
    ExternalWorkloadFact, ExternalWorkloadId, Fact, FactKey, FactKind, OwnerFact, PodFact, PodId,
    ServerFact, ServiceId, ServiceProfileId, ServiceProfileRecord, ServiceRecord, SliceFact,
    SliceId, Text,
};
use std::sync::Arc;

use crate::servers;

/// Every current fact, by key. A clone shares all of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    by_key: OrdMap<FactKey, Arc<Fact>>,
    /// The Servers that make ports opaque, by namespace and name. Most make none.
    opaque_servers: OrdMap<Text, OrdMap<Text, Arc<Fact>>>,
}

impl Facts {
    pub(crate) fn get(&self, key: &FactKey) -> Option<&Arc<Fact>> {
        self.by_key.get(key)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&FactKey, &Arc<Fact>)> {
        self.by_key.iter()
    }

    /// The keys of one kind.
    pub(crate) fn keys_of(&self, kind: FactKind) -> impl Iterator<Item = &FactKey> {
        let first = FactKey::named(kind, "", "");
        self.by_key
            .range(first..)
            .map(|(key, _)| key)
            .take_while(move |key| key.kind == kind)
    }

    /// Puts a fact in place, or takes it away; gives back the one before.
    pub(crate) fn set(&mut self, key: &FactKey, fact: Option<Arc<Fact>>) -> Option<Arc<Fact>> {
        if key.kind == FactKind::Server {
            self.index_server(key, fact.as_ref());
        }
        match fact {
            Some(fact) => self.by_key.insert(key.clone(), fact),
            None => self.by_key.remove(key),
        }
    }

    fn index_server(&mut self, key: &FactKey, fact: Option<&Arc<Fact>>) {
        let mut named = self
            .opaque_servers
            .remove(&key.namespace)
            .unwrap_or_default();
        match fact.filter(|fact| servers::opaque(Some(fact)).is_some()) {
            Some(fact) => named.insert(key.name.clone(), fact.clone()),
            None => named.remove(&key.name),
        };
        if !named.is_empty() {
            self.opaque_servers.insert(key.namespace.clone(), named);
        }
    }

    /// The zone of a node.
    pub(crate) fn zone(&self, node: &FactKey) -> Option<&Text> {
        let Fact::Node(zone) = self.fact(node)? else {
            return None;
        };
        zone.as_ref()
    }

    /// Who owns a ReplicaSet or Job.
    pub(crate) fn owner(&self, key: &FactKey) -> Option<&OwnerFact> {
        let Fact::Owner(owner) = self.fact(key)? else {
            return None;
        };
        Some(owner)
    }

    pub(crate) fn pod(&self, id: &PodId) -> Option<&PodFact> {
        let Fact::Pod(pod) = self.fact(&pod_key(id))? else {
            return None;
        };
        Some(pod)
    }

    /// The pod of this name, unless another one with this uid is meant.
    pub(crate) fn pod_meant(&self, id: &PodId, uid: Option<&Text>) -> Option<&PodFact> {
        let pod = self.pod(id)?;
        uid.is_none_or(|uid| *uid == pod.uid).then_some(pod)
    }

    pub(crate) fn service(&self, id: &ServiceId) -> Option<&ServiceRecord> {
        let Fact::Service(service) = self.fact(&service_key(id))? else {
            return None;
        };
        Some(service)
    }

    pub(crate) fn slice(&self, id: &SliceId) -> Option<&SliceFact> {
        self.slice_at(&slice_key(id))
    }

    pub(crate) fn slice_at(&self, key: &FactKey) -> Option<&SliceFact> {
        let Fact::Slice(slice) = self.fact(key)? else {
            return None;
        };
        Some(slice)
    }

    pub(crate) fn service_profile(
        &self,
        id: &ServiceProfileId,
    ) -> Option<&Arc<ServiceProfileRecord>> {
        let Fact::ServiceProfile(profile) = self.fact(&service_profile_key(id))? else {
            return None;
        };
        Some(profile)
    }

    pub(crate) fn external_workload(
        &self,
        id: &ExternalWorkloadId,
    ) -> Option<&ExternalWorkloadFact> {
        let Fact::ExternalWorkload(workload) = self.fact(&external_workload_key(id))? else {
            return None;
        };
        Some(workload)
    }

    /// The Servers of a namespace that make ports opaque.
    pub(crate) fn opaque_servers(&self, namespace: &Text) -> impl Iterator<Item = &ServerFact> {
        let named = self.opaque_servers.get(namespace).into_iter().flatten();
        named.filter_map(|(_, fact)| servers::opaque(Some(fact)))
    }

    fn fact(&self, key: &FactKey) -> Option<&Fact> {
        self.by_key.get(key).map(AsRef::as_ref)
    }
}

impl From<OrdMap<FactKey, Arc<Fact>>> for Facts {
    fn from(by_key: OrdMap<FactKey, Arc<Fact>>) -> Self {
        let mut facts = Self {
            by_key,
            opaque_servers: OrdMap::new(),
        };
        let servers: Vec<FactKey> = facts.keys_of(FactKind::Server).cloned().collect();
        for key in servers {
            let fact = facts.get(&key).cloned();
            facts.index_server(&key, fact.as_ref());
        }
        facts
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

pub(crate) fn service_profile_key(id: &ServiceProfileId) -> FactKey {
    key(FactKind::ServiceProfile, &id.namespace, &id.name)
}

pub(crate) fn external_workload_key(id: &ExternalWorkloadId) -> FactKey {
    key(FactKind::ExternalWorkload, &id.namespace, &id.name)
}

/// Shares the texts, where [`FactKey::named`] would copy them.
pub(crate) fn key(kind: FactKind, namespace: &Text, name: &Text) -> FactKey {
    FactKey {
        kind,
        namespace: namespace.clone(),
        name: name.clone(),
    }
}
