//! How far log and vote once were: the file `promise`.
//!
//! A log that comes back shorter, or with an older vote, must not vote: others
//! count on what it has acknowledged. The log file alone cannot tell, since a
//! damaged database may open at an older state, and a file may be missing. So
//! a promise is kept beside it, in two slots of 512 bytes that are written in
//! turn, each with a checksum; the valid one with the higher sequence counts.
//!
//! ```text
//! magic 8 | sequence u64 | replica u64 | history u128
//!   | 0/1, vote 17 | 0/1, last term u64, index u64 | 0/1, committed term u64, index u64 | xxh3 u64
//! ```
//!
//! **Order.** A promise is written after the log's sync and before anybody
//! hears of it, and lowered (and synced) before the log is cut. So it never
//! runs ahead of the log: if it did, one power cut of all replicas would turn
//! into amnesia of all.
//!
//! **Why no sync for each append.** The log is synced by its own transaction.
//! What a power cut can take is the newest promise, never the log; an older
//! promise is weaker, not wrong. What the promise defends against (a database
//! that opens at an older state, a lost file, a half copied folder) is met by
//! one that is a little old, and a kill of the process takes nothing at all.
//! It is synced when the vote changes, when the log is cut, and on closing.
//!
//! The slot also carries the last index known to be committed, as a hint that
//! lets a restarted replica show at once what it showed before.

use lockstep_position::{HistoryId, LogId, ReplicaId, Term};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

use crate::StorageError;
use crate::atomic_file;
use crate::vote::{VOTE_BYTES, Vote};

const MAGIC: [u8; 8] = *b"LSPROM01";
const SLOT_BYTES: usize = 512;
/// Everything before the checksum.
const BODY_BYTES: usize = 8 + 8 + 8 + 16 + (1 + VOTE_BYTES) + 2 * (1 + 16);

/// What a folder has promised.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Promise {
    /// Whose promise it is.
    pub(crate) replica: ReplicaId,
    /// In which history; [`HistoryId::NONE`] before it is known.
    pub(crate) history: HistoryId,
    /// The last vote given.
    pub(crate) vote: Option<Vote>,
    /// The last entry acknowledged.
    pub(crate) last: Option<LogId>,
    /// The last entry known to be committed: a hint, not a promise.
    pub(crate) committed: Option<LogId>,
}

/// The file, and what its newest slot says.
#[derive(Debug)]
pub(crate) struct PromiseFile {
    path: PathBuf,
    file: File,
    sequence: u64,
    promise: Promise,
}

impl PromiseFile {
    /// Makes the file of a folder that has promised nothing yet.
    pub(crate) fn create(path: &Path, replica: ReplicaId) -> Result<(), StorageError> {
        let promise = Promise {
            replica,
            history: HistoryId::NONE,
            vote: None,
            last: None,
            committed: None,
        };
        let slots = [encode(0, &promise), encode(1, &promise)].concat();
        atomic_file::write_synced(path, &slots)
    }

    /// Opens the file and reads its newest valid slot.
    pub(crate) fn open(path: &Path) -> Result<Self, StorageError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(StorageError::io("open", path))?;
        let newest = (0..2)
            .filter_map(|slot| read_slot(&file, slot))
            .max_by_key(|(sequence, _)| *sequence);
        let (sequence, promise) =
            newest.ok_or_else(|| StorageError::damaged(path, "neither of its slots is valid"))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            sequence,
            promise,
        })
    }

    /// What is promised.
    pub(crate) const fn promise(&self) -> &Promise {
        &self.promise
    }

    /// Writes a new promise; a power cut may lose it until [`Self::sync`].
    pub(crate) fn write(&mut self, promise: Promise) -> Result<(), StorageError> {
        if promise == self.promise {
            return Ok(());
        }
        let sequence = self.sequence.saturating_add(1);
        let offset = slot_offset(sequence);
        self.file
            .write_all_at(&encode(sequence, &promise), offset)
            .map_err(StorageError::io("write", &self.path))?;
        self.sequence = sequence;
        self.promise = promise;
        Ok(())
    }

    /// Makes what was written durable.
    pub(crate) fn sync(&self) -> Result<(), StorageError> {
        self.file
            .sync_data()
            .map_err(StorageError::io("sync", &self.path))
    }
}

/// Slots are written in turn, so that a torn write leaves the one before it.
const fn slot_offset(sequence: u64) -> u64 {
    (sequence % 2) * (SLOT_BYTES as u64)
}

fn read_slot(file: &File, slot: u64) -> Option<(u64, Promise)> {
    let mut bytes = [0; SLOT_BYTES];
    file.read_exact_at(&mut bytes, slot_offset(slot)).ok()?;
    decode(&bytes)
}

