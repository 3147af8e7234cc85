//! A follower behind a purged log, whose leader dies while it sends the snapshot.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod group;

use group::links::Links;
use group::{Group, eventually};
use lockstep_raft::{Compaction, Limits};

/// Of a snapshot of more than two million bytes.
const SENT_BYTES: usize = 300_000;

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_gets_its_snapshot_although_the_leader_dies_in_the_middle_and_nobody_writes() {
    let compaction = Compaction {
        snapshot_after_entries: 10,
        keep_entries: 2,
    };
    let limits = Limits {
        snapshot_chunk_bytes: 10_000,
        ..Limits::default()
    };
    let mut group = Group::prepare(3, compaction, limits).await;
    group.links = Some(Links::between(&group.listen).await);
    for at in 0..3 {
        group.start_one(at).await.unwrap();
    }
    let first = group.write("first").await;
    group.agree(first).await;
    let (leader, _) = group.leader().await;
    let late = (leader + 1) % 3;
    group.stop_one(late).await;
    let mut last = first;
    for number in 0..40 {
        last = group.write(vec![number; 60_000]).await;
    }
    assert_eq!(group.leader().await.0, leader);
    for at in (0..3).filter(|at| *at != late) {
        eventually("the log to be purged", || async {
            (group.replica(at).node.status().purged > Some(first)).then_some(())
        })
        .await;
    }

    let links = group.links.as_ref().unwrap();
    let stuck = links.mute_after(leader, late, SENT_BYTES);
    group.start_one(late).await.unwrap();
    eventually("the transfer to be half done", || async {
        (*stuck.borrow()).then_some(())
    })
    .await;
    assert_eq!(group.replica(late).written().values.len(), 1);
    group.stop_one(leader).await;
    // By the other one, whose only entry is the blank one of its term.
    assert_eq!(group.agree(last).await.values.len(), 41);
}
