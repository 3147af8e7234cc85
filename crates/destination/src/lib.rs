//! gRPC to proxies: Linkerd's destination API.
//!
//! A thin shell around the decisions of `lockstep-resolution`: it reads a
//! request, asks the view, and writes what a stream machine says. A stream is
//! one response body, without a task, a channel or a queue of its own:
//!
//! ```text
//! client can take data --poll--> Conversation --machine has something--> one frame
//!                                     |  ^
//!                         a topic changed, the newest state
//!                                     v  |
//!                                    View
//! ```
//!
//! Streams that must be told the same share answers and encoded messages.

mod answers;
mod conversation;
mod drain;
mod encode;
mod frame;
mod get;
mod get_profile;
mod leaving;
mod metrics;
mod opening;
mod request;
mod server;
mod speaker;
mod standing;

pub use frame::REVISION_FIELD;
pub use metrics::Metrics;
pub use request::{MESSAGE_BYTES_MAX, REQUEST_BYTES_MAX};
pub use server::{DestinationService, service};
pub use standing::header;
