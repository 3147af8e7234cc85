//! Which replica.

use serde::{Deserialize, Serialize};
use std::str::FromStr;

use crate::hex::{self, InvalidHex};

/// Names one replica for as long as it keeps its data folder.
///
/// Random, made when the folder is made, stored in it. It is neither a pod
/// name nor an address: a pod that comes back without its data has a new id,
/// because it no longer knows what it once promised.
///
/// Prints as 16 hexadecimal digits.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ReplicaId(u64);

impl ReplicaId {
    /// Wraps random bits.
    #[must_use]
    pub const fn from_u64(raw: u64) -> Self {
        Self(raw)
    }

    /// The raw bits.
    #[must_use]
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

impl std::fmt::Display for ReplicaId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for ReplicaId {
    type Err = InvalidHex;

    fn from_str(text: &str) -> Result<Self, InvalidHex> {
        hex::parse_u64(text).map(Self)
    }
}
