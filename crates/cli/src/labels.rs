//! The labels that a replica puts on its answers: who it is, and where in history.

use lockstep_position::{Digest, HistoryId, ReplicaId, Revision};
use serde::Serialize;
use std::fmt::Display;
use std::str::FromStr;
use tonic::metadata::MetadataMap;

/// The request header that asks for the revision in every message.
pub(crate) const ASK: (&str, &str) = ("lockstep-labels", "on");

/// What the response headers say; every part is absent when another kind of server answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Labels {
    pub(crate) replica: Option<ReplicaId>,
    pub(crate) name: Option<String>,
    pub(crate) history: Option<HistoryId>,
    pub(crate) revision: Option<Revision>,
    pub(crate) digest: Option<Digest>,
    pub(crate) stale: Option<bool>,
    pub(crate) age_ms: Option<u64>,
    pub(crate) source_stale: Option<bool>,
}

/// The labels as fields of a JSON object.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct LabelFields {
    replica: Option<String>,
    name: Option<String>,
    history: Option<String>,
    revision: Option<u64>,
    digest: Option<String>,
    stale: Option<bool>,
    age_ms: Option<u64>,
    source_stale: Option<bool>,
}

/// A header with another content than it promises.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("header {header}: {reason}")]
pub(crate) struct InvalidLabel {
    header: &'static str,
    reason: String,
}

impl Labels {
    pub(crate) fn read(headers: &MetadataMap) -> Result<Self, InvalidLabel> {
        Ok(Self {
            replica: parsed(headers, "lockstep-replica")?,
            name: text(headers, "lockstep-name")?.map(str::to_owned),
            history: parsed(headers, "lockstep-history")?,
            revision: parsed(headers, "lockstep-revision")?,
            digest: parsed(headers, "lockstep-digest")?,
            stale: parsed(headers, "lockstep-stale")?,
            age_ms: parsed(headers, "lockstep-age-ms")?,
            source_stale: parsed(headers, "lockstep-source-stale")?,
        })
    }

    /// The labels of a message that carries its own revision.
    ///
    /// The digest belongs to the revision of the headers and is dropped when the message is of
    /// another one.
    pub(crate) fn at(&self, revision: Option<Revision>) -> Self {
        match revision {
            Some(own) if self.revision != Some(own) => Self {
                revision: Some(own),
                digest: None,
                ..self.clone()
            },
            Some(_) | None => self.clone(),
        }
    }

    /// Where in history, if the server says so.
    pub(crate) fn place(&self) -> Option<(HistoryId, Revision)> {
        self.history.zip(self.revision)
    }

    pub(crate) fn fields(&self) -> LabelFields {
        LabelFields {
            replica: self.replica.map(|replica| replica.to_string()),
            name: self.name.clone(),
            history: self.history.map(|history| history.to_string()),
            revision: self.revision.map(Revision::as_u64),
            digest: self.digest.map(|digest| digest.to_string()),
            stale: self.stale,
            age_ms: self.age_ms,
            source_stale: self.source_stale,
        }
    }
}

/// The first 12 digits: enough for eyes, and a whole digest is wider than a column.
pub(crate) fn short(digest: Digest) -> String {
    digest.to_string().chars().take(12).collect()
}

fn text<'a>(
    headers: &'a MetadataMap,
    header: &'static str,
) -> Result<Option<&'a str>, InvalidLabel> {
    let Some(value) = headers.get(header) else {
        return Ok(None);
    };
    let not_text = |_| InvalidLabel {
        header,
        reason: "not visible ASCII".to_owned(),
    };
    value.to_str().map(Some).map_err(not_text)
}

fn parsed<T: FromStr<Err: Display>>(
    headers: &MetadataMap,
    header: &'static str,
) -> Result<Option<T>, InvalidLabel> {
    let invalid = |error: T::Err| InvalidLabel {
        header,
        reason: error.to_string(),
    };
    text(headers, header)?
        .map(|value| value.parse().map_err(invalid))
        .transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(values: &[(&'static str, &str)]) -> MetadataMap {
        let mut headers = MetadataMap::new();
        for (header, value) in values {
            headers.insert(*header, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn another_kind_of_server_has_no_labels() {
        assert_eq!(Labels::read(&MetadataMap::new()), Ok(Labels::default()));
    }

    #[test]
    fn all_labels_are_read() {
        let digest = format!("{:032x}", 7);
        let read = Labels::read(&headers(&[
            ("lockstep-replica", "00000000000000ab"),
            ("lockstep-name", "replica-1"),
            ("lockstep-history", &format!("{:032x}", 5)),
            ("lockstep-revision", "12"),
            ("lockstep-digest", &digest),
            ("lockstep-stale", "false"),
            ("lockstep-age-ms", "212"),
            ("lockstep-source-stale", "true"),
        ]));
        let expected = Labels {
            replica: Some(ReplicaId::from_u64(0xab)),
            name: Some("replica-1".to_owned()),
            history: Some(HistoryId::from_u128(5)),
            revision: Some(Revision::from_u64(12)),
            digest: Some(Digest::from_u128(7)),
            stale: Some(false),
            age_ms: Some(212),
            source_stale: Some(true),
        };
        assert_eq!(read, Ok(expected));
    }

    #[test]
    fn a_label_of_another_form_is_named_with_its_header() {
        for (header, value, reason) in [
            ("lockstep-replica", "1", "`1` is not 16 hexadecimal digits"),
            ("lockstep-history", "x", "`x` is not 32 hexadecimal digits"),
            (
                "lockstep-revision",
                "-1",
                "`-1` is not a revision such as `r41822`",
            ),
            ("lockstep-digest", "", "`` is not 32 hexadecimal digits"),
            (
                "lockstep-stale",
                "maybe",
                "provided string was not `true` or `false`",
            ),
            ("lockstep-age-ms", "1.5", "invalid digit found in string"),
        ] {
            let error = Labels::read(&headers(&[(header, value)])).unwrap_err();
            assert_eq!(error.to_string(), format!("header {header}: {reason}"));
        }
    }

    #[test]
    fn a_digest_does_not_outlive_its_revision() {
        let opened = Labels {
            revision: Some(Revision::from_u64(4)),
            digest: Some(Digest::from_u128(7)),
            ..Labels::default()
        };
        assert_eq!(opened.at(None), opened);
        assert_eq!(opened.at(Some(Revision::from_u64(4))), opened);
        let later = opened.at(Some(Revision::from_u64(5)));
        assert_eq!(
            (later.revision, later.digest),
            (Some(Revision::from_u64(5)), None)
        );
    }
}
