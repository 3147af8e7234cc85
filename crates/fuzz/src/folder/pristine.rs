//! A small folder with some of everything, as files in memory.

use lockstep_position::{HistoryId, LogId, ReplicaId, Term};
use lockstep_storage::{DataFolder, Done, Record, StorageError, Vote};
use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{OnceLock, mpsc::channel},
};

use super::{WHO, empty};

/// A file of the folder by what it is for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum File {
    Identity,
    Promise,
    Snapshot,
    Log,
    Other,
}

type Files = Vec<(PathBuf, File, Vec<u8>)>;

const TERM: Term = Term::from_u64(1);

/// The files of the folder, by paths below it.
pub(super) fn pristine() -> &'static Files {
    static FILES: OnceLock<Files> = OnceLock::new();
    FILES.get_or_init(|| {
        let files = made();
        assert!(files.is_ok(), "{:?}", files.as_ref().err());
        files.unwrap_or_default()
    })
}

fn made() -> io::Result<Files> {
    let folder = empty()?;
    fill(folder.path()).map_err(io::Error::other)?;
    let mut files = Files::new();
    read_into(&mut files, folder.path(), folder.path())?;
    files.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(files)
}

fn fill(path: &Path) -> Result<(), StorageError> {
    let folder = DataFolder::open(path, WHO)?;
    let log = folder.log();
    folder.remember_history(HistoryId::from_u128(0xabc))?;
    let vote = Vote {
        term: TERM,
        candidate: ReplicaId::from_u64(7),
        committed: true,
    };
    wait(|done| log.save_vote(vote, done))?;
    let records = (0..8).map(|index| Record {
        log_id: LogId { term: TERM, index },
        kind: 1,
        payload: vec![7; 20].into(),
    });
    wait(|done| log.append(records.collect(), done))?;
    let last = LogId {
        term: TERM,
        index: 3,
    };
    let mut writer = folder.snapshots().writer(last, b"meta")?;
    let written = writer.write_all(&[2; 300]);
    assert!(written.is_ok(), "{written:?}");
    folder.snapshots().keep(&writer.finish()?)?;
    wait(|done| log.purge(last, done))?;
    folder.close()
}

/// Waits for one write.
fn wait(order: impl FnOnce(Done) -> Result<(), StorageError>) -> Result<(), StorageError> {
    let (sender, receiver) = channel();
    order(Box::new(move |result| {
        // The receiver waits right below.
        let _ = sender.send(result);
    }))?;
    let result = receiver.recv();
    assert!(result.is_ok(), "every write is answered");
    result.unwrap_or(Ok(()))
}

fn read_into(files: &mut Files, root: &Path, folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read_into(files, root, &path)?;
            continue;
        }
        let below = path.strip_prefix(root).map_err(io::Error::other)?;
        let ending = |wanted: &str| below.to_string_lossy().ends_with(wanted);
        let file = match () {
            () if ending("identity") => File::Identity,
            () if ending("promise") => File::Promise,
            () if ending(".snap") => File::Snapshot,
            () if ending("log.redb") => File::Log,
            () => File::Other,
        };
        files.push((below.to_owned(), file, fs::read(&path)?));
    }
    Ok(())
}
