//! A simulated Kubernetes API server: list, watch, bookmarks, compaction.
//!
//! ```text
//!  kube Client ──in process──┐
//!                            ├─► http/ ─► object/ ─► store    (pure below http/)
//!  kubectl ──► server ───────┘     ▲
//!                              behaviour: how it deviates from a healthy server
//! ```
//!
//! It does what the real server 1.36 does as far as a client of endpoints can
//! tell, so that the same tests run against both. What it leaves out: field
//! owners (a server-side apply is a merge), dry runs, JSON patches, protobuf,
//! tables, authentication, and admission beyond the existence of namespaces.

mod api;
mod behaviour;
mod clock;
mod http;
mod kind;
mod object;
mod refusal;
mod resource;
mod selector;
mod server;
mod store;
mod tally;

pub use self::http::{SimBody, Verb};
pub use api::{Crds, Options, SimApi, UseError};
pub use behaviour::{Behaviour, Fault, FaultAnswer, FaultOn, GoneForm, Manner, Rejection};
pub use server::{KubeconfigError, Server};
pub use tally::Counts;
