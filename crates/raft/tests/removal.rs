//! Members that an operator removes, and what becomes of them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod group;

use group::links::Links;
use group::{Group, eventually, settled, settled_among};
use lockstep_position::ReplicaId;
use lockstep_raft::{Compaction, Fatal, Limits, MembersChange, Risk};
use std::collections::BTreeSet;
use std::time::Duration;

const LIMIT: Duration = Duration::from_millis(500);

fn removal(group: &Group, places: &[usize], risk: Risk) -> MembersChange {
    MembersChange::Remove(places.iter().map(|at| group.name(*at)).collect(), risk)
}

fn ids_at(group: &Group, places: &[usize]) -> BTreeSet<ReplicaId> {
    places
        .iter()
        .map(|at| group.replica(*at).node.id())
        .collect()
}

async fn dismissed_are(group: &Group, at: usize, names: &[String]) {
    eventually("the dismissed names", || async {
        (group.replica(at).node.status().outside.dismissed == names).then_some(())
    })
    .await;
}

/// Waits until a replica says that it is left out for a reason.
async fn is_left_out(group: &Group, at: usize, why: &str) {
    eventually("a reason to be left out", || async {
        let left_out = group.replica(at).node.status().outside.left_out;
        left_out.is_some_and(|it| it.contains(why)).then_some(())
    })
    .await;
}

/// Nobody confirms to it that it is fresh, and it counts for nothing.
async fn is_out(group: &Group, at: usize) {
    let node = &group.replica(at).node;
    eventually("it to be told that it is no member", || async {
        let leads = node.role().borrow().leading().is_some();
        node.barrier(LIMIT).await.err().filter(|_| !leads)
    })
    .await;
    // For longer than an election takes.
    for _ in 0..8 {
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(node.barrier(LIMIT).await.is_err());
        assert_eq!(node.role().borrow().leading(), None);
    }
}

/// Starts a replica whose old volume nobody counts any more, until it is a voter again.
async fn comes_back_anew(group: &mut Group, at: usize) {
    let old = {
        group.start_one(at).await.unwrap();
        group.replica(at).node.id()
    };
    let Fatal::GaveUp { why } = group.ended(at).await else {
        panic!("it ended for another reason");
    };
    assert!(why.contains(&format!("answers as {old}")), "{why}");
    group.start_one(at).await.unwrap();
    assert_ne!(group.replica(at).node.id(), old);
    group.remember_history().await;
}

async fn restart(group: &mut Group, places: &[usize]) {
    for at in places {
        group.stop_one(*at).await;
        group.start_one(*at).await.unwrap();
        group.leader().await;
    }
}

