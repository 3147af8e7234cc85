//! What answers are made of, with the indexes that answers need.
//!
//! Persistent maps: a clone costs nothing, so a reader holds one revision for
//! as long as it likes and no reader waits for an apply.

use imbl::{OrdMap, OrdSet};
use lockstep_model::{
    ExternalWorkloadId, ExternalWorkloadRecord, NodeName, PodId, PodRecord, ServiceId,
    ServiceProfileId, ServiceProfileRecord, ServiceRecord, Settings, SliceId, SliceRecord, Text,
};
use lockstep_position::Digest;
use std::{net::IpAddr, sync::Arc};

use crate::{
    Changed,
    digest::{ItemKind, item},
};

/// All content at one revision.
#[derive(Clone, Debug, Default)]
pub struct Content {
    settings: Option<Arc<Settings>>,
    services: OrdMap<ServiceId, Arc<ServiceRecord>>,
    slices: OrdMap<SliceId, Arc<SliceRecord>>,
    pods: OrdMap<PodId, Arc<PodRecord>>,
    nodes: OrdMap<NodeName, Text>,
    service_profiles: OrdMap<ServiceProfileId, Arc<ServiceProfileRecord>>,
    external_workloads: OrdMap<ExternalWorkloadId, Arc<ExternalWorkloadRecord>>,
    slices_of: OrdMap<ServiceId, OrdSet<SliceId>>,
    services_at: OrdMap<IpAddr, OrdSet<ServiceId>>,
    pods_at: OrdMap<IpAddr, OrdSet<PodId>>,
    pods_at_host_port: OrdMap<(IpAddr, u16), OrdSet<PodId>>,
    external_workloads_at: OrdMap<(IpAddr, u16), OrdSet<ExternalWorkloadId>>,
    digest: Digest,
}

/// Reads.
impl Content {
    /// The settings; `None` before the first complete sync.
    #[must_use]
    pub fn settings(&self) -> Option<&Arc<Settings>> {
        self.settings.as_ref()
    }

    /// One service.
    #[must_use]
    pub fn service(&self, id: &ServiceId) -> Option<&Arc<ServiceRecord>> {
        self.services.get(id)
    }

    /// Every service, by name.
    pub fn services(&self) -> impl Iterator<Item = (&ServiceId, &Arc<ServiceRecord>)> {
        self.services.iter()
    }

    /// One slice.
    #[must_use]
    pub fn slice(&self, id: &SliceId) -> Option<&Arc<SliceRecord>> {
        self.slices.get(id)
    }

    /// Every slice, by name.
    pub fn slices(&self) -> impl Iterator<Item = (&SliceId, &Arc<SliceRecord>)> {
        self.slices.iter()
    }

    /// The slices of one service, by name.
    pub fn slices_of(&self, id: &ServiceId) -> impl Iterator<Item = &Arc<SliceRecord>> {
        self.slices_of
            .get(id)
            .into_iter()
            .flatten()
            .filter_map(|slice| self.slices.get(slice))
    }

    /// One pod.
    #[must_use]
    pub fn pod(&self, id: &PodId) -> Option<&Arc<PodRecord>> {
        self.pods.get(id)
    }

    /// Every pod, by name.
    pub fn pods(&self) -> impl Iterator<Item = (&PodId, &Arc<PodRecord>)> {
        self.pods.iter()
    }

    /// The services that have this cluster IP, by name.
    pub fn services_at(
        &self,
        ip: IpAddr,
    ) -> impl Iterator<Item = (&ServiceId, &Arc<ServiceRecord>)> {
        let ids = self.services_at.get(&ip).into_iter().flatten();
        ids.filter_map(|id| self.services.get_key_value(id))
    }

    /// The pods that have this address, host-network pods too, by name.
    pub fn pods_at(&self, ip: IpAddr) -> impl Iterator<Item = (&PodId, &Arc<PodRecord>)> {
        let ids = self.pods_at.get(&ip).into_iter().flatten();
        ids.filter_map(|id| self.pods.get_key_value(id))
    }

    /// The pods that have this port of this host, by name.
    pub fn pods_at_host_port(
        &self,
        ip: IpAddr,
        port: u16,
    ) -> impl Iterator<Item = (&PodId, &Arc<PodRecord>)> {
        let ids = self
            .pods_at_host_port
            .get(&(ip, port))
            .into_iter()
            .flatten();
        ids.filter_map(|id| self.pods.get_key_value(id))
    }

