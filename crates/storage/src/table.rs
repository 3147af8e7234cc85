//! The log file: a redb database with the tables `log` and `meta`.
//!
//! `meta` holds `owner` (the replica id), `vote` and `purged`, each followed
//! by the xxh3 of key and value. redb may panic on a file that was altered
//! under it; every entry point here turns a panic into an error.

use lockstep_position::{LogId, ReplicaId, Term};
use redb::{Database, ReadableDatabase, ReadableTable, Table, TableDefinition};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::Xxh3;

use crate::StorageError;
use crate::order::Change;
use crate::record::{RECORD_OVERHEAD_BYTES, Record};
use crate::tail::{Budget, next_index};
use crate::vote::Vote;

const LOG: TableDefinition<u64, &[u8]> = TableDefinition::new("log");
const META: TableDefinition<&str, &[u8]> = TableDefinition::new("meta");
const OWNER: &str = "owner";
const VOTE: &str = "vote";
const PURGED: &str = "purged";

/// Pages that redb may keep in memory. Unit: bytes.
const CACHE_BYTES: usize = 32 << 20;
/// Records removed by one transaction, so that no append waits long behind a purge.
const REMOVED_PER_COMMIT: usize = 256;

/// The log file, open.
pub(crate) struct LogTable {
    path: PathBuf,
    database: Database,
}

/// What a log file holds, as found when it was opened.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Whose log it is.
    pub(crate) owner: Option<ReplicaId>,
    /// The stored vote.
    pub(crate) vote: Option<Vote>,
    /// The last entry forgotten.
    pub(crate) purged: Option<LogId>,
    /// The last entry; the last purged one when there is none.
    pub(crate) last: Option<LogId>,
    /// Whether records of forgotten entries are still there.
    pub(crate) leftovers: bool,
}

impl LogTable {
    /// Makes an empty log file.
    pub(crate) fn create(path: &Path, owner: ReplicaId) -> Result<(), StorageError> {
        contained(path, || {
            let database = Database::create(path)?;
            let transaction = database.begin_write()?;
            {
                transaction.open_table(LOG)?;
                let mut meta = transaction.open_table(META)?;
                put_meta(&mut meta, OWNER, &owner.as_u64().to_le_bytes())?;
            }
            transaction.commit()?;
            Ok(database.close()?)
        })
    }

    /// Opens the file, verifies all of it, and tells what it holds.
    pub(crate) fn open(path: &Path) -> Result<(Self, Found), StorageError> {
        let database = contained(path, || {
            let mut builder = Database::builder();
            builder
                .set_cache_size(CACHE_BYTES)
                .set_check_integrity_on_open(true);
            Ok(builder.open(path)?)
        })?;
        let table = Self {
            path: path.to_owned(),
            database,
        };
        let found = table.scan()?;
        Ok((table, found))
    }

    /// Applies changes in order, durably, as one transaction; then removes some
    /// records of forgotten entries. Returns whether more of those are left.
    pub(crate) fn commit(
        &self,
        changes: &[Change],
        purged: Option<LogId>,
    ) -> Result<bool, StorageError> {
        contained(&self.path, || {
            let transaction = self.database.begin_write()?;
            let leftovers;
            {
                let mut log = transaction.open_table(LOG)?;
                let mut meta = transaction.open_table(META)?;
                for change in changes {
                    apply(&mut log, &mut meta, change)?;
                }
                leftovers = remove_some(&mut log, purged)?;
            }
            transaction.commit()?;
            Ok(leftovers)
        })
    }

    /// Reads entries `from..to`, up to `bytes_max` but at least one.
    ///
    /// Stops at the first index that is not there.
    pub(crate) fn read(
        &self,
        from: u64,
        to: u64,
        bytes_max: usize,
    ) -> Result<Vec<Record>, StorageError> {
        let mut budget = Budget::new(bytes_max);
        let values = contained(&self.path, || {
            let log = self.database.begin_read()?.open_table(LOG)?;
            let mut records = Vec::new();
            for item in log.range(from..to)? {
                let (key, value) = item?;
                let record = Record::decode(key.value(), value.value()).ok_or(key.value());
                let takes = record.as_ref().map_or(true, |record| budget.takes(record));
                if !takes {
                    break;
                }
                records.push(record);
            }
            Ok(records)
        })?;
        let records = values.into_iter().collect::<Result<Vec<_>, _>>();
        records.map_err(|index| self.bad_record(index))
    }

    /// Closes the file; what redb still wants to write is written.
    pub(crate) fn close(self) -> Result<(), StorageError> {
        let Self { path, database } = self;
        contained(&path, || Ok(database.close()?))
    }

    /// Reads every record once: a damaged or missing one is found now, not when it is needed.
    fn scan(&self) -> Result<Found, StorageError> {
        let mut found = self.scan_meta()?;
        let first = next_index(found.purged);
        found.last = found.purged;
        let mut next = first;
        let mut gap = None;
        let mut bad = None;
        let leftovers = contained(&self.path, || {
            let log = self.database.begin_read()?.open_table(LOG)?;
            for item in log.range(first..)? {
                let (key, value) = item?;
                let Some(record) = Record::decode(key.value(), value.value()) else {
                    bad = Some(key.value());
                    break;
                };
                if record.log_id.index != next {
                    gap = Some(next);
                    break;
                }
                next = next.saturating_add(1);
                found.last = Some(record.log_id);
            }
            Ok(log.range(..first)?.next().is_some())
        })?;
        if let Some(index) = bad {
            return Err(self.bad_record(index));
        }
        if let Some(index) = gap {
            let what = format!("entry {index} is missing");
            return Err(StorageError::damaged(&self.path, what));
        }
        found.leftovers = leftovers;
        Ok(found)
    }

