//! Replicas whose addresses change: membership belongs to ids.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod group;

use group::{Group, settled};
use lockstep_position::ReplicaId;
use std::collections::BTreeSet;

async fn stop_all(group: &mut Group) -> BTreeSet<ReplicaId> {
    let ids = group.ids();
    for at in 0..3 {
        group.stop_one(at).await;
    }
    ids
}

#[tokio::test(flavor = "multi_thread")]
async fn all_addresses_may_change_at_once() {
    let mut group = Group::start(3).await;
    let first = group.write("first").await;
    group.agree(first).await;
    let ids = stop_all(&mut group).await;
    group.move_to_new_addresses().await;
    for at in 0..3 {
        group.start_one(at).await.unwrap();
    }
    settled(&group, &ids).await;
    let second = group.write("second").await;
    assert_eq!(group.agree(second).await.values.len(), 2);
    for (_, replica) in group.running() {
        let members = replica.node.status().members;
        let known: BTreeSet<String> = members.into_iter().map(|it| it.address).collect();
        assert_eq!(
            known,
            group.listen.iter().map(ToString::to_string).collect()
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_may_exchange_their_addresses_before_the_third_is_told() {
    let mut group = Group::start(3).await;
    let first = group.write("first").await;
    group.agree(first).await;
    let ids = group.ids();
    let (leader, _) = group.leader().await;
    let (one, other) = ((leader + 1) % 3, (leader + 2) % 3);
    group.stop_one(one).await;
    group.stop_one(other).await;
    group.exchange_addresses(one, other);
    // The third dials each of them where the other one is, and is refused by both.
    group.start_one(one).await.unwrap();
    group.start_one(other).await.unwrap();
    let second = group.write("second").await;
    assert_eq!(group.agree(second).await.values.len(), 2);
    settled(&group, &ids).await;

    group.stop_one(leader).await;
    group.start_one(leader).await.unwrap();
    settled(&group, &ids).await;
    let third = group.write("third").await;
    assert_eq!(group.agree(third).await.values.len(), 3);
}
