//! Revisions, and how far one is behind another.

use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// Counts the batches that changed the endpoint state since the history began.
///
/// Every replica gives the same revision to the same batch, so two answers
/// with equal revisions are equal. It is not a log index: blank and membership
/// entries advance the log but not the revision.
///
/// Unit: batches. Range: [`Revision::ZERO`] (nothing committed) up to
/// `u64::MAX`; never decreases within a history. Prints as `r41822`.
#[derive(
    Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Revision(u64);

/// How many batches one revision is behind another. Unit: batches.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RevisionLag(pub u64);

impl Revision {
    /// Nothing was ever committed.
    pub const ZERO: Self = Self(0);

    /// Wraps a raw count.
    #[must_use]
    pub const fn from_u64(raw: u64) -> Self {
        Self(raw)
    }

    /// The raw count.
    #[must_use]
    pub const fn as_u64(self) -> u64 {
        self.0
    }

    /// The revision after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// How far this revision is behind `newest`; zero when it is not behind.
    #[must_use]
    pub const fn behind(self, newest: Self) -> RevisionLag {
        RevisionLag(newest.0.saturating_sub(self.0))
    }
}

impl std::fmt::Display for Revision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "r{}", self.0)
    }
}

/// Why a text is not a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidRevision(String);

impl std::fmt::Display for InvalidRevision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` is not a revision such as `r41822`", self.0)
    }
}

impl std::error::Error for InvalidRevision {}

impl FromStr for Revision {
    type Err = InvalidRevision;

    fn from_str(text: &str) -> Result<Self, InvalidRevision> {
        let digits = text.strip_prefix('r').unwrap_or(text);
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        match digits.parse() {
            Ok(raw) if plain => Ok(Self(raw)),
            Ok(_) | Err(_) => Err(InvalidRevision(text.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lag_is_zero_when_not_behind() {
        let (old, new) = (Revision::from_u64(3), Revision::from_u64(5));
        assert_eq!(old.behind(new), RevisionLag(2));
        assert_eq!(new.behind(old), RevisionLag(0));
    }

    #[test]
    fn the_text_form_reads_back_and_nonsense_is_named() {
        let revision = Revision::from_u64(41_822);
        assert_eq!(revision.to_string().parse(), Ok(revision));
        for text in ["", "r", "r-1", "r+1", "x1"] {
            assert_eq!(
                text.parse::<Revision>(),
                Err(InvalidRevision(text.to_owned()))
            );
        }
    }
}
