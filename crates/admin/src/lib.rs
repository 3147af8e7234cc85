//! Operators: health, metrics, status, audit.
//!
//! One port answers plain HTTP (`/live`, `/ready`, `/ping`, `/metrics`) and the
//! admin gRPC service with reflection and health. What is answered comes from
//! an [`Operator`]; nothing is decided here.

mod health;
mod http;
mod operator;
mod serve;
mod service;

pub use health::{HealthOf, HealthService, health};
pub use operator::{AuditError, ChangeMembersError, Health, Operator, Readiness, TransferError};
pub use serve::serve;
