//! What happened, in order: events of clients, replicas, observers and faults.

mod calls;
mod edn;
mod entry;
mod event;
mod fault;
mod line;
mod position;
mod process;
mod reader;
mod seen;
mod writer;

pub use calls::{Call, Open, Opened, Operation, ReadMode, Return, Truth, TruthWrite, Written};
pub use entry::{Entry, Part, Payload, SourceStep};
pub use event::{Event, History, What};
pub use fault::{Effect, Fault, Installed, Phase};
pub use line::{InvalidLine, from_line, to_line};
pub use position::{Digest, InvalidDigest, InvalidReplica, Replica, Rev};
pub use process::{InvalidProcess, Process};
pub use reader::ReadError;
pub use seen::{
    Ack, Claim, EndedBy, Final, Life, LifeState, Observed, Resources, Role, RoleKind, Seen,
    Snapshot, SnapshotAct, StreamEnd, Surface, Told, Vote,
};
pub use writer::{ClientNumbers, HistoryWriter};
