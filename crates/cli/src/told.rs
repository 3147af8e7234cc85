//! What a proxy believes after the updates it was sent.

use linkerd2_proxy_api::destination::update::Update;
use linkerd2_proxy_api::destination::{AddrSet, NoEndpoints, WeightedAddrSet};
use std::collections::BTreeSet;
use std::net::SocketAddr;

use crate::endpoint::{self, Endpoint, EndpointSet};

/// What is true of one authority, as far as a stream was told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    /// There is no such service.
    Absent,
    /// The service exists, with these endpoints.
    Present(EndpointSet),
}

/// The belief of one stream; without an answer until the first usable update.
#[derive(Debug, Default)]
pub(crate) struct Told {
    answer: Option<Answer>,
}

/// One difference that an update made, in the order of addresses within its kind.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    Added(Endpoint),
    /// Same address, other metadata: the proxy rebuilds the endpoint.
    Changed(Endpoint),
    Removed(SocketAddr),
}

/// What an update did.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    /// It was followed; without changes if it told what was known.
    Followed(Vec<Change>),
    /// Proxies ignore such an update, for this reason.
    Ignored(&'static str),
}

impl Answer {
    pub(crate) fn addresses(&self) -> BTreeSet<SocketAddr> {
        match self {
            Self::Absent => BTreeSet::new(),
            Self::Present(set) => set.keys().copied().collect(),
        }
    }
}

impl Told {
    /// The belief so far; `None` before the first usable update.
    pub(crate) fn answer(&self) -> Option<&Answer> {
        self.answer.as_ref()
    }

    pub(crate) fn into_answer(self) -> Option<Answer> {
        self.answer
    }

    /// Follows one update as a proxy does.
    pub(crate) fn hear(&mut self, update: Option<Update>) -> Effect {
        match update {
            None => Effect::Ignored("an update of an unknown kind"),
            Some(Update::Add(set)) => self.hear_add(set),
            Some(Update::Remove(set)) => self.hear_remove(&set),
            Some(Update::NoEndpoints(NoEndpoints { exists: true })) => {
                self.become_answer(Answer::Present(EndpointSet::new()))
            }
            Some(Update::NoEndpoints(NoEndpoints { exists: false })) => {
                self.become_answer(Answer::Absent)
            }
        }
    }

    fn hear_add(&mut self, set: WeightedAddrSet) -> Effect {
        let added = endpoint::endpoints(set);
        if added.is_empty() {
            return Effect::Ignored("an add without a usable address");
        }
        // The first add of a stream replaces what was known; later ones are upserts.
        let mut next = match &self.answer {
            Some(Answer::Present(known)) => known.clone(),
            Some(Answer::Absent) | None => EndpointSet::new(),
        };
        next.extend(added);
        self.become_answer(Answer::Present(next))
    }

    fn hear_remove(&mut self, set: &AddrSet) -> Effect {
        let removed: Vec<_> = set
            .addrs
            .iter()
            .filter_map(endpoint::socket_address)
            .collect();
        let Some(answer) = &self.answer else {
            return Effect::Ignored("a remove before the first answer");
        };
        if removed.is_empty() {
            return Effect::Ignored("a remove without a usable address");
        }
        let Answer::Present(known) = answer else {
            return Effect::Followed(Vec::new());
        };
        let mut next = known.clone();
        next.retain(|address, _| !removed.contains(address));
        self.become_answer(Answer::Present(next))
    }

    fn become_answer(&mut self, next: Answer) -> Effect {
        let nothing = EndpointSet::new();
        let endpoints = |answer: &Answer| match answer {
            Answer::Present(set) => set.clone(),
            Answer::Absent => EndpointSet::new(),
        };
        let before = self.answer.as_ref().map_or(nothing, endpoints);
        let changes = changes(&before, &endpoints(&next));
        self.answer = Some(next);
        Effect::Followed(changes)
    }
}

/// What turns `before` into `after`.
pub(crate) fn changes(before: &EndpointSet, after: &EndpointSet) -> Vec<Change> {
    let arrived = after
        .values()
        .filter_map(|endpoint| match before.get(&endpoint.address) {
            None => Some(Change::Added(endpoint.clone())),
            Some(known) if known != endpoint => Some(Change::Changed(endpoint.clone())),
            Some(_) => None,
        });
    let left = before.keys().filter(|address| !after.contains_key(address));
    arrived.chain(left.copied().map(Change::Removed)).collect()
}

#[cfg(test)]
mod tests;
