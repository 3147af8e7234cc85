//! Replicas that cannot hear each other, over connections that stay open.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod group;

use bytes::Bytes;
use group::links::Links;
use group::{Group, PATIENCE, eventually};
use lockstep_raft::{Compaction, Limits, NoSuccessor, ProposeError};
use std::time::Duration;

const LIMIT: Duration = Duration::from_millis(500);

async fn linked(compaction: Compaction) -> Group {
    let mut group = Group::prepare(3, compaction, Limits::default()).await;
    group.links = Some(Links::between(&group.listen).await);
    for at in 0..3 {
        group.start_one(at).await.unwrap();
    }
    group
}

fn set_isolated(group: &Group, at: usize, isolated: bool) {
    group.links.as_ref().unwrap().set_isolated(at, isolated);
}

/// Waits for a leader among all but one; its place.
async fn other_leader(group: &Group, than: usize) -> usize {
    eventually("another leader", || async {
        for (at, replica) in group.running().filter(|(at, _)| *at != than) {
            let leads = replica.node.role().borrow().leading().is_some();
            if leads && replica.node.barrier(LIMIT).await.is_ok() {
                return Some(at);
            }
        }
        None
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_is_cut_off_serves_nothing_and_comes_back_as_a_follower() {
    let group = linked(Compaction::default()).await;
    let first = group.write("first").await;
    group.agree(first).await;
    let (old, term) = group.leader().await;
    let cut_off = &group.replica(old).node;
    set_isolated(&group, old, true);

    // Appended where it is, perhaps, but never committed there.
    let proposed = cut_off.propose(term, Bytes::from_static(b"lost"));
    let outcome = tokio::time::timeout(Duration::from_secs(1), proposed).await;
    assert!(!matches!(outcome, Ok(Ok(_))), "{outcome:?}");

    let new = other_leader(&group, old).await;
    let new_term = group.replica(new).node.role().borrow().leading().unwrap();
    assert!(new_term > term);
    let second = group
        .replica(new)
        .node
        .propose(new_term, Bytes::from_static(b"second"));
    let second = second.await.unwrap().log_id;

    // It may believe to lead, but confirms nothing.
    let barrier = tokio::time::timeout(PATIENCE, cut_off.barrier(LIMIT));
    barrier.await.unwrap().unwrap_err();
    let refused = cut_off
        .propose(term, Bytes::from_static(b"late"))
        .await
        .unwrap_err();
    assert_eq!(refused, ProposeError::NotLeader { term, leader: None });
    assert_eq!(group.replica(old).written().values, [b"first"]);

    set_isolated(&group, old, false);
    let agreed = group.agree(second).await;
    assert_eq!(agreed.values, [b"first".to_vec(), b"second".to_vec()]);
    eventually("a fresh barrier", || async {
        cut_off.barrier(LIMIT).await.ok()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_without_a_quorum_says_so_and_takes_in_nothing() {
    let group = linked(Compaction::default()).await;
    let first = group.write("first").await;
    group.agree(first).await;
    let (old, term) = group.leader().await;
    let cut_off = &group.replica(old).node;
    eventually("the leader to know of its quorum", || async {
        (!cut_off.status().lacks_quorum()).then_some(())
    })
    .await;
    set_isolated(&group, old, true);
    eventually("the leader to miss its quorum", || async {
        cut_off.status().lacks_quorum().then_some(())
    })
    .await;
    // It still believes to lead, and its queue does not grow for it.
    assert_eq!(cut_off.role().borrow().leading(), Some(term));
    let last = cut_off.status().last;
    for _ in 0..100 {
        let refused = cut_off.propose(term, Bytes::from_static(b"more")).await;
        assert_eq!(refused, Err(ProposeError::NotLeader { term, leader: None }));
    }
    assert_eq!(cut_off.status().last, last);
    assert_eq!(
        cut_off.status().successors(),
        Err(NoSuccessor::AllSilent {
            limit: cut_off.status().lease,
        })
    );

    let new = other_leader(&group, old).await;
    eventually("the new leader to know of its quorum", || async {
        (!group.replica(new).node.status().lacks_quorum()).then_some(())
    })
    .await;
    set_isolated(&group, old, false);
    eventually("the old leader to follow", || async {
        cut_off.role().borrow().leader()
    })
    .await;
    assert!(!cut_off.status().lacks_quorum());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_that_is_cut_off_disturbs_nobody_when_it_returns() {
    let compaction = Compaction {
        snapshot_after_entries: 30,
        keep_entries: 3,
    };
    let group = linked(compaction).await;
    let first = group.write("first").await;
    group.agree(first).await;
    let (leader, term) = group.leader().await;
    let follower = (leader + 1) % 3;
    let cut_off = &group.replica(follower).node;
    let old_term = cut_off.role().borrow().term();
    set_isolated(&group, follower, true);

    let barrier = tokio::time::timeout(PATIENCE, cut_off.barrier(LIMIT));
    barrier.await.unwrap().unwrap_err();
    // Long enough for it to want an election, and for the log to be purged.
    let node = &group.replica(leader).node;
    let mut last = None;
    for number in 0..100_u8 {
        let payload = Bytes::from(vec![number; 20_000]);
        last = Some(node.propose(term, payload).await.unwrap().log_id);
    }
    eventually("the follower to give the leader up", || async {
        cut_off.read_index().await.err()
    })
    .await;
    assert_eq!(cut_off.role().borrow().term(), old_term);

    set_isolated(&group, follower, false);
    let agreed = group.agree(last.unwrap()).await;
    assert_eq!(agreed.values.len(), 101);
    // Pre-vote: the same leader in the same term.
    assert_eq!(node.role().borrow().leading(), Some(term));
}
