//! What a replica makes of a message, without a replica: read as its receiver reads it, and
//! written again as it would be sent on. For those who check messages or make them up.

use lockstep_proto::peer::v1 as wire;

use crate::entry_codec::{
    CodecError, ballot_of, entry_from_wire, entry_to_wire, from_record, meta_from_wire,
    meta_to_wire, to_record, vote_from_wire,
};

/// Reads an entry, by way of the record that it is stored as.
///
/// # Errors
///
/// [`CodecError`] names the field that is missing or means nothing.
pub fn reread_entry(entry: wire::Entry) -> Result<wire::Entry, CodecError> {
    let record = to_record(entry_from_wire(entry)?);
    from_record(record).map(entry_to_wire)
}

/// Reads what a snapshot covers.
///
/// # Errors
///
/// [`CodecError`] names the field that is missing or means nothing.
pub fn reread_snapshot_meta(meta: wire::SnapshotMeta) -> Result<wire::SnapshotMeta, CodecError> {
    meta_from_wire(meta).map(|meta| meta_to_wire(&meta))
}

/// Reads a vote.
///
/// # Errors
///
/// [`CodecError::Missing`] when there is none.
pub fn reread_ballot(ballot: Option<wire::Ballot>) -> Result<wire::Ballot, CodecError> {
    vote_from_wire(ballot).map(|vote| ballot_of(&vote))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written_as_it_was_or_refused_by_its_field() {
        let entry = wire::Entry {
            log_id: Some(wire::LogId { term: 1, index: 2 }),
            kind: 1,
            payload: "abc".into(),
        };
        assert_eq!(reread_entry(entry.clone()), Ok(entry.clone()));
        let unnumbered = wire::Entry {
            log_id: None,
            ..entry
        };
        let refused = Err(CodecError::Missing("entry.log_id"));
        assert_eq!(reread_entry(unnumbered), refused);
        let refused = Err(CodecError::Missing("membership"));
        assert_eq!(reread_snapshot_meta(wire::SnapshotMeta::default()), refused);
        assert_eq!(reread_ballot(None), Err(CodecError::Missing("ballot")));
    }
}
