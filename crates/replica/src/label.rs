//! A position, and what else a leader says of itself, as bytes that travel with its answers.

use lockstep_model::FactKind;
use lockstep_position::{Digest, HistoryId, LogId, Position, Revision, Term};
use lockstep_proto::{admin::v1 as pb, replica::v1 as standing};
use prost::Message;
use std::{collections::BTreeMap, time::Duration};

/// The protobuf form of a position.
#[must_use]
pub fn label_of(position: &Position) -> pb::Position {
    pb::Position {
        history: position.history.to_string(),
        revision: position.revision.as_u64(),
        state_digest: position.state_digest.to_string(),
        path_digest: position.path_digest.to_string(),
        applied: position.applied.map(|log_id| pb::LogId {
            term: log_id.term.as_u64(),
            index: log_id.index,
        }),
    }
}

/// A position read back; `None` if it is not one.
#[must_use]
pub fn read_label(label: &pb::Position) -> Option<Position> {
    Some(Position {
        history: label.history.parse::<HistoryId>().ok()?,
        revision: Revision::from_u64(label.revision),
        state_digest: label.state_digest.parse::<Digest>().ok()?,
        path_digest: label.path_digest.parse::<Digest>().ok()?,
        applied: label.applied.as_ref().map(|log_id| LogId {
            term: Term::from_u64(log_id.term),
            index: log_id.index,
        }),
    })
}

/// What a leader says of itself with its answer to a read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeaderStanding {
    /// Where its state is.
    pub(crate) position: Position,
    /// The age of each kind's last proof; empty if it does not know.
    pub(crate) source: BTreeMap<FactKind, Duration>,
}

impl LeaderStanding {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let age = |(kind, age): (&FactKind, &Duration)| standing::KindAge {
            resource: kind.resource().to_owned(),
            age_ms: ms_rounded_up(*age),
        };
        standing::LeaderStanding {
            position: Some(label_of(&self.position)),
            source: self.source.iter().map(age).collect(),
        }
        .encode_to_vec()
    }

    /// Reads one; `None` if it is none.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let read = standing::LeaderStanding::decode(bytes).ok()?;
        let age = |age: standing::KindAge| {
            let mut all = FactKind::ALL.into_iter();
            let kind = all.find(|kind| kind.resource() == age.resource)?;
            Some((kind, Duration::from_millis(age.age_ms)))
        };
        Some(Self {
            position: read_label(&read.position?)?,
            source: read.source.into_iter().filter_map(age).collect(),
        })
    }
}

/// An age may be told older than it is, and never younger.
fn ms_rounded_up(age: Duration) -> u64 {
    u64::try_from(age.as_micros().div_ceil(1_000)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position() -> Position {
        Position {
            history: HistoryId::from_u128(5),
            revision: Revision::from_u64(7),
            state_digest: Digest::from_u128(8),
            path_digest: Digest::from_u128(9),
            applied: Some(LogId {
                term: Term::from_u64(2),
                index: 11,
            }),
        }
    }

    #[test]
    fn a_position_reads_back() {
        assert_eq!(read_label(&label_of(&position())), Some(position()));
    }

    #[test]
    fn a_standing_reads_back_and_no_age_gets_younger() {
        let source = |age| BTreeMap::from([(FactKind::Pod, age), (FactKind::Node, Duration::ZERO)]);
        let standing = |age| LeaderStanding {
            position: position(),
            source: source(age),
        };
        let told = standing(Duration::from_micros(30_001));
        let heard = standing(Duration::from_millis(31));
        assert_eq!(LeaderStanding::from_bytes(&told.to_bytes()), Some(heard));
        let silent = LeaderStanding {
            source: BTreeMap::new(),
            ..told
        };
        assert_eq!(
            LeaderStanding::from_bytes(&silent.to_bytes()),
            Some(silent.clone())
        );
    }

    #[test]
    fn a_kind_of_another_version_is_passed_over() {
        let bytes = standing::LeaderStanding {
            position: Some(label_of(&position())),
            source: vec![standing::KindAge {
                resource: "gateways".to_owned(),
                age_ms: 5,
            }],
        }
        .encode_to_vec();
        let read = LeaderStanding::from_bytes(&bytes).unwrap();
        assert_eq!(read.source, BTreeMap::new());
    }

    #[test]
    fn bytes_that_are_no_standing_are_none() {
        assert_eq!(LeaderStanding::from_bytes(b"\xff\xff"), None);
        assert_eq!(LeaderStanding::from_bytes(b""), None);
    }
}
