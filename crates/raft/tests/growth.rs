//! Groups that grow: names that are configured and have no voter become voters by themselves.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod group;

use group::{Group, settled};
use lockstep_raft::{Compaction, Limits};

#[tokio::test(flavor = "multi_thread")]
async fn new_names_become_voters_by_themselves() {
    let compaction = Compaction {
        snapshot_after_entries: 8,
        keep_entries: 2,
    };
    let mut group = Group::prepare(5, compaction, Limits::default()).await;
    group.configure(3);
    for at in 0..3 {
        group.start_one(at).await.unwrap();
    }
    for number in 0..30_u8 {
        group.write(vec![number; 100]).await;
    }
    settled(&group, &group.ids()).await;
    // One that nobody but itself has configured is nobody's business.
    group.configure(5);
    group.start_one(3).await.unwrap();
    // As a rolling update does it: one after the other learns of the new names.
    for at in 0..3 {
        group.stop_one(at).await;
        group.start_one(at).await.unwrap();
        let last = group.write("rolled").await;
        group.agree_among(&[0, 1, 2], last).await;
    }
    group.start_one(4).await.unwrap();
    settled(&group, &group.ids()).await;
    let last = group.write("by five").await;
    assert_eq!(group.agree(last).await.values.len(), 34);
    // Three of five are a majority now, whichever they are.
    group.stop_one(0).await;
    group.stop_one(1).await;
    let last = group.write("by three of five").await;
    assert_eq!(group.agree(last).await.values.len(), 35);
}
