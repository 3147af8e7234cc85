//! What an applied batch changed: who has to look again.

use lockstep_model::{
    ExternalWorkloadRecord, NodeName, PodId, PodRecord, ServiceId, ServiceProfileId, ServiceRecord,
};
use std::{collections::BTreeSet, net::IpAddr};

/// What may be answered otherwise than before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// Services, or the endpoints behind them.
    pub services: BTreeSet<ServiceId>,
    /// Addresses: of a pod, a host, a service or an external workload.
    pub addresses: BTreeSet<IpAddr>,
    /// Pods.
    pub pods: BTreeSet<PodId>,
    /// Nodes whose zone is another.
    pub nodes: BTreeSet<NodeName>,
    /// ServiceProfiles.
    pub service_profiles: BTreeSet<ServiceProfileId>,
    /// Everything: settings, or a snapshot was installed.
    pub all: bool,
}

impl Changed {
    /// Everything may be answered otherwise.
    #[must_use]
    pub fn everything() -> Self {
        Self {
            all: true,
            ..Self::default()
        }
    }

    /// Whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds what `other` changed.
    pub fn extend(&mut self, other: Self) {
        self.services.extend(other.services);
        self.addresses.extend(other.addresses);
        self.pods.extend(other.pods);
        self.nodes.extend(other.nodes);
        self.service_profiles.extend(other.service_profiles);
        self.all |= other.all;
    }

    pub(crate) fn service(&mut self, id: &ServiceId, record: &ServiceRecord) {
        self.services.insert(id.clone());
        self.addresses.extend(record.cluster_ips.iter().copied());
    }

    pub(crate) fn external_workload(&mut self, record: &ExternalWorkloadRecord) {
        self.addresses.extend(record.ips.iter().copied());
    }

    pub(crate) fn pod(&mut self, id: &PodId, record: &PodRecord) {
        self.pods.insert(id.clone());
        self.addresses.extend(record.addresses.ips.iter().copied());
        if !record.addresses.host_ports.is_empty() {
            self.addresses
                .extend(record.addresses.host_ips.iter().copied());
        }
    }
}
