//! A replica that has lost its data folder comes back as a voter, under a new id.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod group;

use group::{Group, eventually, settled, start};
use lockstep_position::ReplicaId;
use lockstep_proto::peer::v1 as wire;
use lockstep_proto::peer::v1::peer_client::PeerClient;
use lockstep_raft::{Compaction, Config, Limits};
use std::time::Duration;

/// Stops a replica, takes its folder away and starts it again; the id that is gone and the new one.
async fn lose(group: &mut Group, at: usize) -> (ReplicaId, ReplicaId) {
    let old = group.replica(at).node.id();
    group.stop_one(at).await;
    std::fs::remove_dir_all(group.data(at)).unwrap();
    group.start_one(at).await.unwrap();
    (old, group.replica(at).node.id())
}

/// Waits until the leader knows a replica that came back under a new id.
async fn known_to(group: &Group, leader: usize, new: ReplicaId) {
    eventually("the new one to be known", || async {
        let members = group.replica(leader).node.status().members;
        members.iter().any(|member| member.id == new).then_some(())
    })
    .await;
}

async fn write_some(group: &Group, count: u8) {
    for number in 0..count {
        group.write(vec![number; 100]).await;
    }
}

async fn a_lost_replica_votes_again(lost: usize, compaction: Compaction) {
    let mut group = Group::start_with(3, compaction, Limits::default()).await;
    write_some(&group, 30).await;
    let (old, new) = lose(&mut group, lost).await;
    assert_ne!(old, new);
    settled(&group, &group.ids()).await;
    let last = group.write("with the new one").await;
    assert_eq!(group.agree(last).await.values.len(), 31);

    // The group counts on it: with another one gone it is half of the quorum.
    let other = (lost + 1) % 3;
    group.stop_one(other).await;
    let last = group.write("by two").await;
    assert_eq!(group.agree(last).await.values.len(), 32);
    group.start_one(other).await.unwrap();
    let last = group.write("by three").await;
    assert_eq!(group.agree(last).await.values.len(), 33);
    settled(&group, &group.ids()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_without_its_folder_becomes_a_voter_under_a_new_id() {
    a_lost_replica_votes_again(1, Compaction::default()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_of_the_list_makes_no_second_group_and_rejoins_by_snapshot() {
    let compaction = Compaction {
        snapshot_after_entries: 8,
        keep_entries: 2,
    };
    a_lost_replica_votes_again(0, compaction).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_after_the_other_can_be_lost() {
    let mut group = Group::start(3).await;
    write_some(&group, 5).await;
    let first = group.ids();
    for at in 0..3 {
        lose(&mut group, at).await;
        settled(&group, &group.ids()).await;
        let last = group.write("x").await;
        group.agree(last).await;
    }
    assert!(group.ids().is_disjoint(&first));
    let last = group.write("last").await;
    assert_eq!(group.agree(last).await.values.len(), 9);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_that_stops_while_a_replica_catches_up_leaves_three_members() {
    let mut group = Group::start(3).await;
    write_some(&group, 30).await;
    let (leader, _) = group.leader().await;
    let lost = (leader + 1) % 3;
    let (_, new) = lose(&mut group, lost).await;
    known_to(&group, leader, new).await;
    group.stop_one(leader).await;
    group.start_one(leader).await.unwrap();
    settled(&group, &group.ids()).await;
    let last = group.write("after").await;
    assert_eq!(group.agree(last).await.values.len(), 31);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_next_leader_goes_on_where_the_last_one_stopped() {
    let mut group = Group::start(5).await;
    write_some(&group, 30).await;
    let (leader, _) = group.leader().await;
    let leader_id = group.replica(leader).node.id();
    let lost = (leader + 1) % 5;
    let (_, new) = lose(&mut group, lost).await;
    known_to(&group, leader, new).await;
    group.stop_one(leader).await;
    let mut voters = group.ids();
    voters.insert(leader_id);
    settled(&group, &voters).await;
    let last = group.write("after").await;
    assert_eq!(group.agree(last).await.values.len(), 31);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_is_lost_again_before_it_votes_leaves_nothing_behind() {
    let mut group = Group::start(3).await;
    write_some(&group, 30).await;
    let (leader, _) = group.leader().await;
    let lost = (leader + 1) % 3;
    let (_, first) = lose(&mut group, lost).await;
    known_to(&group, leader, first).await;
    let (gone, second) = lose(&mut group, lost).await;
    assert_eq!(gone, first);
    assert_ne!(second, first);
    settled(&group, &group.ids()).await;
    let last = group.write("after").await;
    assert_eq!(group.agree(last).await.values.len(), 31);
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_a_stranger_nor_a_double_of_somebody_present_is_taken_in() {
    let mut group = Group::start(5).await;
    write_some(&group, 5).await;
    let mut voters = group.ids();
    // In place of one: a replica of another cluster.
    group.stop_one(3).await;
    let stranger = Config {
        cluster: "test".to_owned(),
        data: group.folder.path().join("stranger"),
        ..group.config(3)
    };
    let stranger = start(stranger).await.unwrap();
    // Beside another: an empty one with its name, elsewhere.
    let double = Config {
        data: group.folder.path().join("double"),
        listen: lockstep_raft::Listen::Address("127.0.0.1:0".parse().unwrap()),
        ..group.config(2)
    };
    let double = start(double).await.unwrap();
    // All names are asked in each round, so whoever replaces the lost one has seen both.
    let (old, new) = lose(&mut group, 4).await;
    voters.remove(&old);
    voters.insert(new);
    settled(&group, &voters).await;
    assert!(!stranger.node.is_bootstrapped());
    assert!(!double.node.is_bootstrapped());

    stranger.stop().await.unwrap();
    double.stop().await.unwrap();
    group.start_one(3).await.unwrap();
    let last = group.write("after").await;
    assert_eq!(group.agree(last).await.values.len(), 6);
    settled(&group, &voters).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_comes_back_after_its_replacement_stays_out() {
    let mut group = Group::start(5).await;
    write_some(&group, 5).await;
    // A majority of five does without two: wait for those that will be stopped.
    let last = group.write("on all five").await;
    group.agree(last).await;
    let (leader, _) = group.leader().await;
    let mut followers = (0..5).filter(|at| *at != leader);
    let (back, lost) = (followers.next().unwrap(), followers.next().unwrap());
    let kept = group.folder.path().join("kept");
    let old = group.replica(back).node.id();
    group.stop_one(back).await;
    std::fs::rename(group.data(back), &kept).unwrap();
    group.start_one(back).await.unwrap();
    let mut voters = group.ids();
    settled(&group, &voters).await;

    // A last attempt to replicate to the old id may be under way. It would still
    // bring it up to date: harmless, since nothing is forgotten, but another story.
    tokio::time::sleep(Duration::from_secs(1)).await;

    // The old folder is put back in place of the new one.
    group.stop_one(back).await;
    let new = group.folder.path().join("new");
    std::fs::rename(group.data(back), &new).unwrap();
    std::fs::rename(&kept, group.data(back)).unwrap();
    group.start_one(back).await.unwrap();
    assert_eq!(group.replica(back).node.id(), old);
    // Whoever takes in another one has asked this one first.
    let (gone, new_id) = lose(&mut group, lost).await;
    voters.remove(&gone);
    voters.insert(new_id);
    eventually("the lost one to vote", || async {
        let members = group.replica(leader).node.status().members;
        let found = members.iter().find(|member| member.id == new_id);
        found.is_some_and(|found| found.voter).then_some(())
    })
    .await;
    let members = group.replica(leader).node.status().members;
    assert!(members.iter().all(|member| member.id != old), "{members:?}");

    // With the new folder again, all is as before.
    group.stop_one(back).await;
    std::fs::rename(group.data(back), &kept).unwrap();
    std::fs::rename(&new, group.data(back)).unwrap();
    group.start_one(back).await.unwrap();
    let last = group.write("after").await;
    group.agree(last).await;
    settled(&group, &voters).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_tells_whether_it_votes() {
    let mut group = Group::start(3).await;
    write_some(&group, 1).await;
    settled(&group, &group.ids()).await;
    let member = hello(&group, 2).await;
    assert_eq!((member.initialized, member.learner), (true, false));
    // Nobody else is up, so nobody takes it in.
    for at in 0..3 {
        group.stop_one(at).await;
    }
    std::fs::remove_dir_all(group.data(2)).unwrap();
    group.start_one(2).await.unwrap();
    let empty = hello(&group, 2).await;
    assert_eq!((empty.initialized, empty.learner), (false, false));
    assert_ne!(empty.id, member.id);
}

async fn hello(group: &Group, at: usize) -> wire::HelloResponse {
    let url = format!("http://{}", group.listen[at]);
    let route = wire::Route {
        cluster: "prod".to_owned(),
        ..wire::Route::default()
    };
    let request = wire::HelloRequest { route: Some(route) };
    let mut client = PeerClient::connect(url).await.unwrap();
    client.hello(request).await.unwrap().into_inner()
}
