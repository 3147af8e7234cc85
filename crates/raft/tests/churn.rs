//! One writer, and replicas that come and go.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod group;

use group::{Group, PATIENCE, eventually};
use lockstep_raft::{Compaction, Limits, Node, ProposeError, Role};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;

/// The nodes that run now.
type Nodes = Arc<Mutex<Vec<Node>>>;

fn running(group: &Group) -> Vec<Node> {
    group.running().map(|(_, it)| it.node.clone()).collect()
}

/// Writes numbers, each at most once, at whoever leads; returns those acknowledged.
async fn write(
    nodes: Nodes,
    mut stop: watch::Receiver<bool>,
    done: watch::Sender<u64>,
) -> Vec<u64> {
    let mut acknowledged = Vec::new();
    let mut number = 0_u64;
    while !*stop.borrow_and_update() {
        let nodes = nodes.lock().unwrap().clone();
        let leader = nodes.iter().find_map(|node| match *node.role().borrow() {
            Role::Leader { term } => Some((node.clone(), term)),
            Role::Follower { .. } | Role::Learner { .. } => None,
        });
        let Some((leader, term)) = leader else {
            tokio::time::sleep(Duration::from_millis(5)).await;
            continue;
        };
        number += 1;
        let payload = number.to_be_bytes().to_vec().into();
        // Who waits in vain does not know the outcome.
        let proposed = tokio::time::timeout(Duration::from_secs(2), leader.propose(term, payload));
        match proposed.await {
            Ok(Ok(_)) => {
                acknowledged.push(number);
                done.send_replace(number);
            }
            Ok(Err(ProposeError::NotLeader { .. })) => {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Ok(Err(ProposeError::OutcomeUnknown | ProposeError::Stopped)) | Err(_) => {}
            Ok(Err(error @ ProposeError::TooLarge { .. })) => panic!("{error}"),
        }
    }
    acknowledged
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_is_held_once_and_in_order_by_all() {
    let compaction = Compaction {
        snapshot_after_entries: 50,
        keep_entries: 5,
    };
    let mut group = Group::start_with(3, compaction, Limits::default()).await;
    group.leader().await;
    let nodes: Nodes = Arc::new(Mutex::new(running(&group)));
    let (stop, stopping) = watch::channel(false);
    let (done, mut progress) = watch::channel(0);
    let writer = tokio::spawn(write(Arc::clone(&nodes), stopping, done));

    for round in 0..8 {
        // Now the leader, now another, now both of the others.
        let (leader, _) = group.leader().await;
        let stopped: Vec<usize> = match round % 3 {
            0 => vec![leader],
            1 => vec![(leader + 1) % 3],
            _ => vec![(leader + 1) % 3, (leader + 2) % 3],
        };
        for at in &stopped {
            group.stop_one(*at).await;
            *nodes.lock().unwrap() = running(&group);
        }
        let written = *progress.borrow_and_update();
        if stopped.len() == 1 {
            let more = progress.wait_for(|number| *number > written + 30);
            tokio::time::timeout(PATIENCE, more).await.unwrap().unwrap();
        }
        for at in stopped {
            group.start_one(at).await.unwrap();
            *nodes.lock().unwrap() = running(&group);
        }
        let written = *progress.borrow_and_update();
        let more = progress.wait_for(|number| *number > written);
        tokio::time::timeout(PATIENCE, more).await.unwrap().unwrap();
    }
    stop.send_replace(true);
    let acknowledged = writer.await.unwrap();
    let last = group.write("end").await;
    let values = group.agree(last).await.values;
    let numbers: Vec<u64> = values
        .iter()
        .filter_map(|value| value.as_slice().try_into().ok().map(u64::from_be_bytes))
        .collect();

    let distinct: BTreeSet<u64> = numbers.iter().copied().collect();
    assert_eq!(distinct.len(), numbers.len(), "something is held twice");
    let held: Vec<u64> = numbers
        .iter()
        .copied()
        .filter(|number| acknowledged.binary_search(number).is_ok())
        .collect();
    assert_eq!(held, acknowledged);
    assert!(acknowledged.len() > 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_stopped_does_not_believe_to_lead() {
    let mut group = Group::start(1).await;
    group.leader().await;
    let node = group.replica(0).node.clone();
    let term = node.role().borrow().term();
    group.stop_one(0).await;
    let stopped = Role::Learner { leader: None, term };
    assert_eq!(*node.role().borrow(), stopped);
    let error = node.propose(term, vec![1].into()).await.unwrap_err();
    assert_eq!(error, ProposeError::Stopped);
    let error = eventually("an answer", || async { node.read_index().await.err() }).await;
    assert_eq!(error.to_string(), "the node has stopped");
}
