//! Damaged, foreign, mixed and old folders: refused with a reason, or whole. Never a panic.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod filled;

use filled::{WHO, append, contents, copy, fill, log_id, open, record, snapshot, vote, wait};
use lockstep_position::HistoryId;
use lockstep_storage::{DataFolder, OpenAs, StorageError};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

const ADVICE: &str = "move the folder away and start again: the replica then comes back empty and \
                      rejoins under a new id, as long as a majority of the group is up without it";

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn refusal(path: &Path) -> String {
    open(path).err().unwrap().to_string()
}

/// Damages a copy of a filled folder; it must open whole, or be refused.
///
/// Returns whether it was refused.
fn judge(
    name: &str,
    pristine: &Path,
    wanted: &filled::Acknowledged,
    damage: impl Fn(&Path),
) -> bool {
    let copied = tempfile::tempdir().unwrap();
    copy(pristine, copied.path());
    damage(copied.path());
    let opened = catch_unwind(AssertUnwindSafe(|| {
        let folder = open(copied.path())?;
        let found = contents(&folder)?;
        folder.close()?;
        Ok::<_, StorageError>(found)
    }));
    match opened {
        Ok(Ok(found)) => {
            assert_eq!(found, *wanted, "{name}");
            false
        }
        Ok(Err(error)) => {
            assert!(error.to_string().contains(ADVICE), "{name}: {error}");
            true
        }
        Err(_) => panic!("{name}: a panic"),
    }
}

#[test]
fn no_flipped_byte_goes_unnoticed_or_does_harm() {
    let folder = tempfile::tempdir().unwrap();
    let wanted = fill(folder.path());
    let (mut flips, mut refused) = (0, 0);
    for file in files(folder.path()) {
        let name = file.strip_prefix(folder.path()).unwrap().to_owned();
        let length = fs::read(&file).unwrap().len();
        // All of a small file, samples of a large one: dense where it begins.
        let dense = (0..length.min(600)).step_by(3);
        let sparse = (600..length).step_by(length / 400 + 7);
        for place in dense.chain(sparse) {
            flips += 1;
            let what = format!("{} at {place}", name.display());
            refused += usize::from(judge(&what, folder.path(), &wanted, |copied| {
                let path = copied.join(&name);
                let mut bytes = fs::read(&path).unwrap();
                bytes[place] ^= 1 << (place % 8);
                fs::write(path, bytes).unwrap();
            }));
        }
    }
    assert!(flips > 600, "{flips} flips");
    assert!(refused > 200, "{refused} refused");
}

#[test]
fn no_shortened_file_goes_unnoticed_or_does_harm() {
    let folder = tempfile::tempdir().unwrap();
    let wanted = fill(folder.path());
    for file in files(folder.path()) {
        let name = file.strip_prefix(folder.path()).unwrap().to_owned();
        let length = fs::read(&file).unwrap().len();
        let places = [0, 1, length / 3, length / 2, length.saturating_sub(1)];
        for place in places.into_iter().filter(|place| *place < length) {
            let what = format!("{} cut to {place}", name.display());
            judge(&what, folder.path(), &wanted, |copied| {
                let file = fs::File::options()
                    .write(true)
                    .open(copied.join(&name))
                    .unwrap();
                file.set_len(place as u64).unwrap();
            });
        }
        if name != Path::new("lock") {
            let what = format!("{} removed", name.display());
            judge(&what, folder.path(), &wanted, |copied| {
                fs::remove_file(copied.join(&name)).unwrap();
            });
        }
    }
}

#[test]
fn a_log_that_is_older_than_its_promise_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path());
    let old = fs::read(folder.path().join("log.redb")).unwrap();

    let data = open(folder.path()).unwrap();
    append(data.log(), vec![record(2, 40, 10)]).unwrap();
    data.close().unwrap();
    drop(data);
    fs::write(folder.path().join("log.redb"), &old).unwrap();
    let place = folder.path().display();
    assert_eq!(
        refusal(folder.path()),
        format!(
            "{place} has lost data: its log ends at T1-I39 but once ended at T2-I40; it must not \
             vote again; {ADVICE}"
        )
    );
}

#[test]
fn a_vote_that_is_older_than_its_promise_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path());
    let old = fs::read(folder.path().join("log.redb")).unwrap();
    let data = open(folder.path()).unwrap();
    wait(|done| data.log().save_vote(vote(5), done)).unwrap();
    data.close().unwrap();
    drop(data);
    fs::write(folder.path().join("log.redb"), &old).unwrap();
    let place = folder.path().display();
    assert_eq!(
        refusal(folder.path()),
        format!(
            "{place} has lost data: its vote is T2 for candidate 0000000000000007 but once was T5 \
             for candidate 0000000000000007; it must not vote again; {ADVICE}"
        )
    );
}

#[test]
fn a_shorter_log_after_a_cut_is_no_loss() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path());
    let data = open(folder.path()).unwrap();
    wait(|done| data.log().truncate_after(Some(log_id(1, 30)), done)).unwrap();
    // Not closed: as a crash leaves it.
    let crashed = tempfile::tempdir().unwrap();
    copy(folder.path(), crashed.path());
    let data = open(crashed.path()).unwrap();
    assert_eq!(data.log().bounds().last, Some(log_id(1, 30)));
}