    /// The zone of a node, if known.
    #[must_use]
    pub fn zone(&self, node: &str) -> Option<&Text> {
        self.nodes.get(node)
    }

    /// Every node with a zone.
    pub fn nodes(&self) -> impl Iterator<Item = (&NodeName, &Text)> {
        self.nodes.iter()
    }

    /// One ServiceProfile.
    #[must_use]
    pub fn service_profile(&self, id: &ServiceProfileId) -> Option<&Arc<ServiceProfileRecord>> {
        self.service_profiles.get(id)
    }

    /// Every ServiceProfile, by name.
    pub fn service_profiles(
        &self,
    ) -> impl Iterator<Item = (&ServiceProfileId, &Arc<ServiceProfileRecord>)> {
        self.service_profiles.iter()
    }

    /// One external workload.
    #[must_use]
    pub fn external_workload(
        &self,
        id: &ExternalWorkloadId,
    ) -> Option<&Arc<ExternalWorkloadRecord>> {
        self.external_workloads.get(id)
    }

    /// Every external workload, by name.
    pub fn external_workloads(
        &self,
    ) -> impl Iterator<Item = (&ExternalWorkloadId, &Arc<ExternalWorkloadRecord>)> {
        self.external_workloads.iter()
    }

    /// The external workloads that declare this port at this address, by name.
    pub fn external_workloads_at(
        &self,
        ip: IpAddr,
        port: u16,
    ) -> impl Iterator<Item = (&ExternalWorkloadId, &Arc<ExternalWorkloadRecord>)> {
        let ids = self.external_workloads_at.get(&(ip, port));
        let ids = ids.into_iter().flatten();
        ids.filter_map(|id| self.external_workloads.get_key_value(id))
    }

    /// The sum of the hashes of all items.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

/// Writes. Each says what it changed; an equal value changes nothing.
impl Content {
    pub(crate) fn put_settings(&mut self, settings: Arc<Settings>, changed: &mut Changed) {
        if self.settings.as_ref() == Some(&settings) {
            return;
        }
        if let Some(old) = &self.settings {
            self.digest = self.digest.without(item(ItemKind::Settings, &(), old));
        }
        self.digest = self.digest.with(item(ItemKind::Settings, &(), &settings));
        self.settings = Some(settings);
        changed.all = true;
    }

    pub(crate) fn put_service(
        &mut self,
        id: ServiceId,
        record: Arc<ServiceRecord>,
        changed: &mut Changed,
    ) {
        if self.services.get(&id) == Some(&record) {
            return;
        }
        self.remove_service(&id, changed);
        changed.service(&id, &record);
        self.digest = self.digest.with(item(ItemKind::Service, &id, &record));
        for ip in &record.cluster_ips {
            self.services_at.entry(*ip).or_default().insert(id.clone());
        }
        self.services.insert(id, record);
    }

    pub(crate) fn remove_service(&mut self, id: &ServiceId, changed: &mut Changed) {
        let Some(old) = self.services.remove(id) else {
            return;
        };
        changed.service(id, &old);
        self.digest = self.digest.without(item(ItemKind::Service, id, &old));
        for ip in &old.cluster_ips {
            forget(&mut self.services_at, ip, id);
        }
    }

    pub(crate) fn put_slice(
        &mut self,
        id: SliceId,
        record: Arc<SliceRecord>,
        changed: &mut Changed,
    ) {
        if self.slices.get(&id) == Some(&record) {
            return;
        }
        self.remove_slice(&id, changed);
        changed.services.insert(record.service.clone());
        self.digest = self.digest.with(item(ItemKind::Slice, &id, &record));
        self.slices_of
            .entry(record.service.clone())
            .or_default()
            .insert(id.clone());
        self.slices.insert(id, record);
    }

    pub(crate) fn remove_slice(&mut self, id: &SliceId, changed: &mut Changed) {
        let Some(old) = self.slices.remove(id) else {
            return;
        };
        changed.services.insert(old.service.clone());
        self.digest = self.digest.without(item(ItemKind::Slice, id, &old));
        forget(&mut self.slices_of, &old.service, id);
    }

    pub(crate) fn put_pod(&mut self, id: PodId, record: Arc<PodRecord>, changed: &mut Changed) {
        if self.pods.get(&id) == Some(&record) {
            return;
        }
        self.remove_pod(&id, changed);
        changed.pod(&id, &record);
        self.digest = self.digest.with(item(ItemKind::Pod, &id, &record));
        for ip in &record.addresses.ips {
            self.pods_at.entry(*ip).or_default().insert(id.clone());
        }
        for key in host_ports(&record) {
            self.pods_at_host_port
                .entry(key)
                .or_default()
                .insert(id.clone());
        }
        self.pods.insert(id, record);
    }

