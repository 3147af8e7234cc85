//! Operators: health, metrics, status, audit.
//!
//! One port answers plain HTTP (`/live`, `/ready`, `/ping`, `/metrics`) and the
//! admin gRPC service with reflection and health. What is answered comes from
//! an [`Operator`]; nothing is decided here.

mod http;
mod operator;
mod serve;
mod service;

pub use operator::{AuditError, Operator, Readiness, TransferError};
pub use serve::serve;
