//! What was acknowledged is there after every kind of stop.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod filled;

use filled::{
    Acknowledged, append, contents, copy, fill, log_id, open, record, snapshot, vote, wait,
};
use lockstep_position::HistoryId;
use lockstep_storage::{DataFolder, StorageError};
use std::io::Write;
use std::path::Path;

/// One step of a folder's life.
type Step = fn(&DataFolder) -> Result<(), StorageError>;

const STEPS: &[(&str, Step)] = &[
    ("nothing", |_| Ok(())),
    ("a vote", |it| {
        wait(|done| it.log().save_vote(vote(1), done))
    }),
    ("an entry", |it| append(it.log(), vec![record(1, 0, 10)])),
    ("many entries", |it| {
        append(
            it.log(),
            (1..600).map(|index| record(1, index, 100)).collect(),
        )
    }),
    ("a history", |it| {
        it.remember_history(HistoryId::from_u128(5))
    }),
    ("a cut", |it| {
        wait(|done| it.log().truncate_after(Some(log_id(1, 549)), done))
    }),
    ("entries of a later term", |it| {
        append(
            it.log(),
            (550..580).map(|index| record(3, index, 7)).collect(),
        )
    }),
    ("a snapshot", |it| {
        snapshot(it, log_id(1, 500), &[1; 2_000_000])
    }),
    ("a purge", |it| {
        wait(|done| it.log().purge(log_id(1, 490), done))
    }),
    ("a newer vote", |it| {
        wait(|done| it.log().save_vote(vote(9), done))
    }),
    ("a second snapshot", |it| {
        snapshot(it, log_id(3, 570), &[2; 10])
    }),
    ("a third snapshot", |it| {
        snapshot(it, log_id(3, 579), &[3; 10])
    }),
    ("a purge beyond the end", |it| {
        snapshot(it, log_id(4, 700), &[4; 10])?;
        wait(|done| it.log().purge(log_id(4, 700), done))
    }),
    ("an entry behind it", |it| {
        append(it.log(), vec![record(4, 701, 3)])
    }),
    ("everything cut", |it| {
        wait(|done| it.log().truncate_after(Some(log_id(4, 700)), done))
    }),
];

/// Runs the steps and looks at the folder after each of them.
fn after_each_step(mut look: impl FnMut(&str, &Path, Option<DataFolder>) -> DataFolder) {
    let folder = tempfile::tempdir().unwrap();
    let mut data = open(folder.path()).unwrap();
    for (name, step) in STEPS {
        step(&data).unwrap();
        data = look(name, folder.path(), Some(data));
    }
}

#[test]
fn every_step_is_there_after_a_clean_stop() {
    after_each_step(|name, path, data| {
        let data = data.unwrap();
        let before = contents(&data).unwrap();
        data.close().unwrap();
        let data = open(path).unwrap();
        assert_eq!(contents(&data).unwrap(), before, "after {name}");
        data
    });
}

#[test]
fn every_step_is_there_after_a_crash() {
    after_each_step(|name, path, data| {
        let data = data.unwrap();
        let before = contents(&data).unwrap();
        let crashed = tempfile::tempdir().unwrap();
        copy(path, crashed.path());
        let after = open(crashed.path()).unwrap();
        assert_eq!(contents(&after).unwrap(), before, "after {name}");
        data
    });
}

#[test]
fn a_crash_amid_writes_loses_nothing_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let data = open(folder.path()).unwrap();
    let (sender, acknowledged) = std::sync::mpsc::channel();
    for index in 0..300 {
        let sender = sender.clone();
        let done = Box::new(move |result: Result<(), StorageError>| {
            result.unwrap();
            sender.send(index).unwrap();
        });
        data.log()
            .append(vec![record(1, index, 200)], done)
            .unwrap();
    }
    let mut last = None;
    for round in 0..20 {
        last = acknowledged.recv().ok().max(last);
        last = acknowledged.try_iter().max().max(last);
        // The copy is taken while the writer works: what it finds is at least
        // what was acknowledged before, unless the copy itself is torn.
        let crashed = tempfile::tempdir().unwrap();
        copy(folder.path(), crashed.path());
        match open(crashed.path()) {
            Ok(after) => {
                let found = after.log().bounds().last.map(|last| last.index);
                assert!(found >= last, "round {round}: {found:?} < {last:?}");
            }
            Err(StorageError::Damaged { .. } | StorageError::Amnesia { .. }) => {}
            Err(error) => panic!("round {round}: {error}"),
        }
        if last == Some(299) {
            return;
        }
    }
}