    pub(crate) fn remove_pod(&mut self, id: &PodId, changed: &mut Changed) {
        let Some(old) = self.pods.remove(id) else {
            return;
        };
        changed.pod(id, &old);
        self.digest = self.digest.without(item(ItemKind::Pod, id, &old));
        for ip in &old.addresses.ips {
            forget(&mut self.pods_at, ip, id);
        }
        for key in host_ports(&old) {
            forget(&mut self.pods_at_host_port, &key, id);
        }
    }

    pub(crate) fn put_node(&mut self, node: NodeName, zone: Text, changed: &mut Changed) {
        if self.nodes.get(&node) == Some(&zone) {
            return;
        }
        self.remove_node(&node, changed);
        self.digest = self.digest.with(item(ItemKind::Node, &node, &zone));
        changed.nodes.insert(node.clone());
        self.nodes.insert(node, zone);
    }

    pub(crate) fn remove_node(&mut self, node: &NodeName, changed: &mut Changed) {
        let Some(old) = self.nodes.remove(node) else {
            return;
        };
        self.digest = self.digest.without(item(ItemKind::Node, node, &old));
        changed.nodes.insert(node.clone());
    }

    pub(crate) fn put_service_profile(
        &mut self,
        id: ServiceProfileId,
        record: Arc<ServiceProfileRecord>,
        changed: &mut Changed,
    ) {
        if self.service_profiles.get(&id) == Some(&record) {
            return;
        }
        self.remove_service_profile(&id, changed);
        let hash = item(ItemKind::ServiceProfile, &id, &record);
        self.digest = self.digest.with(hash);
        changed.service_profiles.insert(id.clone());
        self.service_profiles.insert(id, record);
    }

    pub(crate) fn remove_service_profile(&mut self, id: &ServiceProfileId, changed: &mut Changed) {
        let Some(old) = self.service_profiles.remove(id) else {
            return;
        };
        let hash = item(ItemKind::ServiceProfile, id, &old);
        self.digest = self.digest.without(hash);
        changed.service_profiles.insert(id.clone());
    }

    pub(crate) fn put_external_workload(
        &mut self,
        id: ExternalWorkloadId,
        record: Arc<ExternalWorkloadRecord>,
        changed: &mut Changed,
    ) {
        if self.external_workloads.get(&id) == Some(&record) {
            return;
        }
        self.remove_external_workload(&id, changed);
        changed.external_workload(&record);
        let hash = item(ItemKind::ExternalWorkload, &id, &record);
        self.digest = self.digest.with(hash);
        for key in external_ports(&record) {
            let ids = self.external_workloads_at.entry(key).or_default();
            ids.insert(id.clone());
        }
        self.external_workloads.insert(id, record);
    }

    pub(crate) fn remove_external_workload(
        &mut self,
        id: &ExternalWorkloadId,
        changed: &mut Changed,
    ) {
        let Some(old) = self.external_workloads.remove(id) else {
            return;
        };
        changed.external_workload(&old);
        let hash = item(ItemKind::ExternalWorkload, id, &old);
        self.digest = self.digest.without(hash);
        for key in external_ports(&old) {
            forget(&mut self.external_workloads_at, &key, id);
        }
    }
}

fn external_ports(record: &ExternalWorkloadRecord) -> impl Iterator<Item = (IpAddr, u16)> {
    let ips = record.ips.iter();
    ips.flat_map(|ip| record.ports.iter().map(move |port| (*ip, *port)))
}

fn host_ports(record: &PodRecord) -> impl Iterator<Item = (IpAddr, u16)> {
    let addresses = &record.addresses;
    addresses
        .host_ips
        .iter()
        .flat_map(|ip| addresses.host_ports.iter().map(move |port| (*ip, *port)))
}

/// Takes one entry out of an index, and the index key with its last entry.
fn forget<K: Ord + Clone, V: Ord + Clone>(index: &mut OrdMap<K, OrdSet<V>>, key: &K, value: &V) {
    let Some(entries) = index.get_mut(key) else {
        return;
    };
    entries.remove(value);
    if entries.is_empty() {
        index.remove(key);
    }
}
