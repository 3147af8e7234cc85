//! The nouns of the mesh: values and their limits.
//!
//! Two families. *Facts* are what one Kubernetes object says, reduced to what can
//! matter. *Records* are what answers are made of: facts already joined. Both are
//! plain values, ordered and serialisable, with no clock, no I/O and no Kubernetes type.

#![deny(clippy::wildcard_enum_match_arm)]

mod authority;
mod endpoint;
mod fact;
mod limits;
mod names;
mod pod;
mod ports;
mod service;
mod settings;
mod slice;

pub use authority::{Authority, Host, InvalidAuthority, Target};
pub use endpoint::{Endpoint, EndpointTarget};
pub use fact::{
    Cursor, EndpointFact, Fact, FactKey, FactKind, OwnerFact, PodFact, SliceFact, TargetRef,
};
pub use limits::*;
pub use names::{NodeName, PodId, ServiceId, SliceId, Text};
pub use pod::{Listeners, Owner, OwnerRef, PodAddresses, PodPhase, PodRecord, PortRules, Workload};
pub use ports::{InvalidPortRange, PortRange, PortSet};
pub use service::{InternalTraffic, ServiceKind, ServicePort, ServiceRecord};
pub use settings::{Http2Params, KeepAlive, Settings, TransportMode};
pub use slice::{AddressFamily, Mirror, SlicePort, SliceRecord};
