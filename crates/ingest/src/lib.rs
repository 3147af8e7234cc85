//! Leader only: drives the catalogue from a source of facts into proposals.
//!
//! While this replica leads, exactly one session follows the source. What
//! arrives while a proposal is in flight goes into the next one: an idle group
//! commits at once, a busy one batches by itself, and the committed state is
//! always known when the next difference is computed.

mod audits;
mod driver;
mod hand_over;
mod metrics;
mod reach;
mod retry;

pub use driver::{Alive, Ingest, Lead};
pub use hand_over::{HandOver, Report};
pub use metrics::Metrics;
pub use reach::{Reach, watch_reach};
