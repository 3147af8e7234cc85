//! Which history a revision belongs to.

use serde::{Deserialize, Serialize};
use std::str::FromStr;

use crate::hex::{self, InvalidHex};

/// Names one history of revisions: random, fixed at bootstrap, replaced by
/// every restore from a backup or forced recovery.
///
/// Revisions of two histories are not comparable. Prints as 32 hexadecimal digits.
#[derive(
    Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct HistoryId(u128);

impl HistoryId {
    /// No history yet: the state before bootstrap.
    pub const NONE: Self = Self(0);

    /// Wraps random bits.
    #[must_use]
    pub const fn from_u128(raw: u128) -> Self {
        Self(raw)
    }

    /// The raw bits.
    #[must_use]
    pub const fn as_u128(self) -> u128 {
        self.0
    }
}

impl std::fmt::Display for HistoryId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for HistoryId {
    type Err = InvalidHex;

    fn from_str(text: &str) -> Result<Self, InvalidHex> {
        hex::parse_u128(text).map(Self)
    }
}
