//! Positions as replicas report them.

use lockstep_position::{Digest, HistoryId, InvalidHex, LogId, Position, Revision, Term};
use lockstep_proto::admin::v1 as pb;

/// Reads a position.
///
/// # Errors
///
/// An id or a digest with another form than 32 hexadecimal digits is named.
pub(crate) fn read_position(position: &pb::Position) -> Result<Position, InvalidHex> {
    let applied = position.applied.as_ref();
    Ok(Position {
        history: position.history.parse::<HistoryId>()?,
        revision: Revision::from_u64(position.revision),
        state_digest: position.state_digest.parse::<Digest>()?,
        path_digest: position.path_digest.parse::<Digest>()?,
        applied: applied.map(read_log_id),
    })
}

/// Reads the name of a log entry.
pub(crate) fn read_log_id(log_id: &pb::LogId) -> LogId {
    LogId {
        term: Term::from_u64(log_id.term),
        index: log_id.index,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told() -> pb::Position {
        pb::Position {
            history: format!("{:032x}", 5),
            revision: 7,
            state_digest: format!("{:032x}", 8),
            path_digest: format!("{:032x}", 9),
            applied: Some(pb::LogId { term: 2, index: 11 }),
        }
    }

    #[test]
    fn a_position_is_read() {
        let expected = Position {
            history: HistoryId::from_u128(5),
            revision: Revision::from_u64(7),
            state_digest: Digest::from_u128(8),
            path_digest: Digest::from_u128(9),
            applied: Some(LogId {
                term: Term::from_u64(2),
                index: 11,
            }),
        };
        assert_eq!(read_position(&told()), Ok(expected));
    }

    #[test]
    fn what_is_no_digest_is_named() {
        for broken in [
            pb::Position {
                history: "zz".to_owned(),
                ..told()
            },
            pb::Position {
                state_digest: "zz".to_owned(),
                ..told()
            },
            pb::Position {
                path_digest: "zz".to_owned(),
                ..told()
            },
        ] {
            let error = read_position(&broken).unwrap_err();
            assert_eq!(error.to_string(), "`zz` is not 32 hexadecimal digits");
        }
    }
}
