//! The nouns of the mesh: values and their limits.
//!
//! Two families. *Facts* are what one Kubernetes object says, reduced to what can
//! matter. *Records* are what answers are made of: facts already joined. Both are
//! plain values, ordered and serialisable, with no clock, no I/O and no Kubernetes type.

#![deny(clippy::wildcard_enum_match_arm)]

mod authority;
mod endpoint;
mod external;
mod fact;
mod labels;
mod limits;
mod names;
mod pod;
mod ports;
mod server;
mod service;
mod service_profile;
mod settings;
mod slice;

pub use authority::{Authority, Host, InvalidAuthority, Target};
pub use endpoint::{Endpoint, EndpointTarget, Readiness};
pub use external::{
    EXTERNAL_INBOUND_PORT, ExternalWorkload, ExternalWorkloadFact, ExternalWorkloadRecord,
    NamedPort,
};
pub use fact::{
    Cursor, EndpointFact, Fact, FactKey, FactKind, OwnerFact, PodFact, SliceFact, TargetRef,
};
pub use labels::{Holds, LabelSelector, ObjectLabels, Requirement};
pub use limits::*;
pub use names::{ExternalWorkloadId, NodeName, PodId, ServiceId, ServiceProfileId, SliceId, Text};
pub use pod::{Listeners, Owner, OwnerRef, PodAddresses, PodPhase, PodRecord, PortRules, Workload};
pub use ports::{InvalidPortRange, PortRange, PortSet};
pub use server::{ServerFact, ServerPort};
pub use service::{InternalTraffic, RemoteDiscovery, ServiceKind, ServicePort, ServiceRecord};
pub use service_profile::{
    CONDITION_DEPTH_MAX, Condition, DstOverride, Ratio, RequestMatch, ResponseClass, RetryBudget,
    Route, ServiceProfileRecord, StatusRange, TooDeep,
};
pub use settings::{Http2Params, KeepAlive, Settings, TransportMode};
pub use slice::{AddressFamily, Mirror, NamedBy, SlicePort, SliceRecord};
