//! Committed entries of the log.

use lockstep_jepsen_model::{Change, Kind};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, sync::Arc};

use super::{Digest, Rev};

/// One committed entry, as a replica's log has it. Every index is written at least once, in
/// order, from the first entry of the history on; another replica's view may be written too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The place in the log.
    pub index: u64,
    /// The term of the leader that appended it.
    pub term: u64,
    /// The revision after it was applied.
    pub rev: Rev,
    /// The digest of the content at that revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sigma: Option<Digest>,
    /// The digest of the path that led to that revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chi: Option<Digest>,
    /// What it holds.
    pub payload: Payload,
}

/// What an entry holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Payload {
    /// Nothing.
    Blank,
    /// The voters: one set, or two in a joint configuration. By persistent replica id.
    Membership(Vec<BTreeSet<u64>>),
    /// A batch of commands.
    Batch {
        /// The term in which its proposer led.
        term: u64,
        /// Which part of a change too large for one entry.
        part: Part,
        /// What it does to content, whether or not the batch is refused. Changes of a part
        /// count with the last part.
        changes: Arc<[Change]>,
        /// What it notes of the source.
        #[serde(default)]
        source: Arc<[SourceStep]>,
    },
}

/// Which part of a change.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// From 0.
    pub number: u32,
    /// How many there are, at least 1.
    pub of: u32,
}

/// What a batch notes of the source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceStep {
    /// An object is as it was at a resource version; the uid tells it from an earlier object of
    /// its name.
    Object {
        /// Its kind.
        kind: Kind,
        /// Its uid.
        uid: Arc<str>,
        /// Its resource version.
        version: u64,
    },
    /// One kind is known up to a resource version.
    Cursor {
        /// The kind: the plural resource name.
        kind: Arc<str>,
        /// The resource version.
        version: u64,
    },
    /// The source is another than before, or has gone back for good: versions begin anew.
    NewSource,
}

// === impl Part ===

impl Part {
    /// The only part.
    pub const WHOLE: Self = Self { number: 0, of: 1 };

    /// Whether it is the last one.
    #[must_use]
    pub const fn is_last(self) -> bool {
        self.number + 1 >= self.of
    }
}