#[test]
fn files_of_two_folders_do_not_mix() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fill(one.path());
    fill(two.path());
    for name in ["log.redb", "promise"] {
        let mixed = tempfile::tempdir().unwrap();
        copy(one.path(), mixed.path());
        fs::copy(two.path().join(name), mixed.path().join(name)).unwrap();
        let place = mixed.path().join(name);
        assert_eq!(
            refusal(mixed.path()),
            format!(
                "{} is damaged: it was not written by this replica; {ADVICE}",
                place.display()
            )
        );
    }
}

#[test]
fn an_older_identity_does_not_go_with_a_newer_promise() {
    let folder = tempfile::tempdir().unwrap();
    let data = open(folder.path()).unwrap();
    data.close().unwrap();
    drop(data);
    let old = fs::read(folder.path().join("identity")).unwrap();
    let data = open(folder.path()).unwrap();
    data.remember_history(HistoryId::from_u128(1)).unwrap();
    data.close().unwrap();
    drop(data);
    fs::write(folder.path().join("identity"), old).unwrap();
    let (found, wanted) = (HistoryId::from_u128(1), HistoryId::NONE);
    assert_eq!(
        refusal(folder.path()),
        format!(
            "{} belongs to history {found}, not to {wanted}; {ADVICE}",
            folder.path().display()
        )
    );
}

#[test]
fn a_folder_of_somebody_else_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path());
    let place = folder.path().display();
    let refused = |who| {
        DataFolder::open(folder.path(), who)
            .err()
            .unwrap()
            .to_string()
    };
    assert_eq!(
        refused(OpenAs {
            cluster: "test",
            ..WHO
        }),
        format!(
            "{place} belongs to cluster `prod`, not to `test`; choose another folder, or {ADVICE}"
        )
    );
    assert_eq!(
        refused(OpenAs {
            name: "replica-2",
            ..WHO
        }),
        format!(
            "{place} belongs to replica `replica-1`, not to `replica-2`; choose another folder, or \
             {ADVICE}"
        )
    );
}

#[test]
fn a_folder_with_other_files_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("lost+found")).unwrap();
    fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    let place = folder.path().display();
    assert_eq!(
        refusal(folder.path()),
        format!(
            "{place} holds `notes.txt` but no identity, so it is not a data folder; choose an \
             empty folder, or {ADVICE}"
        )
    );
    fs::remove_file(folder.path().join("notes.txt")).unwrap();
    open(folder.path()).unwrap();
}

#[test]
fn a_folder_without_its_identity_is_not_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path());
    fs::remove_file(folder.path().join("identity")).unwrap();
    let place = folder.path().display();
    assert_eq!(
        refusal(folder.path()),
        format!(
            "{place} holds `log.redb` but no identity, so it is not a data folder; choose an empty \
             folder, or {ADVICE}"
        )
    );
}

#[test]
fn a_folder_that_was_being_made_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [("identity.tmp", ""), ("log.redb", "ha"), ("promise", "lf")] {
        fs::write(folder.path().join(name), content).unwrap();
    }
    fs::create_dir(folder.path().join("snapshots")).unwrap();
    let data = open(folder.path()).unwrap();
    append(data.log(), vec![record(1, 0, 1)]).unwrap();
}

#[test]
fn a_folder_has_one_user_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(folder.path()).unwrap();
    assert_eq!(
        refusal(folder.path()),
        format!(
            "{} is in use by another process; stop that process or choose another folder",
            folder.path().display()
        )
    );
    first.close().unwrap();
    open(folder.path()).unwrap();
}

#[test]
fn a_damaged_snapshot_is_refused_unless_an_older_one_and_the_log_cover_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = open(folder.path()).unwrap();
    append(
        data.log(),
        (0..40).map(|index| record(1, index, 1)).collect(),
    )
    .unwrap();
    snapshot(&data, log_id(1, 10), b"older").unwrap();
    snapshot(&data, log_id(1, 20), b"newer").unwrap();
    wait(|done| data.log().purge(log_id(1, 8), done)).unwrap();
    data.close().unwrap();
    drop(data);
    let newest = "snapshots/00000000000000000020-00000000000000000001.snap";
    let newest = folder.path().join(newest);
    let whole = fs::read(&newest).unwrap();
    let mut damaged = whole.clone();
    damaged[30] ^= 1;

    fs::write(&newest, &damaged).unwrap();
    let data = open(folder.path()).unwrap();
    assert_eq!(data.snapshots().newest().unwrap().log_id(), log_id(1, 10));
    data.close().unwrap();
    drop(data);

    fs::write(&newest, &whole).unwrap();
    let data = open(folder.path()).unwrap();
    wait(|done| data.log().purge(log_id(1, 15), done)).unwrap();
    data.close().unwrap();
    drop(data);
    fs::write(&newest, &damaged).unwrap();
    let error = refusal(folder.path());
    let wanted = format!("{} is damaged: the checksum of", newest.display());
    assert!(
        error.starts_with(&wanted) && error.ends_with(ADVICE),
        "{error}"
    );
}
