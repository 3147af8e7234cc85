//! A small data folder that holds some of everything, and what must still be in it.

#![allow(dead_code, reason = "each test file uses a part of it")]

use bytes::Bytes;
use lockstep_position::{HistoryId, LogId, ReplicaId, Term};
use lockstep_storage::{DataFolder, LogStore, OpenAs, Record, StorageError, Vote};
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::mpsc::channel;

pub(crate) const WHO: OpenAs<'static> = OpenAs {
    cluster: "prod",
    name: "replica-1",
};

pub(crate) fn open(path: &Path) -> Result<DataFolder, StorageError> {
    DataFolder::open(path, WHO)
}

pub(crate) fn log_id(term: u64, index: u64) -> LogId {
    LogId {
        term: Term::from_u64(term),
        index,
    }
}

pub(crate) fn record(term: u64, index: u64, length: usize) -> Record {
    Record {
        log_id: log_id(term, index),
        kind: 1,
        payload: Bytes::from(vec![index.to_le_bytes()[0]; length]),
    }
}

pub(crate) fn vote(term: u64) -> Vote {
    Vote {
        term: Term::from_u64(term),
        candidate: ReplicaId::from_u64(7),
        committed: false,
    }
}

/// Waits for one write.
pub(crate) fn wait(
    order: impl FnOnce(lockstep_storage::Done) -> Result<(), StorageError>,
) -> Result<(), StorageError> {
    let (sender, receiver) = channel();
    order(Box::new(move |result| sender.send(result).unwrap()))?;
    receiver.recv().unwrap()
}

pub(crate) fn append(log: &LogStore, records: Vec<Record>) -> Result<(), StorageError> {
    wait(|done| log.append(records, done))
}

/// Writes and keeps a snapshot.
pub(crate) fn snapshot(folder: &DataFolder, last: LogId, data: &[u8]) -> Result<(), StorageError> {
    let mut writer = folder.snapshots().writer(last, b"meta")?;
    writer.write_all(data).unwrap();
    let file = writer.finish()?;
    folder.snapshots().keep(&file)
}

/// What somebody was told is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Acknowledged {
    pub(crate) vote: Option<Vote>,
    pub(crate) last: Option<LogId>,
    pub(crate) purged: Option<LogId>,
    pub(crate) records: Vec<Record>,
    pub(crate) snapshot: Option<(LogId, Vec<u8>)>,
    pub(crate) history: Option<HistoryId>,
}

/// Reads all that a folder holds.
pub(crate) fn contents(folder: &DataFolder) -> Result<Acknowledged, StorageError> {
    let log = folder.log();
    let bounds = log.bounds();
    let snapshot = match folder.snapshots().newest() {
        Some(file) => {
            let mut data = Vec::new();
            file.reader()?.read_to_end(&mut data).unwrap();
            Some((file.log_id(), data))
        }
        None => None,
    };
    Ok(Acknowledged {
        vote: log.vote(),
        last: bounds.last,
        purged: bounds.purged,
        records: log.read(0..u64::MAX, usize::MAX)?,
        snapshot,
        history: folder.history(),
    })
}

/// Fills a folder: 40 entries, 15 of them forgotten, two snapshots, a vote, a history.
pub(crate) fn fill(path: &Path) -> Acknowledged {
    let folder = open(path).unwrap();
    let log = folder.log();
    folder
        .remember_history(HistoryId::from_u128(0xabc))
        .unwrap();
    wait(|done| log.save_vote(vote(1), done)).unwrap();
    for batch in 0..4 {
        let records = (batch * 10..batch * 10 + 10).map(|index| record(1, index, 50));
        append(log, records.collect()).unwrap();
    }
    snapshot(&folder, log_id(1, 9), &[1; 3_000]).unwrap();
    snapshot(&folder, log_id(1, 19), &[2; 3_000]).unwrap();
    wait(|done| log.purge(log_id(1, 14), done)).unwrap();
    wait(|done| log.save_vote(vote(2), done)).unwrap();
    let acknowledged = contents(&folder).unwrap();
    folder.close().unwrap();
    acknowledged
}

/// Copies a folder as a crash would leave it.
pub(crate) fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
