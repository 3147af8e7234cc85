//! A new group: replicas start at once, in any order, and one of them late.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod group;

use group::{Group, settled, start};
use lockstep_raft::{Compaction, Limits};
use std::time::Duration;

async fn prepared() -> Group {
    Group::prepare(3, Compaction::default(), Limits::default()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn replicas_that_start_at_once_are_one_group() {
    for _ in 0..3 {
        let mut group = prepared().await;
        let starting = (0..3).map(|at| start(group.config(at)));
        let started = futures::future::join_all(starting).await;
        for (at, running) in started.into_iter().enumerate() {
            group.replicas[at] = Some(running.unwrap());
        }
        settled(&group, &group.ids()).await;
        let first = group.write("first").await;
        assert_eq!(group.agree(first).await.values, [b"first"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_begins_before_the_last_one_is_there_whatever_the_order() {
    for [one, other, late] in [
        [0, 1, 2],
        [2, 1, 0],
        [0, 2, 1],
        [1, 2, 0],
        [2, 0, 1],
        [1, 0, 2],
    ] {
        let mut group = prepared().await;
        for at in [one, other] {
            group.start_one(at).await.unwrap();
        }
        // For longer than a round of greetings takes.
        for _ in 0..5 {
            tokio::time::sleep(Duration::from_millis(200)).await;
            for (_, replica) in group.running() {
                assert!(!replica.node.is_bootstrapped());
                assert_eq!(replica.node.status().members, []);
            }
        }
        group.start_one(late).await.unwrap();
        settled(&group, &group.ids()).await;
        let first = group.write("first").await;
        assert_eq!(group.agree(first).await.values, [b"first"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_is_restarted_again_and_again_disturbs_no_beginning() {
    let mut group = prepared().await;
    for at in 0..2 {
        group.start_one(at).await.unwrap();
    }
    // It may be asked, answer, and be gone again at any point of the beginning.
    for round in 0..8 {
        group.start_one(2).await.unwrap();
        tokio::time::sleep(Duration::from_millis(60 * round)).await;
        group.stop_one(2).await;
    }
    group.start_one(2).await.unwrap();
    settled(&group, &group.ids()).await;
    let first = group.write("first").await;
    assert_eq!(group.agree(first).await.values, [b"first"]);
}
