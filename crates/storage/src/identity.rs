//! Who a data folder belongs to, as text in the file `identity`.
//!
//! The first line is JSON, the second its xxh3 checksum:
//!
//! ```text
//! {"format":1,"cluster":"prod","name":"replica-1","replica":"00f1…","history":"7c…"}
//! xxh3:9a3f…
//! ```

use lockstep_position::{HistoryId, ReplicaId};
use serde::{Deserialize, Serialize};
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

use crate::StorageError;

/// The newest format that this version reads, and the one it writes.
pub(crate) const FORMAT: u64 = 1;

/// Who a data folder belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The cluster's name.
    pub(crate) cluster: String,
    /// The replica's configured name.
    pub(crate) name: String,
    /// The replica's id: random, for as long as the folder exists.
    pub(crate) replica: ReplicaId,
    /// The history, once known.
    pub(crate) history: Option<HistoryId>,
    /// Whether a folder was given up here before: this one may join the group, and never make one.
    pub(crate) joins_only: bool,
}

/// The file's first line.
#[derive(Serialize, Deserialize)]
struct Line {
    format: u64,
    cluster: String,
    name: String,
    replica: String,
    history: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    joins_only: bool,
}

/// Only what every format has, to name a newer one before its other fields are looked at.
#[derive(Deserialize)]
struct FormatOnly {
    format: u64,
}

impl Identity {
    /// The file's content.
    pub(crate) fn to_text(&self) -> Result<String, serde_json::Error> {
        let line = serde_json::to_string(&Line {
            format: FORMAT,
            cluster: self.cluster.clone(),
            name: self.name.clone(),
            replica: self.replica.to_string(),
            history: self.history.map(|history| history.to_string()),
            joins_only: self.joins_only,
        })?;
        let checksum = xxh3_64(line.as_bytes());
        Ok(format!("{line}\nxxh3:{checksum:016x}\n"))
    }

    /// Reads the file's content; `path` is for the errors.
    pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<Self, StorageError> {
        let damaged = |what: &str| StorageError::damaged(path, what);
        let text = std::str::from_utf8(bytes).map_err(|_| damaged("it is not text"))?;
        let (line, checksum) = text
            .split_once('\n')
            .ok_or_else(|| damaged("its checksum line is missing"))?;
        if checksum != format!("xxh3:{:016x}\n", xxh3_64(line.as_bytes())) {
            return Err(damaged("its checksum does not match"));
        }
        let FormatOnly { format } =
            serde_json::from_str(line).map_err(|_| damaged("it names no format"))?;
        if format > FORMAT {
            return Err(StorageError::NewerFormat {
                path: path.to_owned(),
                found: format,
                supported: FORMAT,
            });
        }
        let line: Line =
            serde_json::from_str(line).map_err(|_| damaged("it is not an identity"))?;
        let history = line.history.map(|history| history.parse()).transpose();
        Ok(Self {
            cluster: line.cluster,
            name: line.name,
            replica: line
                .replica
                .parse()
                .map_err(|_| damaged("its replica id is not an id"))?,
            history: history.map_err(|_| damaged("its history is not an id"))?,
            joins_only: line.joins_only,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity {
            cluster: "prod".to_owned(),
            name: "replica-1".to_owned(),
            replica: ReplicaId::from_u64(17),
            history: Some(HistoryId::from_u128(4)),
            joins_only: false,
        }
    }

    fn error_of(text: &str) -> String {
        Identity::parse(Path::new("identity"), text.as_bytes())
            .unwrap_err()
            .to_string()
    }

    fn sealed(line: &str) -> String {
        format!("{line}\nxxh3:{:016x}\n", xxh3_64(line.as_bytes()))
    }

    #[test]
    fn an_identity_reads_back() {
        let text = identity().to_text().unwrap();
        let read = Identity::parse(Path::new("identity"), text.as_bytes()).unwrap();
        assert_eq!(read, identity());
        let joins_only = Identity {
            joins_only: true,
            ..identity()
        };
        let text = joins_only.to_text().unwrap();
        let read = Identity::parse(Path::new("identity"), text.as_bytes()).unwrap();
        assert_eq!(read, joins_only);
    }

    #[test]
    fn nonsense_is_refused_with_its_reason() {
        let advice = "; move the folder away and start again: the replica then comes back empty \
                      and rejoins under a new id, as long as a majority of the group is up \
                      without it";
        let cases = [
            (
                String::new(),
                "identity is damaged: its checksum line is missing",
            ),
            (
                "{}\nxxh3:0\n".to_owned(),
                "identity is damaged: its checksum does not match",
            ),
            (sealed("[]"), "identity is damaged: it names no format"),
            (
                sealed(r#"{"format":1}"#),
                "identity is damaged: it is not an identity",
            ),
        ];
        for (text, wanted) in cases {
            assert_eq!(error_of(&text), format!("{wanted}{advice}"));
        }
    }

    #[test]
    fn a_newer_format_is_named_before_anything_else_is_read() {
        assert_eq!(
            error_of(&sealed(r#"{"format":2,"what":"ever"}"#)),
            "identity has format 2, this version reads up to format 1; use the newer version, or \
             move the folder away and start again: the replica then comes back empty and rejoins \
             under a new id, as long as a majority of the group is up without it"
        );
    }
}
