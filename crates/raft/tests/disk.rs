//! Disks that crash, fill up, or come back as they once were.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod group;

use bytes::Bytes;
use group::{Group, PATIENCE, chain, eventually};
use lockstep_raft::{Compaction, Limits, ProposeError};
use std::fs;
use std::path::Path;

fn copy(from: &Path, to: &Path) {
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

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_of_all_loses_nothing_acknowledged() {
    let compaction = Compaction {
        snapshot_after_entries: 15,
        keep_entries: 4,
    };
    let mut group = Group::start_with(3, compaction, Limits::default()).await;
    let mut acknowledged = Vec::new();
    let mut last = None;
    for round in 0..3_u8 {
        for number in 0..12 {
            let value = vec![round, number];
            last = Some(group.write(value.clone()).await);
            acknowledged.push(value);
        }
        // What the disks hold now is what a crash would leave of them. They
        // are idle but for the last commit, which followers may not know yet.
        group.agree(last.unwrap()).await;
        let crashed = tempfile::tempdir().unwrap();
        for at in 0..3 {
            copy(&group.data(at), &crashed.path().join(&group.peers[at].name));
        }
        for at in 0..3 {
            group.stop_one(at).await;
        }
        group.folder = crashed;
        for at in 0..3 {
            group.start_one(at).await.unwrap();
        }
        // One whose disk did not know yet that the last entry is committed
        // applies it when a leader says so.
        for at in 0..3 {
            eventually("all that was acknowledged", || async {
                (group.replica(at).written().values == acknowledged).then_some(())
            })
            .await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_copy_of_a_folder_does_not_hurt_the_others() {
    let mut group = Group::start(3).await;
    let first = group.write("first").await;
    group.agree(first).await;
    let (leader, term) = group.leader().await;
    let old = (leader + 1) % 3;
    group.stop_one(old).await;
    let copied = tempfile::tempdir().unwrap();
    copy(&group.data(old), copied.path());
    group.start_one(old).await.unwrap();
    let second = group.write("second").await;
    group.agree(second).await;

    group.stop_one(old).await;
    fs::remove_dir_all(group.data(old)).unwrap();
    copy(copied.path(), &group.data(old));
    group.start_one(old).await.unwrap();
    // The same leader goes on with the other follower.
    let proposed = group
        .replica(leader)
        .node
        .propose(term, Bytes::from_static(b"third"));
    let third = tokio::time::timeout(PATIENCE, proposed)
        .await
        .unwrap()
        .unwrap();
    let other = 3 - leader - old;
    eventually("the other follower to apply", || async {
        (group.replica(other).written().last >= Some(third.log_id)).then_some(())
    })
    .await;
    assert_eq!(group.replica(leader).written().values.len(), 3);
    // It is not counted on: nothing that it has acknowledged since is believed.
    assert!(group.replica(old).written().values.len() < 3);
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

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_ends_the_node_with_one_clear_line() {
    let Some(disk) = SmallDisk::mount() else {
        eprintln!("skipped: this user may not mount a tmpfs");
        return;
    };
    let mut group = Group::prepare(1, Compaction::default(), Limits::default()).await;
    let running = {
        let mut config = group.config(0);
        config.data = disk.0.path().to_owned();
        group::start(config).await.unwrap()
    };
    group.replicas[0] = Some(running);
    let (_, term) = group.leader().await;
    let running = group.replicas[0].take().unwrap();
    let mut acknowledged = 0;
    let error = loop {
        let proposed = running.node.propose(term, Bytes::from(vec![1; 60_000]));
        match tokio::time::timeout(PATIENCE, proposed).await.unwrap() {
            Ok(_) => acknowledged += 1,
            Err(error) => break error,
        }
    };
    assert!(acknowledged > 0);
    assert_eq!(error, ProposeError::Stopped);
    let fatal = tokio::time::timeout(PATIENCE, running.tasks.finished())
        .await
        .unwrap()
        .unwrap_err();
    let log = disk.0.path().join("log.redb");
    assert_eq!(
        chain(&fatal),
        format!(
            "storage failed: cannot use {}: No space left on device (os error 28)",
            log.display()
        )
    );
}
