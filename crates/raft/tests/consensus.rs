//! What a group promises: one order, nothing lost, nobody behind for ever.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod group;

use bytes::Bytes;
use group::{Group, eventually};
use lockstep_position::{LogId, Term};
use lockstep_raft::{BarrierError, Compaction, Limits, ProposeError, ReadError, Role};
use std::time::Duration;

const LIMIT: Duration = Duration::from_millis(400);

#[tokio::test(flavor = "multi_thread")]
async fn three_replicas_elect_commit_and_agree() {
    let group = Group::start(3).await;
    let mut last = None;
    for value in ["one", "two", "three"] {
        last = Some(group.write(value).await);
    }
    let agreed = group.agree(last.unwrap()).await;
    assert_eq!(
        agreed.values,
        [b"one".to_vec(), b"two".to_vec(), b"three".to_vec()]
    );

    let (at, term) = group.leader().await;
    let node = &group.replica(at).node;
    let committed = node
        .propose(term, Bytes::from_static(b"four"))
        .await
        .unwrap();
    assert_eq!(committed.outcome, 4_u64.to_be_bytes());
    assert_eq!(committed.log_id.term, term);

    let status = node.status();
    assert_eq!(status.role, Role::Leader { term });
    assert_eq!(status.applied, Some(committed.log_id));
    let names: Vec<_> = status
        .members
        .iter()
        .map(|member| (&*member.name, member.voter))
        .collect();
    assert_eq!(names.len(), 3);
    for peer in &group.peers {
        assert!(names.contains(&(&*peer.name, true)), "{names:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_can_answers_a_question_about_itself_also_without_a_leader() {
    let mut group = Group::start(3).await;
    let (at, _) = group.leader().await;
    let asking = (at + 1) % 3;
    let ids: Vec<_> = (0..3).map(|at| group.replica(at).node.id()).collect();
    let all = async |group: &Group| {
        let asked = group
            .replica(asking)
            .node
            .ask_members(b"how old?".to_vec(), LIMIT);
        let mut answers = asked.await;
        answers.sort();
        answers
    };
    let expected = |places: &[usize]| {
        let said = |place: &usize| (ids[*place], b"answer to how old?".to_vec());
        let mut answers: Vec<_> = places.iter().map(said).collect();
        answers.sort();
        answers
    };
    let two = expected(&[at, (at + 2) % 3]);
    eventually("two answers", async || {
        (all(&group).await == two).then_some(())
    })
    .await;
    group.stop_one(at).await;
    let one = expected(&[(at + 2) % 3]);
    eventually("one answer", async || {
        (all(&group).await == one).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_replica_alone_is_a_group() {
    let mut group = Group::start(1).await;
    let log_id = group.write("alone").await;
    group.stop_one(0).await;
    group.start_one(0).await.unwrap();
    assert_eq!(group.replica(0).written().last, Some(log_id));
    group.write("still").await;
    assert_eq!(
        group.replica(0).written().values,
        [b"alone".to_vec(), b"still".to_vec()]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn another_leader_takes_over_and_keeps_what_was_committed() {
    let mut group = Group::start(3).await;
    group.write("before").await;
    let (old, old_term) = group.leader().await;
    group.stop_one(old).await;

    let (new, term) = group.leader().await;
    assert_ne!(new, old);
    assert!(term > old_term);
    group.write("after").await;

    group.start_one(old).await.unwrap();
    let last = group.write("again").await;
    let agreed = group.agree(last).await;
    let wanted = [b"before".to_vec(), b"after".to_vec(), b"again".to_vec()];
    assert_eq!(agreed.values, wanted);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_behind_a_purged_log_catches_up_by_snapshot() {
    let compaction = Compaction {
        snapshot_after_entries: 20,
        keep_entries: 2,
    };
    // Small chunks, so that the snapshot takes many of them.
    let limits = Limits {
        snapshot_chunk_bytes: 1_000,
        ..Limits::default()
    };
    let mut group = Group::start_with(3, compaction, limits).await;
    group.write("first").await;
    let (leader, _) = group.leader().await;
    let late = (leader + 1) % 3;
    group.stop_one(late).await;
    let behind = group.replica(leader).written().last;

    let mut last = None;
    for number in 0..60 {
        last = Some(group.write(vec![number; 500]).await);
    }
    let leader = group.leader().await.0;
    eventually("the log to be purged", || async {
        (group.replica(leader).node.status().purged > behind).then_some(())
    })
    .await;

    group.start_one(late).await.unwrap();
    let agreed = group.agree(last.unwrap()).await;
    assert_eq!(agreed.values.len(), 61);
    let status = group.replica(late).node.status();
    assert!(status.snapshot > behind, "{status:?}");

    // It lasts: what was installed is there after a restart.
    group.stop_one(late).await;
    group.start_one(late).await.unwrap();
    assert_eq!(group.replica(late).written(), agreed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_of_all_keeps_everything_that_was_applied() {
    let compaction = Compaction {
        snapshot_after_entries: 10,
        keep_entries: 3,
    };
    let mut group = Group::start_with(3, compaction, Limits::default()).await;
    let mut last = None;
    for number in 0..35_u8 {
        last = Some(group.write(vec![number]).await);
    }
    let before = group.agree(last.unwrap()).await;
    let terms: Vec<Term> = group
        .running()
        .map(|(_, it)| it.node.role().borrow().term())
        .collect();
    for at in 0..3 {
        group.stop_one(at).await;
    }
    for (at, term) in terms.into_iter().enumerate() {
        group.start_one(at).await.unwrap();
        // Before it has heard of anybody it shows what it showed.
        let replica = group.replica(at);
        assert_eq!(replica.written(), before);
        assert_eq!(*replica.node.applied().borrow(), before.last);
        assert!(replica.node.role().borrow().term() >= term);
    }
    let last = group.write("new").await;
    let after = group.agree(last).await;
    assert_eq!(after.values.len(), before.values.len() + 1);
    assert_eq!(after.values[..35], before.values[..]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_barrier_on_a_follower_sees_all_earlier_commits() {
    let group = Group::start(3).await;
    let (leader, term) = group.leader().await;
    for number in 0..50_u64 {
        let payload = Bytes::copy_from_slice(&number.to_be_bytes());
        let committed = group
            .replica(leader)
            .node
            .propose(term, payload)
            .await
            .unwrap();
        for (_, replica) in group.running() {
            let passed = replica.node.barrier(Duration::from_secs(5)).await.unwrap();
            assert!(passed.index >= committed.log_id.index);
            assert_eq!(passed.read.leader, group.replica(leader).node.id());
            assert!(u64::from_be_bytes(passed.read.probe.try_into().unwrap()) > number);
            assert!(replica.written().values.len() as u64 > number);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_barrier_without_a_leader_ends_within_its_limit() {
    let mut group = Group::start(3).await;
    group.write("x").await;
    let (leader, term) = group.leader().await;
    for at in (0..3).filter(|at| *at != leader) {
        group.stop_one(at).await;
    }
    let node = &group.replica(leader).node;
    let error = tokio::time::timeout(LIMIT * 20, node.barrier(LIMIT))
        .await
        .unwrap()
        .unwrap_err();
    let quorum = ReadError::Refused {
        what: "it cannot reach a quorum".to_owned(),
    };
    let wanted = [ReadError::Timeout { limit: LIMIT }, quorum].map(BarrierError::Read);
    assert!(wanted.contains(&error), "{error:?}");

    // Nor does it accept proposals for ever.
    let refused = eventually("proposals to be refused", || async {
        let proposed = node.propose(term, Bytes::from_static(b"lost"));
        tokio::time::timeout(LIMIT, proposed).await.ok()?.err()
    })
    .await;
    assert_eq!(refused, ProposeError::NotLeader { term, leader: None });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proposal_for_another_term_is_not_appended() {
    let group = Group::start(3).await;
    let (leader, term) = group.leader().await;
    let node = &group.replica(leader).node;
    let last = node.status().last;
    let stale = Term::from_u64(term.as_u64() - 1);
    let error = node
        .propose(stale, Bytes::from_static(b"x"))
        .await
        .unwrap_err();
    let wanted = ProposeError::NotLeader {
        term: stale,
        leader: Some(node.id()),
    };
    assert_eq!(error, wanted);
    assert_eq!(node.status().last, last);

    let follower = &group.replica((leader + 1) % 3).node;
    let error = follower
        .propose(term, Bytes::from_static(b"x"))
        .await
        .unwrap_err();
    let leader = Some(node.id());
    assert_eq!(error, ProposeError::NotLeader { term, leader });
    assert_eq!(
        error.to_string(),
        format!(
            "not the leader of {term}; the last known leader is {}",
            node.id()
        )
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn entries_of_the_largest_size_pass_and_a_byte_more_does_not() {
    let limits = Limits {
        entry_bytes_max: 1 << 20,
        ..Limits::default()
    };
    let group = Group::start_with(3, Compaction::default(), limits).await;
    let last: LogId = group.write(vec![7; 1 << 20]).await;
    let (leader, term) = group.leader().await;
    let too_large = Bytes::from(vec![7; (1 << 20) + 1]);
    let error = group
        .replica(leader)
        .node
        .propose(term, too_large)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "entry of 1048577 bytes exceeds the limit of 1048576 bytes"
    );
    assert_eq!(group.agree(last).await.values.len(), 1);
}
