//! What one proxy must be told.
//!
//! Everything here is a pure function of a state and a request, or a small
//! machine that turns answers into messages; it decides, and waits for nothing.
//!
//! ```text
//! path, token --question--> Target, Place --select--> Answer --EndpointStream--> Updates
//!                           Question ------profile--> Profile -ProfileStream--> Profiles
//! ```

#![deny(clippy::wildcard_enum_match_arm)]

mod chosen;
mod claim;
mod client;
mod describe;
mod endpoint_set;
mod external;
mod labels;
mod locality;
mod profile;
mod profile_stream;
mod question;
mod refusal;
mod select;
mod stream;
mod topics;
mod union;
mod view;

pub use chosen::ChosenProfile;
pub use claim::{Admission, Barrier, Claim, Ending, Freshness};
pub use client::Client;
pub use describe::{Described, Hint, HintedProtocol, Identity, WEIGHT_DEFAULT};
pub use endpoint_set::{Answer, EndpointSet};
pub use labels::{LabelKey, Labels};
pub use locality::Place;
/// The state that answers are made of: from here it can be read and no more.
pub use lockstep_state::State;
pub use profile::{EndpointProfile, Profile, ServiceProfile, profile};
pub use profile_stream::ProfileStream;
pub use question::{Question, question, servable, target};
pub use refusal::{Meaning, Refusal, SharedAddress};
pub use select::{Selection, endpoints};
pub use stream::{ADD_BYTES_MAX, EndpointStream, REMOVE_ADDRESSES_MAX, Update};
pub use topics::{Topic, topics_of_change, topics_of_get, topics_of_profile, wakes};
pub use view::{About, View, ViewClosed, Wakes};
