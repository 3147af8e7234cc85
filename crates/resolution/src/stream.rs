//! The messages of one `Get` stream: the difference between what its proxy was
//! told and what is visible now.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    sync::Arc,
};

use crate::{Answer, Described, EndpointSet, Identity, Labels};

/// The most bytes in one message that adds, give or take one endpoint; an estimate.
///
/// As many as are safe: the first message of a stream replaces what the proxy has, so a
/// proxy that reconnects loses for a moment what has to follow in another message. Some
/// 5,000 ordinary meshed endpoints fit.
pub const ADD_BYTES_MAX: usize = 2 * 1024 * 1024 - 64 * 1024;

/// The most addresses in one message that removes.
pub const REMOVE_ADDRESSES_MAX: usize = 50_000;

/// What proxies refuse.
const MESSAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

// The estimate may be wrong by half.
const _: () = assert!(2 * ADD_BYTES_MAX < MESSAGE_BYTES_MAX);
// An IPv6 address and its port take 28 bytes.
const _: () = assert!(2 * 28 * REMOVE_ADDRESSES_MAX < MESSAGE_BYTES_MAX);

/// One message on a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Update {
    /// These endpoints exist; the first one on a stream replaces all that the
    /// proxy knew, later ones add to it or change it. Never empty: proxies
    /// ignore an empty one.
    Add(EndpointSet),
    /// These addresses are gone. Never empty, and never the first message:
    /// proxies ignore either.
    Remove(BTreeSet<SocketAddr>),
    /// There is no endpoint.
    NoEndpoints {
        /// Whether the service exists.
        exists: bool,
    },
}

/// What the proxy of one stream was told.
///
/// ```text
/// Nothing --answer--> Told(set) --answer--> Told(set) ...
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointStream {
    told: Option<Arc<EndpointSet>>,
}

impl EndpointStream {
    /// Whether both proxies were told one and the same set, or both nothing:
    /// the next answer then makes the same messages for both. `false` says
    /// nothing, since equal sets are not compared.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        match (&self.told, &other.told) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    /// The messages that bring the proxy from what it was told to `answer`.
    ///
    /// The first answer is told whole, an empty one with a message that says
    /// so. A service that goes away leaves a proxy without endpoints, and the
    /// stream open: it may come back.
    #[must_use]
    pub fn advance(&mut self, answer: Answer) -> Vec<Update> {
        let (visible, exists) = match answer {
            Answer::Unknown => return Vec::new(),
            Answer::Absent => (Arc::default(), false),
            Answer::Present(set) => (set, true),
        };
        let updates = match &self.told {
            None if visible.is_empty() => vec![Update::NoEndpoints { exists }],
            None => adds(&visible.labels, visible.endpoints.clone()),
            Some(told) if Arc::ptr_eq(told, &visible) => Vec::new(),
            Some(told) => difference(told, &visible),
        };
        self.told = Some(visible);
        updates
    }
}

/// Add before Remove: during a full rollover the other order would leave the
/// proxy's balancer empty between the two messages and fail live requests. No
/// address is in both.
fn difference(told: &EndpointSet, visible: &EndpointSet) -> Vec<Update> {
    let relabelled = told.labels != visible.labels;
    let is_new = |(address, described): &(&SocketAddr, &Arc<Described>)| {
        relabelled || told.endpoints.get(address) != Some(described)
    };
    let new = visible.endpoints.iter().filter(is_new);
    let new = new.map(|(address, described)| (*address, described.clone()));
    let gone = told.endpoints.keys().copied();
    let gone = gone.filter(|address| !visible.endpoints.contains_key(address));
    let mut updates = adds(&visible.labels, new.collect());
    updates.extend(removes(gone.collect()));
    updates
}

fn adds(labels: &Labels, endpoints: BTreeMap<SocketAddr, Arc<Described>>) -> Vec<Update> {
    let mut updates = Vec::new();
    let mut message = EndpointSet::default();
    let mut bytes = 0;
    for (address, described) in endpoints {
        bytes += size(&described);
        message.endpoints.insert(address, described);
        if bytes >= ADD_BYTES_MAX {
            updates.push(add(labels, &mut message));
            bytes = 0;
        }
    }
    if !message.is_empty() {
        updates.push(add(labels, &mut message));
    }
    updates
}

fn add(labels: &Labels, message: &mut EndpointSet) -> Update {
    message.labels.clone_from(labels);
    Update::Add(std::mem::take(message))
}

fn removes(mut addresses: BTreeSet<SocketAddr>) -> Vec<Update> {
    let mut updates = Vec::new();
    while let Some(next) = addresses.iter().nth(REMOVE_ADDRESSES_MAX).copied() {
        let rest = addresses.split_off(&next);
        updates.push(Update::Remove(std::mem::replace(&mut addresses, rest)));
    }
    if !addresses.is_empty() {
        updates.push(Update::Remove(addresses));
    }
    updates
}

/// About how many bytes an endpoint takes in a message.
fn size(described: &Described) -> usize {
    /// Address, weight, hint, parameters, and the tags of all fields.
    const FIXED: usize = 100;
    /// The tags and lengths of a label.
    const LABEL: usize = 8;
    let labels = described.labels.iter();
    let labels: usize = labels
        .map(|(key, value)| LABEL + key.len() + value.len())
        .sum();
    let identity = match &described.identity {
        Some(Identity::Workload(name)) => 2 * name.len(),
        Some(Identity::Gateway(name)) => name.len(),
        Some(Identity::External { uri, server_name }) => uri.len() + server_name.len(),
        None => 0,
    };
    let authority = described
        .authority_override
        .as_ref()
        .map_or(0, |it| it.len());
    FIXED + labels + identity + authority
}

#[cfg(test)]
mod tests;