#[test]
fn only_two_snapshots_and_no_unfinished_file_stay() {
    let folder = tempfile::tempdir().unwrap();
    let data = open(folder.path()).unwrap();
    append(
        data.log(),
        (0..40).map(|index| record(1, index, 1)).collect(),
    )
    .unwrap();
    for index in [5, 10, 15, 20] {
        snapshot(&data, log_id(1, index), b"data").unwrap();
    }
    // Older than the newest: not kept.
    snapshot(&data, log_id(1, 12), b"data").unwrap();
    let names = || {
        let entries = std::fs::read_dir(folder.path().join("snapshots")).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let kept = [
        "00000000000000000015-00000000000000000001.snap",
        "00000000000000000020-00000000000000000001.snap",
    ];
    assert_eq!(names(), kept);

    let mut writer = data.snapshots().writer(log_id(1, 30), b"").unwrap();
    writer.write_all(b"half").unwrap();
    assert_eq!(names().len(), 3);
    // As a crash leaves it: the file stays until the folder is opened next.
    std::mem::forget(writer);
    data.close().unwrap();
    drop(data);
    open(folder.path()).unwrap();
    assert_eq!(names(), kept);
}

#[test]
fn a_snapshot_can_be_read_while_newer_ones_replace_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = open(folder.path()).unwrap();
    append(
        data.log(),
        (0..40).map(|index| record(1, index, 1)).collect(),
    )
    .unwrap();
    snapshot(&data, log_id(1, 1), &[9; 3_000_000]).unwrap();
    let old = data.snapshots().newest().unwrap();
    for index in [2, 3, 4] {
        snapshot(&data, log_id(1, index), b"new").unwrap();
    }
    let mut read = Vec::new();
    std::io::Read::read_to_end(&mut old.reader().unwrap(), &mut read).unwrap();
    assert_eq!(read, vec![9; 3_000_000]);
}

#[test]
fn reads_are_bounded_and_never_skip() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path());
    let data = open(folder.path()).unwrap();
    let log = data.log();
    append(log, (40..60).map(|index| record(3, index, 50)).collect()).unwrap();
    let read = |range: std::ops::Range<u64>, bytes| {
        let records = log.read(range, bytes).unwrap();
        let indexes = records.iter().map(|record| record.log_id.index);
        indexes.collect::<Vec<_>>()
    };
    // From before the purged part, over disk and memory.
    assert_eq!(read(0..100, usize::MAX), (15..60).collect::<Vec<_>>());
    assert_eq!(read(38..42, usize::MAX), [38, 39, 40, 41]);
    assert_eq!(read(38..42, 0), [38]);
    assert_eq!(read(38..42, 3 * 67), [38, 39, 40]);
    assert!(read(60..70, usize::MAX).is_empty());
    assert!(read(5..5, usize::MAX).is_empty());
}

#[test]
fn an_entry_that_does_not_continue_the_log_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let data = open(folder.path()).unwrap();
    append(data.log(), vec![record(2, 0, 1)]).unwrap();
    for wrong in [record(2, 2, 1), record(2, 0, 1), record(1, 1, 1)] {
        let error = append(data.log(), vec![wrong.clone()]).unwrap_err();
        let wanted = format!("entry {} cannot follow; index 1 is next", wrong.log_id);
        assert!(error.to_string().contains(&wanted), "{error}");
    }
    append(data.log(), vec![record(2, 1, 1)]).unwrap();
}

#[test]
fn what_is_known_to_be_committed_is_never_beyond_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let data = open(folder.path()).unwrap();
    assert_eq!(data.log().committed(), None);
    append(data.log(), vec![record(2, 0, 1), record(2, 1, 1)]).unwrap();
    data.log().note_committed(log_id(2, 1)).unwrap();
    assert_eq!(data.log().committed(), Some(log_id(2, 1)));
    data.log().note_committed(log_id(2, 5)).unwrap();
    data.close().unwrap();
    drop(data);
    let data = open(folder.path()).unwrap();
    assert_eq!(data.log().committed(), Some(log_id(2, 1)));
}

#[test]
fn a_closed_store_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let data = open(folder.path()).unwrap();
    data.close().unwrap();
    let log = folder.path().join("log.redb");
    let wanted = format!("{} is closed", log.display());
    let errors = [
        append(data.log(), vec![record(1, 0, 1)]).unwrap_err(),
        data.log().read(0..1, 1).unwrap_err(),
        data.close().unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.to_string(), wanted);
    }
}

/// A file system of 4 MiB, if this user may make one.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"])
            .arg(folder.path())
            .status();
        mounted
            .is_ok_and(|status| status.success())
            .then_some(Self(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = std::process::Command::new("umount")
            .arg(self.0.path())
            .status();
        assert!(unmounted.unwrap().success());
    }
}

#[test]
fn a_full_disk_is_one_clear_error_and_loses_nothing() {
    let Some(disk) = SmallDisk::mount() else {
        eprintln!("skipped: this user may not mount a tmpfs");
        return;
    };
    let data = open(disk.0.path()).unwrap();
    let mut acknowledged = None;
    let mut failed = None;
    for index in 0..1_000 {
        match append(data.log(), vec![record(1, index, 50_000)]) {
            Ok(()) => acknowledged = Some(log_id(1, index)),
            Err(error) => {
                failed = Some(error);
                break;
            }
        }
    }
    let log = disk.0.path().join("log.redb");
    let wanted = format!("cannot use {}", log.display());
    assert_eq!(failed.unwrap().to_string(), wanted);
    // Everything later fails with the same error, whatever it is.
    let error = wait(|done| data.log().save_vote(vote(8), done)).unwrap_err();
    assert_eq!(error.to_string(), wanted);
    assert_eq!(data.log().failure().unwrap().to_string(), wanted);
    // Closing is best effort on such a disk.
    let _ = data.close();
    drop(data);

    let after = tempfile::tempdir().unwrap();
    copy(disk.0.path(), after.path());
    let data = open(after.path()).unwrap();
    let found: Acknowledged = contents(&data).unwrap();
    assert!(found.last >= acknowledged && acknowledged.is_some());
    let indexes = found.records.iter().map(|record| record.log_id.index);
    assert!(indexes.eq(0..=found.last.unwrap().index));
}
