//! The order in which log and promise are written, seen by letting the log fail.

use super::*;
use bytes::Bytes;
use lockstep_position::Term;

fn log_id(index: u64) -> LogId {
    LogId {
        term: Term::from_u64(1),
        index,
    }
}

fn record(index: u64) -> Record {
    Record {
        log_id: log_id(index),
        kind: 0,
        payload: Bytes::new(),
    }
}

/// A store that holds entries 0 to 4.
fn filled(folder: &Path) -> LogStore {
    let (log, promise) = (folder.join("log"), folder.join("promise"));
    let owner = ReplicaId::from_u64(1);
    LogTable::create(&log, owner).unwrap();
    PromiseFile::create(&promise, owner).unwrap();
    let store = LogStore::open(&log, &promise, owner).unwrap();
    wait(|done| store.append((0..5).map(record).collect(), done)).unwrap();
    store
}

fn wait(order: impl FnOnce(Done) -> Result<(), StorageError>) -> Result<(), StorageError> {
    let (sender, receiver) = channel();
    order(Box::new(move |result| sender.send(result).unwrap()))?;
    receiver.recv().unwrap()
}

/// Takes the log file away, so that every transaction fails.
fn break_log(store: &LogStore) {
    let table = store.shared.table.write().unwrap().take();
    table.unwrap().close().unwrap();
}

fn promised(folder: &Path) -> Promise {
    *PromiseFile::open(&folder.join("promise"))
        .unwrap()
        .promise()
}

#[test]
fn a_promise_never_runs_ahead_of_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path());
    assert_eq!(promised(folder.path()).last, Some(log_id(4)));
    break_log(&store);
    let vote = Vote {
        term: Term::from_u64(2),
        candidate: ReplicaId::from_u64(1),
        committed: false,
    };
    assert!(wait(|done| store.append(vec![record(5)], done)).is_err());
    assert!(wait(|done| store.save_vote(vote, done)).is_err());
    let promise = promised(folder.path());
    assert_eq!((promise.last, promise.vote), (Some(log_id(4)), None));
}

#[test]
fn a_promise_is_lowered_before_the_log_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path());
    break_log(&store);
    assert!(wait(|done| store.truncate_after(Some(log_id(2)), done)).is_err());
    assert_eq!(promised(folder.path()).last, Some(log_id(2)));
}

#[test]
fn the_first_failure_is_everybodys_answer() {
    let folder = tempfile::tempdir().unwrap();
    let store = filled(folder.path());
    break_log(&store);
    let wanted = format!("{} is closed", folder.path().join("log").display());
    let first = wait(|done| store.append(vec![record(5)], done)).unwrap_err();
    let second = wait(|done| store.purge(log_id(1), done)).unwrap_err();
    assert_eq!(
        [first.to_string(), second.to_string()],
        [wanted.clone(), wanted.clone()]
    );
    assert_eq!(store.failure().unwrap().to_string(), wanted);
}
