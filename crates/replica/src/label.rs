//! A position as the bytes that travel with a leader's answer.

use lockstep_position::{Digest, HistoryId, LogId, Position, Revision, Term};
use lockstep_proto::admin::v1 as pb;
use prost::Message;

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

pub(crate) fn to_bytes(position: &Position) -> Vec<u8> {
    label_of(position).encode_to_vec()
}

pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Position> {
    read_label(&pb::Position::decode(bytes).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_reads_back() {
        let position = Position {
            history: HistoryId::from_u128(5),
            revision: Revision::from_u64(7),
            state_digest: Digest::from_u128(8),
            path_digest: Digest::from_u128(9),
            applied: Some(LogId {
                term: Term::from_u64(2),
                index: 11,
            }),
        };
        assert_eq!(from_bytes(&to_bytes(&position)), Some(position));
    }

    #[test]
    fn bytes_that_are_no_position_are_none() {
        assert_eq!(from_bytes(b"\xff\xff"), None);
        assert_eq!(from_bytes(b""), None);
    }
}
