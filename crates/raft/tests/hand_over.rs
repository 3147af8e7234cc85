//! The lead, handed to another replica while the group works.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod group;

use bytes::Bytes;
use group::{Group, PATIENCE, eventually};
use lockstep_raft::{HandOverError, HandedOver, NoSuccessor, Node, ProposeError, Role};
use std::time::Duration;

/// The leader's place, and the voters that it could hand the lead to, best first.
async fn led(group: &Group) -> (usize, Vec<lockstep_position::ReplicaId>) {
    let last = group.write("x").await;
    group.agree(last).await;
    let (old, _) = group.leader().await;
    let successors = eventually("two followers that answer", || async {
        let successors = group.replica(old).node.status().successors().ok()?;
        (successors.len() == 2).then_some(successors)
    })
    .await;
    (old, successors)
}

fn place_of(group: &Group, id: lockstep_position::ReplicaId) -> usize {
    let mut running = group.running();
    running
        .find(|(_, running)| running.node.id() == id)
        .unwrap()
        .0
}

async fn propose_all(node: &Node) -> (u64, ProposeError) {
    let term = node.role().borrow().leading().unwrap();
    for done in 0.. {
        let payload = Bytes::from(format!("{done}"));
        if let Err(error) = node.propose(term, payload).await {
            return (done, error);
        }
    }
    unreachable!()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lead_is_handed_over_under_load_and_nothing_acknowledged_is_lost() {
    let group = Group::start(3).await;
    let (old, successors) = led(&group).await;
    let from = &group.replica(old).node;
    let term = from.role().borrow().leading().unwrap();
    let writer = tokio::spawn({
        let from = from.clone();
        async move { propose_all(&from).await }
    });
    let handed = from.hand_over(successors[0], PATIENCE).await.unwrap();
    assert!(handed.term > term, "{handed:?}");
    assert_eq!(from.role().borrow().leader(), Some(handed.leader));
    let (acknowledged, error) = writer.await.unwrap();
    assert!(
        matches!(
            error,
            ProposeError::NotLeader { .. } | ProposeError::OutcomeUnknown
        ),
        "{error}"
    );
    let new = group.replica(place_of(&group, handed.leader));
    eventually("the new leader to lead", || async {
        new.node.role().borrow().leading()
    })
    .await;
    let last = group.write("y").await;
    let values = group.agree(last).await.values;
    for number in 0..acknowledged {
        let value = number.to_string().into_bytes();
        assert!(values.contains(&value), "{number} of {acknowledged}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_voter_can_be_handed_the_lead() {
    let group = Group::start(3).await;
    led(&group).await;
    for place in [0, 1, 2, 1, 0, 2] {
        let to = group.replica(place).node.id();
        // Another one may be faster on a busy machine, so the lead is passed on until it has it.
        eventually("the lead to be where it should", || async {
            let (old, _) = group.leader().await;
            let handed = group.replica(old).node.hand_over(to, PATIENCE).await;
            let led = old == place || handed.is_ok_and(|HandedOver { leader, .. }| leader == to);
            led.then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_finds_the_other_away_leads_on() {
    let mut group = Group::start(3).await;
    let (old, successors) = led(&group).await;
    let away = place_of(&group, successors[0]);
    let node = group.replica(old).node.clone();
    group.stop_one(away).await;
    // It lacks this one, and cannot get it.
    group.write("z").await;
    let limit = Duration::from_millis(300);
    let to = successors[0];
    assert_eq!(
        node.hand_over(to, limit).await,
        Err(HandOverError::Behind { to, limit })
    );
    group.write("led on").await;
    assert!(node.role().borrow().leading().is_some());
    eventually("the other to count as away", || async {
        (node.status().successors() == Ok(vec![successors[1]])).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_leader_hands_over_and_only_to_another_voter() {
    let group = Group::start(3).await;
    let (old, successors) = led(&group).await;
    let (from, to) = (&group.replica(old).node, place_of(&group, successors[0]));
    let (own, to) = (from.id(), &group.replica(to).node);
    let refused = from.hand_over(own, PATIENCE).await;
    assert_eq!(refused, Err(HandOverError::NotAVoter { to: own }));
    let leader = Some(own);
    let refused = to.hand_over(successors[1], PATIENCE).await;
    assert_eq!(refused, Err(HandOverError::NotLeader { leader }));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_replica_alone_has_no_successor() {
    let group = Group::start(1).await;
    group.write("x").await;
    let status = group.replica(0).node.status();
    assert!(matches!(status.role, Role::Leader { .. }));
    assert_eq!(status.successors(), Err(NoSuccessor::Alone));
    // It is a quorum, though nobody ever answers it.
    assert!(!status.lacks_quorum());
}
