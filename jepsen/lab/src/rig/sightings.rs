//! What anybody has seen of a group: the proof that it was there.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lockstep_proto::admin::v1::Position;

use lockstep_jepsen_gear::world::Serial;

/// What broke once breaks at every look; the first few say it all.
const VIOLATIONS_KEPT: usize = 10;

/// Digests of the content and of the path.
type Digests = (String, String);

/// Everything seen, shared by those who look.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sightings(Arc<Mutex<Seen>>);

/// What was seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// The history; empty until one is seen.
    pub(crate) history: String,
    /// Digests by revision.
    pub(crate) digests: BTreeMap<u64, Digests>,
    /// The newest endpoint that a client was told, by authority.
    pub(crate) newest: BTreeMap<String, Serial>,
    /// The highest term.
    pub(crate) term: u64,
    /// Messages that clients were told.
    pub(crate) messages: u64,
    /// What nobody may ever see.
    pub(crate) violations: Vec<String>,
}

// === impl Sightings ===

impl Sightings {
    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was seen so far.
    pub(crate) fn all(&self) -> Seen {
        self.lock().clone()
    }

    /// The highest revision seen; 0 before the first.
    pub(crate) fn revision(&self) -> u64 {
        self.lock()
            .digests
            .last_key_value()
            .map_or(0, |(rev, _)| *rev)
    }

    /// A replica said where it is.
    pub(crate) fn position(&self, replica: &str, position: &Position) {
        self.lock().position(replica, position);
    }

    /// A replica said its term.
    pub(crate) fn term(&self, term: u64) {
        let mut seen = self.lock();
        seen.term = seen.term.max(term);
    }

    /// A client was told these addresses.
    pub(crate) fn told(&self, authority: &str, held: impl Iterator<Item = SocketAddr>) {
        let newest = held.filter_map(|address| Serial::of(&address)).max();
        let mut seen = self.lock();
        seen.messages += 1;
        if let Some(serial) = newest {
            let known = seen.newest.entry(authority.to_owned()).or_insert(serial);
            *known = serial.max(*known);
        }
    }

    /// Something that may not be.
    pub(crate) fn violation(&self, what: String) {
        self.lock().violation(what);
    }
}

// === impl Seen ===

impl Seen {
    fn position(&mut self, replica: &str, position: &Position) {
        if position.revision == 0 {
            return;
        }
        if self.history.is_empty() {
            self.history.clone_from(&position.history);
        }
        if self.history != position.history {
            let text = format!("{replica} is in history {}", position.history);
            let text = format!("{text}, not {}", self.history);
            return self.violation(text);
        }
        let digests = (position.state_digest.clone(), position.path_digest.clone());
        let known = self.digests.entry(position.revision);
        let known = known.or_insert_with(|| digests.clone());
        if *known != digests {
            let text = format!("r{} is {digests:?} on {replica}", position.revision);
            let text = format!("{text}, and was {known:?}");
            self.violation(text);
        }
    }

    fn violation(&mut self, what: String) {
        if self.violations.len() < VIOLATIONS_KEPT && !self.violations.contains(&what) {
            self.violations.push(what);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(history: &str, revision: u64, digest: &str) -> Position {
        Position {
            history: history.to_owned(),
            revision,
            state_digest: digest.to_owned(),
            path_digest: digest.to_owned(),
            applied: None,
        }
    }

    #[test]
    fn another_content_or_history_is_a_violation() {
        let sightings = Sightings::default();
        sightings.position("n1", &position("h", 4, "d"));
        sightings.position("n2", &position("h", 4, "d"));
        assert_eq!(sightings.all().violations, [] as [String; 0]);
        sightings.position("n3", &position("h", 4, "e"));
        sightings.position("n3", &position("g", 5, "e"));
        assert_eq!(
            sightings.all().violations,
            [
                r#"r4 is ("e", "e") on n3, and was ("d", "d")"#,
                "n3 is in history g, not h"
            ]
        );
        assert_eq!(sightings.revision(), 4);
    }

    #[test]
    fn the_newest_endpoint_counts_whatever_comes_later() {
        let sightings = Sightings::default();
        let told = |addresses: &[&str]| {
            let parsed = addresses.iter().map(|text| text.parse().unwrap());
            sightings.told("web", parsed);
        };
        told(&["10.0.0.9:80", "10.0.0.2:80"]);
        told(&["10.0.0.3:80"]);
        let newest = sightings.all().newest;
        let expected = Serial::of(&"10.0.0.9:1".parse().unwrap()).unwrap();
        assert_eq!(newest, BTreeMap::from([("web".to_owned(), expected)]));
    }
}
