//! Replicas as processes, and what `kill -9` does to them: nothing that anybody saw is lost.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod harness;

use harness::{
    agreed, eventually, leader, positions,
    scene::{Scene, addresses, open},
    status,
};
use std::{fs, net::SocketAddr, time::Duration};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_follower_comes_back_with_what_it_had() {
    let mut scene = Scene::new(&[]);
    let before = scene.revision(1).await;
    let leads = leader(&scene.fleet.admins()).await;
    let follower = (leads + 1) % 3;
    scene.fleet.kill(follower);
    scene.write(2);
    let rest: Vec<SocketAddr> = [leads, (leads + 2) % 3]
        .map(|place| scene.fleet.admins()[place])
        .to_vec();
    let during = agreed(&rest, before + 1).await.revision;
    scene.fleet.restart(follower);
    assert!(scene.revision(during).await >= during);
    let mut stream = open(scene.fleet.proxies()[follower]).await;
    stream.until(&addresses(2)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn open_streams_on_followers_survive_the_death_of_the_leader() {
    let mut scene = Scene::new(&[]);
    let before = scene.revision(1).await;
    let leads = leader(&scene.fleet.admins()).await;
    let followers = [(leads + 1) % 3, (leads + 2) % 3];
    let mut streams = Vec::new();
    for follower in followers {
        streams.push(open(scene.fleet.proxies()[follower]).await);
    }
    scene.fleet.kill(leads);
    scene.write(3);
    for stream in &mut streams {
        stream.until(&addresses(3)).await;
    }
    scene.fleet.restart(leads);
    assert!(scene.revision(before + 1).await > before);
    // The very streams that were open before go on after the return, too.
    scene.write(4);
    for stream in &mut streams {
        stream.until(&addresses(4)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_group_comes_back_at_the_last_revision_that_anybody_saw() {
    // Small snapshots, so that some rounds recover from a snapshot and a log.
    let mut scene = Scene::new(&["--snapshot-after=10", "--snapshot-keep=3"]);
    scene.revision(1).await;
    for count in 2..12 {
        scene.write(count);
        let mut stream = open(scene.fleet.proxies()[usize::from(count) % 3]).await;
        stream.until(&addresses(count)).await;
        let seen = positions(&scene.fleet.admins()).await.unwrap();
        let newest = seen.iter().map(|position| position.revision).max().unwrap();
        for place in 0..3 {
            scene.fleet.kill(place);
        }
        for place in 0..3 {
            scene.fleet.restart(place);
        }
        let after = agreed(&scene.fleet.admins(), newest).await;
        assert!(after.revision >= newest);
        assert_eq!(after.history, seen[0].history);
        let mut stream = open(scene.fleet.proxies()[0]).await;
        stream.until(&addresses(count)).await;
    }
}

/// Without its folder a replica has promised nothing: it is another one, and
/// takes the place of the lost one with everybody's consent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_that_lost_its_folder_becomes_a_voter_again() {
    let mut scene = Scene::new(&["--snapshot-after=10", "--snapshot-keep=3"]);
    scene.revision(1).await;
    for count in 2..20 {
        scene.write(count);
        scene.revision(u64::from(count)).await;
    }
    let admins = scene.fleet.admins();
    let lost = leader(&admins).await;
    let old = status(admins[lost]).await.unwrap().replica;
    scene.fleet.kill(lost);
    fs::remove_dir_all(scene.fleet.data(lost)).unwrap();
    scene.fleet.restart(lost);
    eventually("three voters without the lost id", async || {
        let status = status(admins[lost]).await?;
        let voters: Vec<&String> = status
            .members
            .iter()
            .filter(|member| member.voter)
            .map(|member| &member.replica)
            .collect();
        let back =
            voters.len() == 3 && voters.contains(&&status.replica) && !voters.contains(&&old);
        if back {
            Ok(())
        } else {
            Err(format!("{voters:?}"))
        }
    })
    .await;
    // The group now stands on it: with another one away, it is needed for a majority.
    let leads = leader(&admins).await;
    let away = (0..3)
        .find(|place| *place != lost && *place != leads)
        .unwrap();
    scene.fleet.kill(away);
    scene.write(25);
    let mut stream = open(scene.fleet.proxies()[lost]).await;
    stream.until(&addresses(25)).await;
}

/// Who a replica is does not hang on where it is: pods come back under new addresses, and under
/// each other's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_addresses_may_change_at_once_and_two_may_be_exchanged() {
    let mut scene = Scene::new(&[]);
    let before = scene.revision(1).await;
    let ids = ids(&scene).await;
    (0..3).for_each(|place| scene.fleet.kill(place));
    scene.fleet.move_all();
    (0..3).for_each(|place| scene.fleet.restart(place));
    scene.write(2);
    let moved = scene.revision(before + 1).await;
    assert_eq!(self::ids(&scene).await, ids);

    // The third one still looks for each of them where the other one is now.
    [0, 1].into_iter().for_each(|place| scene.fleet.kill(place));
    scene.fleet.exchange(0, 1);
    [0, 1]
        .into_iter()
        .for_each(|place| scene.fleet.restart(place));
    scene.write(3);
    let exchanged = [0, 1].map(|place| scene.fleet.admins()[place]);
    agreed(&exchanged, moved + 1).await;
    scene.fleet.kill(2);
    scene.fleet.restart(2);
    scene.revision(moved + 1).await;
    assert_eq!(self::ids(&scene).await, ids);
    for proxy in scene.fleet.proxies() {
        let mut stream = open(proxy).await;
        stream.until(&addresses(3)).await;
    }
}

/// The persistent id of each replica.
async fn ids(scene: &Scene) -> Vec<String> {
    let mut ids = Vec::new();
    for admin in scene.fleet.admins() {
        ids.push(status(admin).await.unwrap().replica);
    }
    ids
}

/// A follower whose port refuses must not keep its leader busy. What is looked
/// at is processor time, which a busy machine does not add to.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_rests_while_a_follower_is_away() {
    let mut scene = Scene::new(&[]);
    scene.revision(1).await;
    let leads = leader(&scene.fleet.admins()).await;
    scene.fleet.kill((leads + 1) % 3);
    let before = scene.fleet.cpu_ticks(leads);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let used = scene.fleet.cpu_ticks(leads) - before;
    assert!(
        used < 80,
        "{used} hundredths of a second of processor time in two seconds"
    );
}
