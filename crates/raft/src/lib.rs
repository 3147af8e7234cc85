//! Consensus over opaque bytes; the only crate that names the Raft library.
//!
//! ```text
//!            propose                      apply, publish
//!  owner ─────────────▶ Node ─▶ core ─▶ MachineStore ─▶ dyn Machine
//!                                │ ▲
//!                   LogAdapter ◀─┘ └─▶ Network / PeerServer ◀── gRPC ──▶ peers
//!                       │
//!               lockstep-storage
//! ```
//!
//! A [`Node`] is one replica. Its owner gives it a [`Machine`] to apply what
//! is committed, proposes opaque bytes while [`Node::role`] says that it
//! leads, and asks for a [`Node::barrier`] before it answers somebody who must
//! not see the past.

mod admission;
mod admission_task;
mod bootstrap;
mod config;
mod entry_codec;
mod error;
mod evidence;
mod group_view;
mod hand_over;
mod library;
mod log_store;
mod machine;
mod machine_store;
mod members;
mod members_change;
mod node;
mod notice;
mod peer;
mod read;
mod reread;
mod role;
mod role_watch;
mod start;
mod status;
mod successor;
mod tasks;
mod voice;
mod wall_clock;

pub use config::{Compaction, Config, Limits, Listen, PeerAddress, Timing};
pub use entry_codec::CodecError;
pub use error::{
    BarrierError, Fatal, HandOverError, MembersError, ProposeError, ReadError, StartError,
};
pub use evidence::KeptEntry;
pub use hand_over::HandedOver;
pub use lockstep_storage::StorageError;
pub use machine::{Image, InstallError, Machine};
pub use members::{MembersChange, Risk};
pub use node::{BarrierPassed, Committed, Node, Probe, ReadIndex};
pub use reread::{reread_ballot, reread_entry, reread_snapshot_meta};
pub use role::Role;
pub use status::{DiskStatus, MemberStatus, OutsideStatus, Outsider, RaftStatus};
pub use successor::NoSuccessor;
pub use tasks::NodeTasks;
pub use voice::{Standing, Voice};
