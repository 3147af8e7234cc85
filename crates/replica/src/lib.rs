//! One replica: binds the state to Raft and publishes what is committed.
//!
//! ```text
//! propose ─▶ Proposer ─▶ raft ─▶ Machine ─▶ Published ─▶ View ─▶ streams
//!                          ▲                    │
//!                          └──── Prober ◀───────┘  age, and equal digests at equal revisions
//! ```

mod bell;
mod conduct;
mod dispute;
mod ending;
mod evidence;
mod fresher;
mod freshness;
mod hearing;
mod label;
mod machine;
mod prober;
mod probes;
mod proposer;
mod published;
mod quarantine;
mod replica;
mod source_proofs;
mod source_reach;
mod telling;
mod view;

pub use conduct::{Conduct, NewStreams, OpenStreams, StalenessPolicy, conduct};
pub use freshness::{Freshness, FreshnessState};
pub use label::{label_of, read_label};
pub use proposer::Proposer;
pub use published::Published;
pub use replica::{Replica, ReplicaConfig, ReplicaEnd, ReplicaTasks};
pub use source_proofs::SourceProofs;
pub use view::ReplicaView;
