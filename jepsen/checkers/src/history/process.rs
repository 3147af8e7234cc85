//! Who did or saw something.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::{fmt, str::FromStr};

use super::Replica;

/// Who did or saw something, one thing at a time.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Process {
    /// A client of operations; written as a number. One whose operation ended unknown is
    /// retired: its successor gets a new number.
    Client(u64),
    /// One stream, from its opening to its end; written `stream-1182`.
    Stream(u64),
    /// Whoever looks at one replica from outside; written `obs-n2`.
    Observer(Replica),
    /// Whoever makes the faults; written `nemesis`.
    Nemesis,
}

/// Why a text is no process.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no process; allowed are a number, `stream-NUMBER`, `obs-REPLICA` and `nemesis`")]
pub struct InvalidProcess(String);

// === impl Process ===

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(number) => write!(f, "{number}"),
            Self::Stream(number) => write!(f, "stream-{number}"),
            Self::Observer(replica) => write!(f, "obs-{replica}"),
            Self::Nemesis => f.write_str("nemesis"),
        }
    }
}

impl FromStr for Process {
    type Err = InvalidProcess;

    fn from_str(text: &str) -> Result<Self, InvalidProcess> {
        let read = match text.split_once('-') {
            Some(("stream", number)) => number.parse().ok().map(Self::Stream),
            Some(("obs", replica)) => replica.parse().ok().map(Self::Observer),
            Some(_) => None,
            None if text == "nemesis" => Some(Self::Nemesis),
            None => text.parse().ok().map(Self::Client),
        };
        read.ok_or_else(|| InvalidProcess(text.to_owned()))
    }
}

impl Serialize for Process {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Client(number) => serializer.serialize_u64(*number),
            Self::Stream(_) | Self::Observer(_) | Self::Nemesis => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Process {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(u64),
            Text(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Number(number) => Ok(Self::Client(number)),
            Written::Text(text) => text.parse().map_err(D::Error::custom),
        }
    }
}
