//! The Kubernetes API server as a source of facts.
//!
//! [`connect`](fn@connect) finds the API server; the [`KubernetesSource`] follows the nine kinds of object
//! that answers depend on, each with a list and a watch of its own; [`convert`] turns
//! objects into facts.

mod access;
mod connect;
pub mod convert;
mod metrics;
mod session;
mod source;
mod troubles;
mod watch;

pub use connect::{ConnectError, connect, connect_to};
pub use metrics::Metrics;
pub use session::KubernetesSession;
pub use source::KubernetesSource;
