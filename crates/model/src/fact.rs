//! Facts: what one Kubernetes object says, reduced to what can matter.
//!
//! Facts are replicated beside the records, without making a revision, so that
//! a new leader knows everything that the old one had learned and can resume
//! the watches instead of listing the cluster.

use serde::{Deserialize, Serialize};
use std::{net::IpAddr, sync::Arc};

use crate::{
    AddressFamily, ExternalWorkloadFact, ExternalWorkloadId, Mirror, NamedBy, NamedPort, NodeName,
    ObjectLabels, OwnerRef, PodAddresses, PodId, PodPhase, PortRules, Readiness, ServerFact,
    ServiceId, ServiceProfileRecord, ServiceRecord, SlicePort, Text,
};

/// The kinds of object that are watched. The order of the variants is part of the log's
/// format: new ones go last.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum FactKind {
    /// `v1` Node.
    Node,
    /// `apps/v1` ReplicaSet, metadata only.
    ReplicaSet,
    /// `batch/v1` Job, metadata only.
    Job,
    /// `v1` Pod.
    Pod,
    /// `v1` Service.
    Service,
    /// `discovery.k8s.io/v1` EndpointSlice.
    EndpointSlice,
    /// `linkerd.io` ServiceProfile.
    ServiceProfile,
    /// `policy.linkerd.io` Server.
    Server,
    /// `workload.linkerd.io` ExternalWorkload.
    ExternalWorkload,
}

impl FactKind {
    /// Every kind, what others refer to before those.
    pub const ALL: [Self; 9] = [
        Self::Node,
        Self::ReplicaSet,
        Self::Job,
        Self::Server,
        Self::Pod,
        Self::ExternalWorkload,
        Self::ServiceProfile,
        Self::Service,
        Self::EndpointSlice,
    ];

    /// Whether a cluster may do without the kind: it is a custom resource that is
    /// installed with Linkerd, perhaps later than we start.
    #[must_use]
    pub const fn is_optional(self) -> bool {
        match self {
            Self::ServiceProfile | Self::Server | Self::ExternalWorkload => true,
            Self::Node
            | Self::ReplicaSet
            | Self::Job
            | Self::Pod
            | Self::Service
            | Self::EndpointSlice => false,
        }
    }

    /// The plural resource name, as metrics and RBAC rules use it.
    #[must_use]
    pub const fn resource(self) -> &'static str {
        match self {
            Self::Node => "nodes",
            Self::ReplicaSet => "replicasets",
            Self::Job => "jobs",
            Self::Pod => "pods",
            Self::Service => "services",
            Self::EndpointSlice => "endpointslices",
            Self::ServiceProfile => "serviceprofiles",
            Self::Server => "servers",
            Self::ExternalWorkload => "externalworkloads",
        }
    }
}

impl std::fmt::Display for FactKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.resource())
    }
}

/// Names the object that a fact is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FactKey {
    /// The kind of the object.
    pub kind: FactKind,
    /// Its namespace; empty for a Node.
    pub namespace: Text,
    /// Its name.
    pub name: Text,
}

impl FactKey {
    /// Names an object.
    #[must_use]
    pub fn named(kind: FactKind, namespace: &str, name: &str) -> Self {
        Self {
            kind,
            namespace: namespace.into(),
            name: name.into(),
        }
    }
}

impl std::fmt::Display for FactKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.kind {
            FactKind::Node => write!(f, "{} {}", self.kind, self.name),
            FactKind::ReplicaSet
            | FactKind::Job
            | FactKind::Pod
            | FactKind::Service
            | FactKind::EndpointSlice
            | FactKind::ServiceProfile
            | FactKind::Server
            | FactKind::ExternalWorkload => {
                write!(f, "{} {}/{}", self.kind, self.namespace, self.name)
            }
        }
    }
}

/// One parsed observation of a Kubernetes object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Fact {
    /// The node's zone: label `topology.kubernetes.io/zone`, if not empty.
    Node(Option<Text>),
    /// Of a ReplicaSet or Job, only who owns it.
    Owner(OwnerFact),
    /// A pod.
    Pod(PodFact),
    /// A service.
    Service(ServiceRecord),
    /// An endpoint slice.
    Slice(SliceFact),
    /// A valid ServiceProfile; an invalid one is no fact.
    ServiceProfile(Arc<ServiceProfileRecord>),
    /// A Server that makes ports opaque; `None` for any other.
    Server(Option<ServerFact>),
    /// An external workload.
    ExternalWorkload(ExternalWorkloadFact),
}

