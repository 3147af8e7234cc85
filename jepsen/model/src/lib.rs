//! What a client of the destination API must be told, written from the specification a second
//! time: this crate uses nothing of the product, so that an error of the product is not an error
//! of its judge.
//!
//! ```text
//! Kubernetes objects --join--> Content --expect(question)--> Expected  <--compare--  Fold <-- messages
//!                              ^
//! committed changes -----------+
//! ```
//!
//! Two inputs lead to a [`Content`]: the objects that a test wrote, and the changes that the log
//! holds. From there on is one road: what is expected for a [`Question`], and what a client holds
//! that follows the proxy's rules.

#![deny(clippy::wildcard_enum_match_arm)]

mod authority;
mod content;
mod describe;
mod described;
mod expect;
mod expected;
mod fold;
mod kube;
mod message;
mod name;
mod near;
mod ports;
mod question;
mod service;
mod settings;
mod slice;
mod workload;

pub use authority::{Asked, NoService};
pub use content::{Change, Content};
pub use described::{Described, Hint, Identity, Labels, Protocol};
pub use expect::expect;
pub use expected::{Difference, Expected, ExpectedSet};
pub use fold::{Fold, Held, Step};
pub use kube::{Cluster, Exposure, Kind, ObjectKey, UnnamedObject};
pub use message::Message;
pub use name::{Name, Text};
pub use ports::{InvalidPorts, Ports};
pub use question::Question;
pub use service::{Service, ServiceKind, ServicePort, Traffic};
pub use settings::{KeepAlive, Settings, Transport};
pub use slice::{Behind, Endpoint, Family, Mirror, Readiness, Slice, SlicePort};
pub use workload::{External, Listeners, Owner, Pod};