/// Scales a group down to `small` and up again with the old volumes.
async fn down_and_up(size: usize, small: usize, risk: Risk) {
    let compaction = Compaction {
        snapshot_after_entries: 10,
        keep_entries: 2,
    };
    let mut group = Group::start_with(size, compaction, Limits::default()).await;
    group.leader().await;
    group.remember_history().await;
    let (staying, leaving): (Vec<usize>, Vec<usize>) = (0..size).partition(|at| *at < small);
    let first = group.write("first").await;
    group.agree(first).await;
    let names: Vec<String> = leaving.iter().map(|at| group.name(*at)).collect();
    group
        .change(&removal(&group, &leaving, risk))
        .await
        .unwrap();
    settled_among(&group, &staying, &ids_at(&group, &staying)).await;
    dismissed_are(&group, 0, &names).await;

    // They run on, are configured, and stay out, also after a restart.
    let (_, term) = group.leader().await;
    for round in 0..2 {
        for at in &leaving {
            if round == 1 {
                group.stop_one(*at).await;
                group.start_one(*at).await.unwrap();
            }
            is_out(&group, *at).await;
            is_left_out(&group, *at, "was removed from the group by an operator").await;
        }
    }
    let second = group.write("without them").await;
    group.agree_among(&staying, second).await;
    assert_eq!(group.leader().await.1, term, "somebody disturbed the group");

    // Scaled down: nobody names them any more, and they are gone.
    for at in &leaving {
        group.stop_one(*at).await;
    }
    group.configure(small);
    restart(&mut group, &staying).await;
    dismissed_are(&group, 0, &[]).await;

    // Scaled up: what is configured now is meant anew.
    group.configure(size);
    restart(&mut group, &staying).await;
    for at in leaving {
        comes_back_anew(&mut group, at).await;
    }
    settled(&group, &group.ids()).await;
    let third = group.write("with them").await;
    assert_eq!(group.agree(third).await.values.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn five_become_three_and_five_again_with_old_volumes() {
    down_and_up(5, 3, Risk::Refuse).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn three_become_one_and_three_again_with_old_volumes() {
    down_and_up(3, 1, Risk::Accept).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_leader_hands_over_and_stays_out() {
    let group = Group::start(3).await;
    let first = group.write("first").await;
    group.agree(first).await;
    let (leader, _) = group.leader().await;
    let change = removal(&group, &[leader], Risk::Accept);
    group
        .replica(leader)
        .node
        .change_members(&change)
        .await
        .unwrap();
    let staying: Vec<usize> = (0..3).filter(|at| *at != leader).collect();
    settled_among(&group, &staying, &ids_at(&group, &staying)).await;
    is_out(&group, leader).await;
    let (new, _) = group.leader().await;
    assert_ne!(new, leader);
    let second = group.write("by the others").await;
    group.agree_among(&staying, second).await;
    assert_eq!(group.replica(leader).written().values, [b"first"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_member_comes_back_when_it_is_added() {
    let mut group = Group::start(3).await;
    group.leader().await;
    group.remember_history().await;
    let first = group.write("first").await;
    group.agree(first).await;
    let (leader, _) = group.leader().await;
    let removed = (leader + 1) % 3;
    group
        .change(&removal(&group, &[removed], Risk::Accept))
        .await
        .unwrap();
    is_left_out(&group, removed, "`lockstep members add").await;
    let add = MembersChange::Add(group.name(removed));
    group.change(&add).await.unwrap();
    let Fatal::GaveUp { .. } = group.ended(removed).await else {
        panic!("it ended for another reason");
    };
    group.start_one(removed).await.unwrap();
    settled(&group, &group.ids()).await;
    dismissed_are(&group, leader, &[]).await;
    let last = group.write("by three").await;
    assert_eq!(group.agree(last).await.values.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_a_leader_leaves_half_done_is_finished_by_the_next_one() {
    let mut group = Group::prepare(5, Compaction::default(), Limits::default()).await;
    group.links = Some(Links::between(&group.listen).await);
    for at in 0..5 {
        group.start_one(at).await.unwrap();
    }
    let first = group.write("first").await;
    group.agree(first).await;
    let (leader, _) = group.leader().await;
    let removed = (leader + 1) % 5;
    let others: Vec<usize> = (0..5)
        .filter(|at| ![leader, removed].contains(at))
        .collect();
    let mut voters = group.ids();
    voters.remove(&group.replica(removed).node.id());
    let name = group.name(removed);

    // The joint membership arrives everywhere, and the leader never hears of it.
    group.links.as_ref().unwrap().set_deaf(leader, true);
    let node = group.replica(leader).node.clone();
    let change = removal(&group, &[removed], Risk::Refuse);
    let changing = tokio::spawn(async move { node.change_members(&change).await });
    for at in &others {
        dismissed_are(&group, *at, std::slice::from_ref(&name)).await;
        let members = group.replica(*at).node.status().members;
        assert_eq!(members.iter().filter(|member| member.voter).count(), 5);
    }
    group.stop_one(leader).await;
    changing.await.unwrap().unwrap_err();
    settled_among(&group, &others, &voters).await;
    let last = group.write("by the next leader").await;
    group.agree_among(&others, last).await;
}
