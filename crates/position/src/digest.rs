//! Digests of the state and of the path that led to it.

use serde::{Deserialize, Serialize};
use std::str::FromStr;

use crate::hex::{self, InvalidHex};

/// A 128-bit digest of the endpoint state, or of the path that led to it.
///
/// A state digest is the wrapping sum of one hash for each item, so that it
/// costs what a change costs and does not depend on any order. It finds
/// divergence by accident; it is no defence against an author of collisions.
///
/// Prints as 32 hexadecimal digits.
#[derive(
    Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Digest(u128);

impl Digest {
    /// The digest of nothing.
    pub const EMPTY: Self = Self(0);

    /// Wraps a raw digest.
    #[must_use]
    pub const fn from_u128(raw: u128) -> Self {
        Self(raw)
    }

    /// The raw digest.
    #[must_use]
    pub const fn as_u128(self) -> u128 {
        self.0
    }

    /// This digest with one item's hash added.
    #[must_use]
    pub const fn with(self, item: Self) -> Self {
        Self(self.0.wrapping_add(item.0))
    }

    /// This digest with one item's hash taken out.
    #[must_use]
    pub const fn without(self, item: Self) -> Self {
        Self(self.0.wrapping_sub(item.0))
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for Digest {
    type Err = InvalidHex;

    fn from_str(text: &str) -> Result<Self, InvalidHex> {
        hex::parse_u128(text).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_and_taken_out_leaves_no_trace() {
        let item = Digest::from_u128(u128::MAX - 3);
        let start = Digest::from_u128(17);
        assert_eq!(start.with(item).without(item), start);
    }

    #[test]
    fn the_text_form_reads_back() {
        let digest = Digest::from_u128(0xfeed);
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert_eq!(
            "xyz".parse::<Digest>().map_err(|error| error.to_string()),
            Err("`xyz` is not 32 hexadecimal digits".to_owned())
        );
    }
}
