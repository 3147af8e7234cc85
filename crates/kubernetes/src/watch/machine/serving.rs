//! Whether the API server serves the kind, and in which version.
//!
//! Only a kind that a cluster may do without is ever found absent. A server that starts
//! may deny for a moment what it serves, so that a kind whose objects are known is only
//! believed to be gone after [`ROUNDS_TO_LEAVE`] rounds with pauses between them.

use lockstep_catalog::Listed;
use lockstep_model::{Cursor, FactKind};

use super::cursor::NOT_SERVED;
use crate::watch::{pace::Pause, version::Version};

/// How often every version is denied before a kind that was there is believed to be gone.
pub(super) const ROUNDS_TO_LEAVE: u32 = 3;

/// What is known of the kind.
#[derive(Debug)]
pub(super) struct Serving {
    version: Version,
    presence: Presence,
    /// How many versions were denied in this round.
    denied: usize,
    /// How many rounds were denied in a row.
    rounds: u32,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Presence {
    /// Nothing was asked yet, and no object is known.
    Unknown,
    /// Objects of it may be known from before; nothing was asked yet.
    Remembered,
    Served(Version),
    Absent,
}

/// Something that people want to know.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// The kind is served in this version: for the first time, again, or in another one.
    Served(Version),
    /// The kind is not served; objects of it that were known are gone.
    Absent,
}

/// What a denial means.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Denial {
    /// Ask for another version, at once.
    Next,
    /// Ask again later, and leave in force what is known.
    Doubted(Pause),
    /// The kind is not there. Ask again later: it may be installed.
    Absent(Pause, Option<News>),
}

impl Serving {
    /// Before anything is asked.
    pub(super) fn new(kind: FactKind, resume: Option<&Cursor>) -> Self {
        Self {
            version: Version::best(kind),
            presence: match resume {
                Some(_) => Presence::Remembered,
                None => Presence::Unknown,
            },
            denied: 0,
            rounds: 0,
        }
    }

    /// What to ask for.
    pub(super) fn version(&self) -> Version {
        self.version
    }

    /// The kind is served in this version.
    pub(super) fn granted(&mut self) -> Option<News> {
        self.interrupted();
        let served = Presence::Served(self.version);
        let before = std::mem::replace(&mut self.presence, served);
        // Nobody wonders whether a cluster has pods.
        let is_news = self.version.kind().is_optional() && before != served;
        is_news.then_some(News::Served(self.version))
    }

    /// Something else failed: what the server says just now proves nothing.
    pub(super) fn interrupted(&mut self) {
        self.denied = 0;
        self.rounds = 0;
    }

    /// The version is not served.
    pub(super) fn denied(&mut self) -> Denial {
        self.version = self.version.next();
        self.denied = self.denied.saturating_add(1);
        if self.denied < Version::count(self.version.kind()) {
            return Denial::Next;
        }
        self.version = Version::best(self.version.kind());
        self.denied = 0;
        self.rounds = self.rounds.saturating_add(1);
        let enough = match self.presence {
            Presence::Unknown | Presence::Absent => 1,
            Presence::Remembered | Presence::Served(_) => ROUNDS_TO_LEAVE,
        };
        if self.rounds < enough {
            return Denial::Doubted(Pause::until_served());
        }
        let before = std::mem::replace(&mut self.presence, Presence::Absent);
        let news = (before != Presence::Absent).then_some(News::Absent);
        Denial::Absent(Pause::until_served(), news)
    }
}

/// The list of a kind that is not served: complete, and empty.
pub(crate) fn nothing(kind: FactKind) -> Listed {
    Listed {
        kind,
        facts: [].into(),
        unread: [].into(),
        cursor: Cursor(NOT_SERVED.into()),
    }
}
