//! A folder that was given up starts anew, and what was in it is kept beside it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod filled;

use filled::{WHO, append, open, record};
use lockstep_storage::{DataFolder, OpenAs, StorageError};
use std::fs;
use std::path::Path;

const MOVED: [&str; 4] = ["identity", "log.redb", "promise", "snapshots"];

/// A folder with some entries; the id of its owner.
fn filled(path: &Path) -> lockstep_position::ReplicaId {
    let folder = open(path).unwrap();
    append(folder.log(), vec![record(1, 0, 10), record(1, 1, 10)]).unwrap();
    folder.keep_evidence("why").unwrap();
    folder.id()
}

fn is_new(path: &Path, old: lockstep_position::ReplicaId) {
    let folder = open(path).unwrap();
    assert_ne!(folder.id(), old);
    assert_eq!(folder.log().bounds().last, None);
    assert_eq!((folder.log().vote(), folder.history()), (None, None));
    assert!(folder.joins_only());
    drop(folder);
    assert!(!path.join("given-up").exists());
    assert!(!path.join("quarantine.json").exists());
    assert!(path.join("set-aside/quarantine.json").exists());
}

#[test]
fn a_folder_that_was_given_up_starts_anew_and_keeps_the_old_one_beside_it() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("data");
    let old = filled(&path);
    let folder = open(&path).unwrap();
    assert!(!folder.joins_only() && folder.has_evidence());
    folder.give_up("it was removed").unwrap();
    // Until it is opened next, nothing has changed.
    append(folder.log(), vec![record(1, 2, 10)]).unwrap();
    drop(folder);

    is_new(&path, old);
    let aside = path.join("set-aside");
    let reason = fs::read_to_string(aside.join("given-up")).unwrap();
    assert_eq!(reason, "it was removed");
    // Moved back, it is what it was.
    let restored = temporary.path().join("restored");
    fs::rename(&aside, &restored).unwrap();
    fs::remove_file(restored.join("given-up")).unwrap();
    let folder = open(&restored).unwrap();
    assert_eq!(
        (folder.id(), folder.log().bounds().last.unwrap().index),
        (old, 2)
    );
}

#[test]
fn only_what_was_given_up_last_is_kept() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("data");
    for _ in 0..2 {
        let old = filled(&path);
        open(&path).unwrap().give_up("again").unwrap();
        is_new(&path, old);
        let kept = fs::read_to_string(path.join("set-aside/identity")).unwrap();
        assert!(kept.contains(&old.to_string()), "{kept}");
    }
}

#[test]
fn what_a_crash_interrupts_goes_on_where_it_stopped() {
    for moved in 0..=MOVED.len() {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().join("data");
        let old = filled(&path);
        open(&path).unwrap().give_up("half way").unwrap();
        fs::create_dir(path.join("set-aside")).unwrap();
        for name in &MOVED[..moved] {
            fs::rename(path.join(name), path.join("set-aside").join(name)).unwrap();
        }
        is_new(&path, old);
        for name in MOVED {
            assert!(
                path.join("set-aside").join(name).exists(),
                "{name} after {moved}"
            );
        }
    }
}

#[test]
fn a_folder_that_lost_data_is_given_up_if_it_is_its_owners() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("data");
    let old = filled(&path);
    let log = fs::read(path.join("log.redb")).unwrap();
    let folder = open(&path).unwrap();
    append(folder.log(), vec![record(1, 2, 10)]).unwrap();
    drop(folder);
    fs::write(path.join("log.redb"), log).unwrap();
    let loss = open(&path).err().unwrap();
    let finding = format!(
        "{} has lost data: its log ends at T1-I1 but once ended at T1-I2; it must not vote again",
        path.display()
    );
    assert_eq!(loss.finding(), finding);

    let stranger = OpenAs {
        name: "replica-2",
        ..WHO
    };
    assert!(!DataFolder::give_up_lost(&path, stranger, &loss).unwrap());
    let busy = StorageError::Locked { path: path.clone() };
    assert!(!DataFolder::give_up_lost(&path, WHO, &busy).unwrap());
    assert!(!path.join("given-up").exists());

    assert!(DataFolder::give_up_lost(&path, WHO, &loss).unwrap());
    is_new(&path, old);
    let kept = fs::read_to_string(path.join("set-aside/quarantine.json")).unwrap();
    assert!(kept.contains(&finding), "{kept}");
}
