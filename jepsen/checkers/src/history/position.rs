//! Replicas, revisions and digests, as histories write them.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// One replica's place in the group, from 1; written `n1`. It keeps its place when its process
/// restarts and when it loses its disk.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Replica(pub u16);

/// Why a text is no replica.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no replica; allowed are `n0`, `n1`, `n2` and so on")]
pub struct InvalidReplica(String);

/// A revision; written `["9f…", 1207]`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "(Digest, u64)", into = "(Digest, u64)")]
pub struct Rev {
    /// The history id; revisions of two histories are not comparable.
    pub history: u128,
    /// How many batches changed content.
    pub number: u64,
}

/// 128 bits, written as 32 hexadecimal digits.
#[derive(
    Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(pub u128);

/// Why a text is no digest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no digest: up to 32 hexadecimal digits are allowed")]
pub struct InvalidDigest(String);

// === impl Replica ===

impl fmt::Display for Replica {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0)
    }
}

impl FromStr for Replica {
    type Err = InvalidReplica;

    fn from_str(text: &str) -> Result<Self, InvalidReplica> {
        let number = text
            .strip_prefix('n')
            .and_then(|digits| digits.parse().ok());
        number
            .map(Self)
            .ok_or_else(|| InvalidReplica(text.to_owned()))
    }
}

impl TryFrom<String> for Replica {
    type Error = InvalidReplica;

    fn try_from(text: String) -> Result<Self, InvalidReplica> {
        text.parse()
    }
}

impl From<Replica> for String {
    fn from(replica: Replica) -> Self {
        replica.to_string()
    }
}

// === impl Rev ===

impl Rev {
    /// A revision.
    #[must_use]
    pub const fn new(history: u128, number: u64) -> Self {
        Self { history, number }
    }
}

impl fmt::Display for Rev {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.number)
    }
}

impl From<(Digest, u64)> for Rev {
    fn from((history, number): (Digest, u64)) -> Self {
        Self::new(history.0, number)
    }
}

impl From<Rev> for (Digest, u64) {
    fn from(rev: Rev) -> Self {
        (Digest(rev.history), rev.number)
    }
}

// === impl Digest ===

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(text: &str) -> Result<Self, InvalidDigest> {
        let digits = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = u128::from_str_radix(text, 16).ok().filter(|_| digits);
        number
            .map(Self)
            .ok_or_else(|| InvalidDigest(text.to_owned()))
    }
}

impl TryFrom<String> for Digest {
    type Error = InvalidDigest;

    fn try_from(text: String) -> Result<Self, InvalidDigest> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}