/// Who owns an object that itself owns pods.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OwnerFact {
    /// The single owner; `None` with no owner or several.
    pub owner: Option<OwnerRef>,
}

/// A pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PodFact {
    /// The pod's uid: a pod of the same name with another uid is another pod.
    pub uid: Text,
    /// The single owner; `None` with no owner or several.
    pub owner: Option<OwnerRef>,
    /// See [`Workload::node`](crate::Workload::node).
    pub node: Option<NodeName>,
    /// See [`Workload::service_account`](crate::Workload::service_account).
    pub service_account: Text,
    /// See [`Workload::control_plane`](crate::Workload::control_plane).
    pub control_plane: Option<Text>,
    /// See [`Workload::template_hash`](crate::Workload::template_hash).
    pub template_hash: Option<Text>,
    /// See [`Workload::rules`](crate::Workload::rules).
    pub rules: PortRules,
    /// Where it is found.
    pub addresses: PodAddresses,
    /// How far it has come.
    pub phase: PodPhase,
    /// Whether it has a deletion timestamp.
    pub terminating: bool,
    /// Its labels: Servers choose by them.
    pub labels: ObjectLabels,
    /// The ports of its containers, init containers included, that have a name.
    pub ports: Vec<NamedPort>,
}

/// An endpoint slice as the object has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SliceFact {
    /// The service it belongs to: by label, else by owner reference.
    pub service: ServiceId,
    /// Which of the two it was.
    pub named_by: NamedBy,
    /// `metadata.creationTimestamp`: of two slices that say different things of one pod,
    /// the newer one is believed. Unit: seconds since 1970; 0 without one.
    pub created_s: i64,
    /// The family of its addresses; FQDN slices are no facts.
    pub family: AddressFamily,
    /// Its ports that have a number.
    pub ports: Vec<SlicePort>,
    /// Its endpoints, ready or not.
    pub endpoints: Vec<EndpointFact>,
    /// Marks of a mirrored service.
    pub mirror: Mirror,
}

/// One endpoint of a slice as the object has it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EndpointFact {
    /// Its addresses, all of the slice's family.
    pub addresses: Vec<IpAddr>,
    /// `conditions`: an absent `ready` counts as true; `serving` and `terminating` count
    /// only where it is false.
    pub readiness: Readiness,
    /// See [`Endpoint::hostname`](crate::Endpoint::hostname).
    pub hostname: Option<Text>,
    /// `zone`, if not empty.
    pub zone: Option<Text>,
    /// `hints.forZones`, sorted.
    pub hint_zones: Vec<Text>,
    /// `hints.forNodes`, sorted.
    pub hint_nodes: Vec<NodeName>,
    /// What it refers to.
    pub target: TargetRef,
}

/// What an endpoint of a slice refers to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TargetRef {
    /// No object.
    Address,
    /// A pod, with the uid if the reference has one.
    Pod {
        /// The pod; a reference that names no namespace is no fact.
        pod: PodId,
        /// The uid the slice means; `None` matches any.
        uid: Option<Text>,
    },
    /// An external workload of the slice's own namespace, whatever the reference says.
    External(ExternalWorkloadId),
}

/// The API server's opaque token for a place in its history of one kind.
///
/// Compared for equality, never ordered, with one exception: see
/// [`is_surely_older_than`](Self::is_surely_older_than). Source: `metadata.resourceVersion`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Cursor(pub Arc<str>);

impl Cursor {
    /// Whether this is surely older than `other`, so that whoever shows it has gone back in
    /// time. An API server's own cursors are decimal numbers that grow; what is no number
    /// is not judged.
    #[must_use]
    pub fn is_surely_older_than(&self, other: &Self) -> bool {
        match (self.number(), other.number()) {
            (Some(cursor), Some(other)) => cursor < other,
            (Some(_) | None, _) => false,
        }
    }

    fn number(&self) -> Option<u64> {
        let is_decimal = self.0.bytes().all(|byte| byte.is_ascii_digit());
        is_decimal.then(|| self.0.parse().ok()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_cursors_that_are_numbers_are_ordered() {
        let is_older = |cursor: &str, other: &str| {
            Cursor(cursor.into()).is_surely_older_than(&Cursor(other.into()))
        };
        assert!(is_older("9", "10"));
        assert!(!is_older("10", "10"));
        assert!(!is_older("11", "10"));
        for opaque in ["", "a9", "+9", "99999999999999999999999"] {
            assert!(!is_older(opaque, "10"));
            assert!(!is_older("9", opaque));
        }
    }
}
