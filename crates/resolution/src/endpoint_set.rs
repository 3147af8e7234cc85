//! Answers: what is true for one client at one revision.

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc};

use crate::{Described, Labels};

/// The endpoints of one target for one client at one revision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointSet {
    /// The labels that all endpoints share.
    pub labels: Labels,
    /// What is said of each address.
    pub endpoints: BTreeMap<SocketAddr, Arc<Described>>,
}

impl EndpointSet {
    /// Whether there is no endpoint.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.endpoints.is_empty()
    }
}

/// What is true for one client at one revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The state was never complete: nothing is known to be true.
    Unknown,
    /// There is no such service.
    Absent,
    /// The service exists, with these endpoints, perhaps none. Shared, since
    /// many clients are told the same.
    Present(Arc<EndpointSet>),
}
