//! What a client asks.

use serde::{Deserialize, Serialize};

use crate::Text;

/// A `Get`: the authority, and of the context token what `Get` uses (A1.7).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Question {
    /// `GetDestination.path`: `web.shop.svc.cluster.local:80`.
    pub authority: Text,
    /// The client's node; empty if it does not say.
    #[serde(default)]
    pub node: Text,
}
