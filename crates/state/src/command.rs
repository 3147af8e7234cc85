//! The input alphabet: what the leader may want.

use lockstep_model::{
    Cursor, ExternalWorkloadId, ExternalWorkloadRecord, Fact, FactKey, FactKind, NodeName, PodId,
    PodRecord, ServiceId, ServiceProfileId, ServiceProfileRecord, ServiceRecord, Settings, SliceId,
    SliceRecord, Text,
};
use lockstep_position::{HistoryId, Term};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One change the leader wants.
///
/// The order of the variants is part of the log's format: new ones go last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// Begins the history, once; ignored when one has begun.
    OpenHistory(HistoryId),
    /// Replaces the settings.
    PutSettings(Arc<Settings>),
    /// Adds or replaces a service.
    PutService(ServiceId, Arc<ServiceRecord>),
    /// Takes a service away.
    RemoveService(ServiceId),
    /// Adds or replaces a slice.
    PutSlice(SliceId, Arc<SliceRecord>),
    /// Takes a slice away.
    RemoveSlice(SliceId),
    /// Adds or replaces a pod.
    PutPod(PodId, Arc<PodRecord>),
    /// Takes a pod away.
    RemovePod(PodId),
    /// Sets the zone of a node.
    PutNode(NodeName, Text),
    /// Takes a node's zone away.
    RemoveNode(NodeName),
    /// Notes a fact for the next leader. Makes no revision.
    Remember(FactKey, Arc<Fact>),
    /// Forgets a fact. Makes no revision.
    Forget(FactKey),
    /// Notes how far one kind's watch has come. Makes no revision.
    Advance(FactKind, Cursor),
    /// Adds or replaces a ServiceProfile.
    PutServiceProfile(ServiceProfileId, Arc<ServiceProfileRecord>),
    /// Takes a ServiceProfile away.
    RemoveServiceProfile(ServiceProfileId),
    /// Adds or replaces an external workload.
    PutExternalWorkload(ExternalWorkloadId, Arc<ExternalWorkloadRecord>),
    /// Takes an external workload away.
    RemoveExternalWorkload(ExternalWorkloadId),
    /// As `Advance`, to a place in another history: the source's own store was restored, and
    /// what follows may be older than what came before. Makes no revision.
    OpenIncarnation(FactKind, Cursor),
}

/// The commands of one entry of the log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// The term in which the proposer led. An entry of another term holds a
    /// batch of a deposed leader: it is refused.
    pub term: Term,
    /// Which part of a change too large for one entry.
    pub part: Part,
    /// The changes, in order.
    pub commands: Vec<Command>,
}

/// Which part of a change: the parts become visible together, as one
/// revision, when the last one is applied.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// From 0.
    pub number: u32,
    /// How many parts there are, at least 1.
    pub of: u32,
}

impl Part {
    /// The only part.
    pub const WHOLE: Self = Self { number: 0, of: 1 };

    /// Whether the change is complete with this part.
    #[must_use]
    pub const fn is_last(self) -> bool {
        self.number.saturating_add(1) >= self.of
    }
}

impl Batch {
    /// A change that fits into one entry.
    #[must_use]
    pub const fn whole(term: Term, commands: Vec<Command>) -> Self {
        Self {
            term,
            part: Part::WHOLE,
            commands,
        }
    }
}
