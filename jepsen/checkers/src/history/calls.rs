//! Operations: what begins and ends.

use lockstep_jepsen_model::{ObjectKey, Question};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;

use super::{Digest, Replica, Rev};

/// An operation begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "f", content = "value", rename_all = "kebab-case")]
pub enum Call {
    /// A test writes objects to the API server, all in this order.
    TruthWrite(TruthWrite),
    /// A client opens a stream.
    Open(Open),
    /// A register is read.
    Read {
        /// Which register.
        key: u64,
        /// How fresh the answer must be.
        mode: ReadMode,
    },
    /// A register is set.
    Write {
        /// Which register.
        key: u64,
        /// To what.
        value: u64,
    },
    /// A register is set if it holds `from`; `Fail` if it does not.
    Cas {
        /// Which register.
        key: u64,
        /// What it must hold.
        from: u64,
        /// What it holds then.
        to: u64,
    },
    /// A unique element is added to the set.
    Add(u64),
}

/// An operation ended and certainly took effect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "f", content = "value", rename_all = "kebab-case")]
pub enum Return {
    /// The objects are written; with the resource version of each, 0 for one that is gone.
    TruthWrite(Vec<u64>),
    /// The response headers of the stream are there.
    Open(Opened),
    /// What the register holds.
    Read {
        /// The value; none if it was never set.
        value: Option<u64>,
        /// The revision that was read.
        rev: Option<Rev>,
        /// The digest of the content at that revision, if the answer carries it.
        sigma: Option<Digest>,
    },
    /// The register is set.
    Write {
        /// The revision that set it.
        rev: Option<Rev>,
    },
    /// The register held what it should and is set.
    Cas {
        /// The revision that set it.
        rev: Option<Rev>,
    },
    /// The element is in the set.
    Add {
        /// The revision that added it.
        rev: Option<Rev>,
    },
}

/// The name of an operation.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// See [`Call::TruthWrite`].
    TruthWrite,
    /// See [`Call::Open`].
    Open,
    /// See [`Call::Read`].
    Read,
    /// See [`Call::Write`].
    Write,
    /// See [`Call::Cas`].
    Cas,
    /// See [`Call::Add`].
    Add,
}

/// How fresh the answer to a read must be.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadMode {
    /// As new as everything that had returned when the read began.
    Linearizable,
    /// Whatever this replica has.
    Local,
}

/// What a test writes to the API server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TruthWrite {
    /// The writes, in order.
    pub writes: Vec<Written>,
}

/// One write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Written {
    /// This object is created or replaced: the Kubernetes JSON, with `kind` and `metadata`.
    Put(Arc<Value>),
    /// This object is deleted.
    Delete(ObjectKey),
}

/// All objects of the API server at one moment, read from its store.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// The objects.
    pub objects: Vec<Arc<Value>>,
}

/// A client opens a stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Open {
    /// Who asks: streams of one client share what the client has seen.
    pub client: u64,
    /// The replica that is asked.
    pub replica: Replica,
    /// What is asked.
    pub question: Question,
    /// The oldest revision that the client accepts, if it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Rev>,
    /// Whether this client means to read what it is sent: a slow reader's stream is not held
    /// against the replica.
    #[serde(default = "yes")]
    pub reads: bool,
}

/// What the response headers of a stream say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// `lockstep-history` and `lockstep-revision`.
    pub rev: Option<Rev>,
    /// `lockstep-stale`.
    pub stale: Option<bool>,
    /// `lockstep-age-ms`.
    pub age_ms: Option<u64>,
}

fn yes() -> bool {
    true
}

// === impl Call ===

impl Call {
    /// The operation's name.
    #[must_use]
    pub const fn operation(&self) -> Operation {
        match self {
            Self::TruthWrite(_) => Operation::TruthWrite,
            Self::Open(_) => Operation::Open,
            Self::Read { .. } => Operation::Read,
            Self::Write { .. } => Operation::Write,
            Self::Cas { .. } => Operation::Cas,
            Self::Add(_) => Operation::Add,
        }
    }
}

// === impl Return ===

impl Return {
    /// The operation's name.
    #[must_use]
    pub const fn operation(&self) -> Operation {
        match self {
            Self::TruthWrite(_) => Operation::TruthWrite,
            Self::Open(_) => Operation::Open,
            Self::Read { .. } => Operation::Read,
            Self::Write { .. } => Operation::Write,
            Self::Cas { .. } => Operation::Cas,
            Self::Add { .. } => Operation::Add,
        }
    }
}