fn encode(sequence: u64, promise: &Promise) -> [u8; SLOT_BYTES] {
    let mut body = Vec::with_capacity(SLOT_BYTES);
    body.extend_from_slice(&MAGIC);
    body.extend_from_slice(&sequence.to_le_bytes());
    body.extend_from_slice(&promise.replica.as_u64().to_le_bytes());
    body.extend_from_slice(&promise.history.as_u128().to_le_bytes());
    body.push(u8::from(promise.vote.is_some()));
    body.extend_from_slice(&promise.vote.map_or([0; VOTE_BYTES], |vote| vote.encode()));
    for log_id in [promise.last, promise.committed] {
        body.push(u8::from(log_id.is_some()));
        let (term, index) = log_id.map_or((0, 0), |log_id| (log_id.term.as_u64(), log_id.index));
        body.extend_from_slice(&term.to_le_bytes());
        body.extend_from_slice(&index.to_le_bytes());
    }
    body.extend_from_slice(&xxh3_64(&body).to_le_bytes());
    let mut slot = [0; SLOT_BYTES];
    for (to, from) in slot.iter_mut().zip(body) {
        *to = from;
    }
    slot
}

fn decode(slot: &[u8]) -> Option<(u64, Promise)> {
    let (body, rest) = slot.split_at_checked(BODY_BYTES)?;
    let (checksum, _) = rest.split_first_chunk()?;
    if xxh3_64(body) != u64::from_le_bytes(*checksum) {
        return None;
    }
    let (magic, rest) = body.split_first_chunk::<8>()?;
    if *magic != MAGIC {
        return None;
    }
    let (sequence, rest) = rest.split_first_chunk()?;
    let (replica, rest) = rest.split_first_chunk()?;
    let (history, rest) = rest.split_first_chunk()?;
    let (vote, rest) = rest.split_at_checked(1 + VOTE_BYTES)?;
    let (last, committed) = rest.split_at_checked(17)?;
    let promise = Promise {
        replica: ReplicaId::from_u64(u64::from_le_bytes(*replica)),
        history: HistoryId::from_u128(u128::from_le_bytes(*history)),
        vote: match vote.split_first()? {
            (0, _) => None,
            (_, vote) => Some(Vote::decode(vote)?),
        },
        last: decode_log_id(last)?,
        committed: decode_log_id(committed)?,
    };
    Some((u64::from_le_bytes(*sequence), promise))
}

/// The outer `None` is for nonsense, the inner one for "no entry".
fn decode_log_id(bytes: &[u8]) -> Option<Option<LogId>> {
    let (is_some, rest) = bytes.split_first()?;
    let (term, index) = rest.split_first_chunk()?;
    let log_id = LogId {
        term: Term::from_u64(u64::from_le_bytes(*term)),
        index: u64::from_le_bytes(index.try_into().ok()?),
    };
    Some((*is_some != 0).then_some(log_id))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn promise(index: u64) -> Promise {
        let log_id = LogId {
            term: Term::from_u64(2),
            index,
        };
        Promise {
            replica: ReplicaId::from_u64(7),
            history: HistoryId::from_u128(9),
            vote: Some(Vote {
                term: Term::from_u64(2),
                candidate: ReplicaId::from_u64(7),
                committed: true,
            }),
            last: Some(log_id),
            committed: None,
        }
    }

    #[test]
    fn the_newest_valid_slot_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("promise");
        PromiseFile::create(&path, ReplicaId::from_u64(7)).unwrap();
        let mut file = PromiseFile::open(&path).unwrap();
        for index in 1..=5 {
            file.write(promise(index)).unwrap();
        }
        assert_eq!(*PromiseFile::open(&path).unwrap().promise(), promise(5));

        let whole = std::fs::read(&path).unwrap();
        for place in 0..whole.len() {
            let mut torn = whole.clone();
            torn[place] ^= 1;
            std::fs::write(&path, &torn).unwrap();
            let read = *PromiseFile::open(&path).unwrap().promise();
            assert!([promise(4), promise(5)].contains(&read), "byte {place}");
        }
    }

    #[test]
    fn two_damaged_slots_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("promise");
        std::fs::write(&path, [0; 2 * SLOT_BYTES]).unwrap();
        let error = PromiseFile::open(&path).unwrap_err().to_string();
        assert_eq!(
            error,
            format!(
                "{} is damaged: neither of its slots is valid; move the folder away and start \
                 again: the replica then comes back empty and rejoins under a new id, as long \
                 as a majority of the group is up without it",
                path.display()
            )
        );
    }
}
