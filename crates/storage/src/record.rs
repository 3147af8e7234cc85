//! One log entry as it is stored.
//!
//! In the table the key is the index and the value is, little endian:
//!
//! ```text
//! term u64 | checksum u64 | kind u8 | payload
//! ```
//!
//! The checksum is xxh3 of index, term, kind and payload, so that neither a
//! flipped byte nor a record under another's key goes unnoticed.

use bytes::Bytes;
use lockstep_position::{LogId, Term};
use xxhash_rust::xxh3::Xxh3;

/// Bytes of a stored record that are not payload.
pub(crate) const RECORD_OVERHEAD_BYTES: usize = 17;

/// One log entry; the store does not look inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Which entry.
    pub log_id: LogId,
    /// What the payload is; the owner's own numbering.
    pub kind: u8,
    /// The entry's content.
    pub payload: Bytes,
}

impl Record {
    /// What the record takes in the table. Unit: bytes.
    #[must_use]
    pub fn stored_bytes(&self) -> usize {
        self.payload.len().saturating_add(RECORD_OVERHEAD_BYTES)
    }

    /// The stored value, in three parts to be written one after the other.
    pub(crate) fn encode_head(&self) -> [u8; RECORD_OVERHEAD_BYTES] {
        let mut head = [0; RECORD_OVERHEAD_BYTES];
        let (term, rest) = head.split_at_mut(8);
        let (checksum, kind) = rest.split_at_mut(8);
        term.copy_from_slice(&self.log_id.term.as_u64().to_le_bytes());
        checksum.copy_from_slice(&self.checksum().to_le_bytes());
        kind.copy_from_slice(&[self.kind]);
        head
    }

    /// `None` when the value is not what was stored under `index`.
    pub(crate) fn decode(index: u64, value: &[u8]) -> Option<Self> {
        let (term, rest) = value.split_first_chunk()?;
        let (checksum, rest) = rest.split_first_chunk()?;
        let (kind, payload) = rest.split_first()?;
        let record = Self {
            log_id: LogId {
                term: Term::from_u64(u64::from_le_bytes(*term)),
                index,
            },
            kind: *kind,
            payload: Bytes::copy_from_slice(payload),
        };
        (record.checksum() == u64::from_le_bytes(*checksum)).then_some(record)
    }

    fn checksum(&self) -> u64 {
        let mut hasher = Xxh3::new();
        hasher.update(&self.log_id.index.to_le_bytes());
        hasher.update(&self.log_id.term.as_u64().to_le_bytes());
        hasher.update(&[self.kind]);
        hasher.update(&self.payload);
        hasher.digest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_reads_back_only_unharmed_and_under_its_own_index() {
        let record = Record {
            log_id: LogId {
                term: Term::from_u64(3),
                index: 57,
            },
            kind: 1,
            payload: Bytes::from_static(b"hello"),
        };
        let mut value = record.encode_head().to_vec();
        value.extend_from_slice(&record.payload);
        assert_eq!(Record::decode(57, &value), Some(record));
        assert_eq!(Record::decode(58, &value), None);
        for place in 0..value.len() {
            let mut flipped = value.clone();
            flipped[place] ^= 0x10;
            assert_eq!(Record::decode(57, &flipped), None, "byte {place}");
            assert_eq!(Record::decode(57, &value[..place]), None, "cut at {place}");
        }
    }
}
