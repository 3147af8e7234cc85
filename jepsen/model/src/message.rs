//! One message of a `Get` stream, as the client reads it.

use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, net::SocketAddr, sync::Arc};

use crate::{Described, Labels};

/// An `Update`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Message {
    /// These addresses are there.
    Add {
        /// Labels of all of them.
        #[serde(default)]
        labels: Arc<Labels>,
        /// What is said of each.
        endpoints: BTreeMap<SocketAddr, Arc<Described>>,
    },
    /// These addresses are gone.
    Remove(Vec<SocketAddr>),
    /// There is no address.
    NoEndpoints {
        /// Whether there is a service.
        exists: bool,
    },
}