    fn scan_meta(&self) -> Result<Found, StorageError> {
        let read = contained(&self.path, || {
            let meta = self.database.begin_read()?.open_table(META)?;
            let get = |key| -> Result<Option<Vec<u8>>, redb::Error> {
                Ok(meta.get(key)?.map(|value| value.value().to_vec()))
            };
            Ok([get(OWNER)?, get(VOTE)?, get(PURGED)?])
        })?;
        let [owner, vote, purged] = read;
        Ok(Found {
            owner: self.decode_meta(OWNER, owner, |bytes| {
                Some(ReplicaId::from_u64(u64::from_le_bytes(
                    bytes.try_into().ok()?,
                )))
            })?,
            vote: self.decode_meta(VOTE, vote, Vote::decode)?,
            purged: self.decode_meta(PURGED, purged, decode_log_id)?,
            ..Found::default()
        })
    }

    fn decode_meta<T>(
        &self,
        key: &str,
        value: Option<Vec<u8>>,
        decode: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<Option<T>, StorageError> {
        let Some(value) = value else { return Ok(None) };
        let decoded = value
            .split_last_chunk()
            .filter(|(value, checksum)| **checksum == checksum_of(key, value))
            .and_then(|(value, _)| decode(value));
        let what = || format!("the checksum of its {key} does not match");
        let decoded = decoded.ok_or_else(|| StorageError::damaged(&self.path, what()))?;
        Ok(Some(decoded))
    }

    fn bad_record(&self, index: u64) -> StorageError {
        let what = format!("the checksum of entry {index} does not match");
        StorageError::damaged(&self.path, what)
    }
}

type LogTableMut<'txn> = Table<'txn, u64, &'static [u8]>;
type MetaTableMut<'txn> = Table<'txn, &'static str, &'static [u8]>;

fn apply(
    log: &mut LogTableMut<'_>,
    meta: &mut MetaTableMut<'_>,
    change: &Change,
) -> Result<(), redb::Error> {
    match change {
        Change::Append(records) => {
            for record in records {
                let mut value = Vec::with_capacity(record.stored_bytes());
                value.extend_from_slice(&record.encode_head());
                value.extend_from_slice(&record.payload);
                debug_assert_eq!(value.len(), record.payload.len() + RECORD_OVERHEAD_BYTES);
                log.insert(record.log_id.index, value.as_slice())?;
            }
        }
        Change::Vote(vote) => put_meta(meta, VOTE, &vote.encode())?,
        Change::Truncate { after } => {
            let from = next_index(*after);
            log.retain_in(from.., |_, _| false)?;
        }
        Change::Purge { upto } => put_meta(meta, PURGED, &encode_log_id(*upto))?,
    }
    Ok(())
}

/// Removes some records of forgotten entries, and says whether more are left.
fn remove_some(log: &mut LogTableMut<'_>, purged: Option<LogId>) -> Result<bool, redb::Error> {
    let end = next_index(purged);
    for _ in 0..REMOVED_PER_COMMIT {
        let first = log.first()?.map(|(key, _)| key.value());
        match first {
            Some(index) if index < end => log.remove(index)?,
            Some(_) | None => return Ok(false),
        };
    }
    let first = log.first()?.map(|(key, _)| key.value());
    Ok(first.is_some_and(|index| index < end))
}

fn put_meta(meta: &mut MetaTableMut<'_>, key: &str, value: &[u8]) -> Result<(), redb::Error> {
    let sealed = [value, &checksum_of(key, value)].concat();
    meta.insert(key, sealed.as_slice())?;
    Ok(())
}

fn checksum_of(key: &str, value: &[u8]) -> [u8; 8] {
    let mut hasher = Xxh3::new();
    hasher.update(key.as_bytes());
    hasher.update(value);
    hasher.digest().to_le_bytes()
}

fn encode_log_id(log_id: LogId) -> [u8; 16] {
    let mut bytes = [0; 16];
    let (term, index) = bytes.split_at_mut(8);
    term.copy_from_slice(&log_id.term.as_u64().to_le_bytes());
    index.copy_from_slice(&log_id.index.to_le_bytes());
    bytes
}

fn decode_log_id(bytes: &[u8]) -> Option<LogId> {
    let (term, index) = bytes.split_first_chunk()?;
    Some(LogId {
        term: Term::from_u64(u64::from_le_bytes(*term)),
        index: u64::from_le_bytes(index.try_into().ok()?),
    })
}

/// Runs a database operation; an error or a panic in it names the file.
fn contained<T>(
    path: &Path,
    operation: impl FnOnce() -> Result<T, redb::Error>,
) -> Result<T, StorageError> {
    match catch_unwind(AssertUnwindSafe(operation)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(redb::Error::Io(source))) if source.kind() != std::io::ErrorKind::InvalidData => {
            Err(StorageError::io("use", path)(source))
        }
        Ok(Err(redb::Error::DatabaseAlreadyOpen)) => Err(StorageError::Locked {
            path: path.to_owned(),
        }),
        Ok(Err(error)) => Err(StorageError::damaged(path, one_line(&error.to_string()))),
        Err(_) => Err(StorageError::damaged(
            path,
            "the database stopped at an impossible state",
        )),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
