//! Disks that crash, fill up, or come back as they once were.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod group;

use bytes::Bytes;
use group::{Group, PATIENCE, chain, eventually, settled};
use lockstep_position::{LogId, ReplicaId, Term};
use lockstep_proto::peer::v1 as wire;
use lockstep_proto::peer::v1::peer_client::PeerClient;
use lockstep_raft::{Compaction, Fatal, Limits, ProposeError};
use std::fs;
use std::path::Path;
use std::time::Duration;

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

/// Gives a replica that is down the folder that it had when `copied` was made.
fn roll_back(group: &Group, at: usize, copied: &Path) {
    fs::remove_dir_all(group.data(at)).unwrap();
    copy(copied, &group.data(at));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_with_an_older_copy_of_its_folder_starts_anew() {
    let mut group = Group::start(3).await;
    let first = group.write("first").await;
    group.agree(first).await;
    group.remember_history().await;
    let (leader, _) = group.leader().await;
    let back = (leader + 1) % 3;
    let old = group.replica(back).node.id();
    group.stop_one(back).await;
    let copied = tempfile::tempdir().unwrap();
    copy(&group.data(back), copied.path());
    group.start_one(back).await.unwrap();
    let second = group.write("second").await;
    group.agree(second).await;

    group.stop_one(back).await;
    roll_back(&group, back, copied.path());
    group.start_one(back).await.unwrap();
    let Fatal::GaveUp { why } = group.ended(back).await else {
        panic!("it ended for another reason");
    };
    assert!(why.contains("whose data folder is an older copy"), "{why}");
    group.start_one(back).await.unwrap();
    assert_ne!(group.replica(back).node.id(), old);
    settled(&group, &group.ids()).await;
    let third = group.write("third").await;
    assert_eq!(group.agree(third).await.values.len(), 3);
}

/// What a leader's last heartbeat says, from the leader to one follower.
async fn heartbeat(group: &Group, leader: (ReplicaId, Term), to: usize, committed: LogId) {
    let wire_id = |id: LogId| wire::LogId {
        term: id.term.as_u64(),
        index: id.index,
    };
    let status = group.replica(to).node.status();
    let request = wire::AppendRequest {
        route: Some(wire::Route {
            cluster: "prod".to_owned(),
            from: leader.0.as_u64(),
            to: status.id.as_u64(),
            ..wire::Route::default()
        }),
        ballot: Some(wire::Ballot {
            term: leader.1.as_u64(),
            candidate: leader.0.as_u64(),
            committed: true,
        }),
        previous: status.last.map(wire_id),
        entries: Vec::new(),
        committed: Some(wire_id(committed)),
    };
    let url = format!("http://{}", group.listen[to]);
    let mut client = PeerClient::connect(url).await.unwrap();
    let answers = client.append(futures::stream::iter([request])).await;
    let answer = answers.unwrap().into_inner().message().await.unwrap();
    assert!(answer.unwrap().result.is_some());
}

/// One follower lags, the other was rolled back to where the first one is, and
/// the leader is away: the two are a majority, and would lead on without what
/// was committed. The follower that lags has heard of it.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_leads_without_what_is_known_to_be_committed() {
    let mut group = Group::start(3).await;
    let first = group.write("first").await;
    group.agree(first).await;
    let (leader, term) = group.leader().await;
    let (back, late) = ((leader + 1) % 3, (leader + 2) % 3);
    let led = (group.replica(leader).node.id(), term);
    group.stop_one(late).await;
    group.stop_one(back).await;
    let copied = tempfile::tempdir().unwrap();
    copy(&group.data(back), copied.path());
    group.start_one(back).await.unwrap();
    let mut last = first;
    for number in 0..5 {
        last = group.write(vec![number]).await;
    }
    group.agree(last).await;
    assert_eq!(group.leader().await, (leader, term));
    group.stop_one(leader).await;
    group.stop_one(back).await;
    roll_back(&group, back, copied.path());

    group.start_one(late).await.unwrap();
    heartbeat(&group, led, late, last).await;
    group.start_one(back).await.unwrap();
    // For longer than many elections take.
    for _ in 0..20 {
        tokio::time::sleep(Duration::from_millis(200)).await;
        for (_, replica) in group.running() {
            assert_eq!(replica.node.role().borrow().leading(), None);
        }
    }
    group.start_one(leader).await.unwrap();
    assert_eq!(group.agree(last).await.values.len(), 6);
    assert_eq!(group.leader().await.0, leader);
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
