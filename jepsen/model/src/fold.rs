//! What a client holds that follows the proxy's rules (D5).

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc};

use crate::{Described, Labels, Message};

/// The endpoints that one client holds, through reconnects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fold {
    held: BTreeMap<SocketAddr, Held>,
    began: bool,
}

/// What a client holds of one address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// What it was told of the address.
    pub described: Arc<Described>,
    /// The labels of the message that told it.
    pub labels: Arc<Labels>,
}

/// What a message did to a client.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The client passed over it: it names no address, or removes before anything was added.
    Ignored,
    /// It was taken and changed nothing.
    Nothing,
    /// It was taken and changed what the client holds.
    Changed,
}

// === impl Fold ===

impl Fold {
    /// What the client holds.
    #[must_use]
    pub fn held(&self) -> &BTreeMap<SocketAddr, Held> {
        &self.held
    }

    /// Whether a message of the present stream was taken.
    #[must_use]
    pub fn began(&self) -> bool {
        self.began
    }

    /// A new stream begins: what is held stays until its first message (D5.1).
    pub fn reconnect(&mut self) {
        self.began = false;
    }

    /// Takes one message.
    pub fn take(&mut self, message: &Message) -> Step {
        let first = !self.began;
        let step = match message {
            Message::Add { endpoints, .. } if endpoints.is_empty() => Step::Ignored,
            Message::Remove(addresses) if first || addresses.is_empty() => Step::Ignored,
            Message::Add { labels, endpoints } => self.add(first, labels, endpoints),
            Message::Remove(addresses) => {
                let gone = addresses.iter().map(|address| self.held.remove(address));
                changed(gone.filter(Option::is_some).count() > 0)
            }
            Message::NoEndpoints { .. } => {
                let changes = !self.held.is_empty();
                self.held.clear();
                changed(changes)
            }
        };
        self.began |= step != Step::Ignored;
        step
    }

    fn add(
        &mut self,
        first: bool,
        labels: &Arc<Labels>,
        endpoints: &BTreeMap<SocketAddr, Arc<Described>>,
    ) -> Step {
        let held = endpoints.iter().map(|(address, described)| {
            let held = Held {
                described: described.clone(),
                labels: labels.clone(),
            };
            (*address, held)
        });
        if first {
            let held = held.collect();
            let step = changed(self.held != held);
            self.held = held;
            return step;
        }
        let mut changes = false;
        for (address, held) in held {
            changes |= self.held.get(&address) != Some(&held);
            self.held.insert(address, held);
        }
        changed(changes)
    }
}

fn changed(changes: bool) -> Step {
    if changes {
        Step::Changed
    } else {
        Step::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::{Fold, Step};
    use crate::{Described, Labels, Message};
    use std::{net::SocketAddr, sync::Arc};

    fn address(number: u8) -> SocketAddr {
        ([10, 0, 0, number], 80).into()
    }

    fn add(numbers: &[u8], weight: u32) -> Message {
        let described = Arc::new(Described {
            weight,
            labels: Labels::new(),
            identity: None,
            hint: None,
            authority_override: None,
            http2: None,
        });
        let endpoints = numbers
            .iter()
            .map(|number| (address(*number), described.clone()));
        Message::Add {
            labels: Arc::default(),
            endpoints: endpoints.collect(),
        }
    }

    fn remove(number: u8) -> Message {
        Message::Remove(vec![address(number)])
    }

    fn held(fold: &Fold) -> Vec<SocketAddr> {
        fold.held().keys().copied().collect()
    }

    #[test]
    fn the_first_add_of_a_stream_replaces_and_later_ones_add() {
        let mut fold = Fold::default();
        assert_eq!(fold.take(&add(&[1, 2], 1)), Step::Changed);
        assert_eq!(fold.take(&add(&[3], 1)), Step::Changed);
        assert_eq!(held(&fold), [address(1), address(2), address(3)]);
        fold.reconnect();
        assert_eq!(held(&fold), [address(1), address(2), address(3)]);
        assert_eq!(fold.take(&add(&[2], 1)), Step::Changed);
        assert_eq!(held(&fold), [address(2)]);
    }

    #[test]
    fn an_empty_add_and_a_first_remove_are_passed_over() {
        let mut fold = Fold::default();
        fold.take(&add(&[1], 1));
        fold.reconnect();
        assert_eq!(fold.take(&add(&[], 1)), Step::Ignored);
        assert_eq!(fold.take(&remove(1)), Step::Ignored);
        assert_eq!(held(&fold), [address(1)]);
        // Neither was the first message: this one still replaces.
        fold.take(&add(&[2], 1));
        assert_eq!(held(&fold), [address(2)]);
    }

    #[test]
    fn no_endpoints_clears_whether_or_not_it_is_first() {
        let mut fold = Fold::default();
        fold.take(&add(&[1], 1));
        assert_eq!(
            fold.take(&Message::NoEndpoints { exists: true }),
            Step::Changed
        );
        assert_eq!(held(&fold), []);
        fold.take(&add(&[1], 1));
        fold.reconnect();
        assert_eq!(
            fold.take(&Message::NoEndpoints { exists: false }),
            Step::Changed
        );
        assert_eq!(held(&fold), []);
    }

    #[test]
    fn a_step_says_whether_it_changed_anything() {
        let mut fold = Fold::default();
        fold.take(&add(&[1, 2], 1));
        assert_eq!(fold.take(&add(&[1], 1)), Step::Nothing);
        assert_eq!(fold.take(&add(&[1], 2)), Step::Changed);
        assert_eq!(fold.take(&remove(3)), Step::Nothing);
        assert_eq!(fold.take(&remove(1)), Step::Changed);
    }
}
