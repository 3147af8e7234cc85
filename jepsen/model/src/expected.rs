//! What a client must hold, and how what it holds differs.

use std::{collections::BTreeMap, fmt, net::SocketAddr, sync::Arc};

use crate::{Described, Fold, Labels};

/// What is true of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Nothing may be said: the content was never complete.
    Unsynced,
    /// The question is refused with `InvalidArgument`.
    Refused,
    /// There is no such service. A stream that is open shows nothing.
    Absent,
    /// The service is an alias of a DNS name: a new stream is refused with `InvalidArgument`, and
    /// one that is open goes on with these endpoints.
    Alias(ExpectedSet),
    /// This model says nothing of such a service.
    Elsewhere,
    /// The service exists and has these endpoints, perhaps none.
    Present(ExpectedSet),
}

/// The endpoints that a client must hold. Where several objects claim one address, each of
/// their descriptions is right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpectedSet {
    /// Labels of the whole set: one for each slice that may give them.
    pub labels: Vec<Arc<Labels>>,
    /// What may be said of each address: at least one thing.
    pub endpoints: BTreeMap<SocketAddr, Vec<Arc<Described>>>,
}

/// How what a client holds is not what it must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// It lacks an address.
    Missing(SocketAddr),
    /// It holds an address that is not there.
    Extra(SocketAddr),
    /// It was told something wrong of an address.
    Wrong {
        /// Which address.
        address: SocketAddr,
        /// What it was told.
        told: String,
        /// What would be right.
        right: String,
    },
}

// === impl Expected ===

impl Expected {
    /// The endpoints, if the model says which; an absent service has none.
    #[must_use]
    pub fn set(&self) -> Option<&ExpectedSet> {
        const NONE: &ExpectedSet = &ExpectedSet {
            labels: Vec::new(),
            endpoints: BTreeMap::new(),
        };
        match self {
            Self::Absent => Some(NONE),
            Self::Present(set) | Self::Alias(set) => Some(set),
            Self::Unsynced | Self::Refused | Self::Elsewhere => None,
        }
    }
}

// === impl ExpectedSet ===

impl ExpectedSet {
    /// How a client's endpoints differ from these, by address; empty if they do not.
    #[must_use]
    pub fn differences(&self, fold: &Fold) -> Vec<Difference> {
        let missing = self.endpoints.keys();
        let missing = missing.filter(|address| !fold.held().contains_key(address));
        let held = fold.held().keys();
        missing
            .map(|address| Difference::Missing(*address))
            .chain(held.filter_map(|address| self.difference_at(fold, address)))
            .collect()
    }

    /// How what a client holds at one address is wrong; none if it holds nothing there, or what
    /// it should.
    #[must_use]
    pub fn difference_at(&self, fold: &Fold, address: &SocketAddr) -> Option<Difference> {
        let held = fold.held().get(address)?;
        let Some(right) = self.endpoints.get(address) else {
            return Some(Difference::Extra(*address));
        };
        if right.contains(&held.described) && self.labels.contains(&held.labels) {
            return None;
        }
        Some(Difference::Wrong {
            address: *address,
            told: format!("{:?} in a set of {:?}", held.described, held.labels),
            right: format!("{right:?} in a set of {:?}", self.labels),
        })
    }
}

// === impl Difference ===

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(address) => write!(f, "{address} is missing"),
            Self::Extra(address) => write!(f, "{address} is not there in truth"),
            Self::Wrong {
                address,
                told,
                right,
            } => write!(f, "{address} was told as {told}; right would be {right}"),
        }
    }
}
