//! A folder of Kubernetes manifests as a source of facts, for people without a cluster.
//!
//! ```text
//!  files ──read──▶ text ──parse──▶ objects, problems ──folder──▶ what is in force
//!    ▲                                                               │
//!    └── notify: an edit, and everything is read again               ├──▶ difference: Changed
//!                                                                    └──▶ problems, for status
//! ```
//!
//! An object means the same here as in a cluster: both go through
//! [`lockstep_kubernetes::convert`]. A file that cannot be read or parsed is named, and its
//! last good version stays in force.

mod difference;
mod folder;
mod kind;
mod parse;
mod problem;
mod read;
mod session;
mod source;
mod stir;

pub use problem::Problem;
pub use session::ManifestSession;
pub use source::{ManifestSource, OpenError};
