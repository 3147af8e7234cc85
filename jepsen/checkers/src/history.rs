//! What happened, in order: events of clients, replicas, observers and faults.

mod calls;
mod entry;
mod event;
mod fault;
mod position;
mod process;
mod seen;

pub use calls::{Call, Open, Opened, Operation, ReadMode, Return, Truth, TruthWrite, Written};
pub use entry::{Entry, Part, Payload, SourceStep};
pub use event::{Event, History, What};
pub use fault::{Effect, Fault, Installed, Phase};
pub use position::{Digest, InvalidDigest, InvalidReplica, Replica, Rev};
pub use process::{InvalidProcess, Process};
pub use seen::{
    Ack, Claim, EndedBy, Final, Life, LifeState, Observed, Resources, Role, RoleKind, Seen,
    Snapshot, SnapshotAct, StreamEnd, Surface, Told, Vote,
};
