//! How old the source is, as every replica hears it from the leader.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod host;

use host::{Host, eventually, group, leader};
use lockstep_model::FactKind;
use std::{collections::BTreeMap, time::Duration};

type Ages = BTreeMap<FactKind, Duration>;

/// The ages of all replicas, once each knows all kinds.
async fn known(hosts: &[Host]) -> Vec<Ages> {
    eventually("ages on all replicas", async || {
        let ages: Vec<Ages> = hosts
            .iter()
            .map(|host| host.replica.source_ages())
            .collect();
        let all_know = ages.iter().all(|ages| ages.len() == FactKind::ALL.len());
        all_know.then_some(ages)
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_replica_hears_which_watch_has_not_proved_itself_for_how_long() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = group(folder.path());
    let (leads, _) = leader(&hosts).await;
    let unknown = hosts.iter().map(|host| host.replica.source_ages());
    assert!(unknown.into_iter().all(|ages| ages.is_empty()));

    let proofs: Vec<_> = hosts
        .iter()
        .map(|host| host.replica.source_proofs())
        .collect();
    known(&hosts).await;
    eventually("a second without a proof", async || {
        let ages = known(&hosts).await;
        let old = |ages: &Ages| ages[&FactKind::Pod] > Duration::from_secs(1);
        ages.iter().all(old).then_some(())
    })
    .await;
    // A proof of a replica that does not lead proves nothing.
    proofs[(leads + 1) % 3].proved(FactKind::Node);
    eventually("the proof of one kind on all replicas", async || {
        proofs[leads].proved(FactKind::Pod);
        let ages = known(&hosts).await;
        let is_younger = |ages: &Ages| ages[&FactKind::Pod] < ages[&FactKind::Node];
        ages.iter().all(is_younger).then_some(())
    })
    .await;
    for host in &hosts {
        // The slowest kind decides.
        let second = Some(Duration::from_secs(1));
        assert!(host.replica.freshness().source_age > second);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_leader_begins_anew() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = group(folder.path());
    let (first, _) = leader(&hosts).await;
    for host in &hosts {
        let _ = host.replica.source_proofs();
    }
    let grown = eventually("two seconds without a proof", async || {
        let ages = known(&hosts).await;
        let ages = ages[(first + 1) % 3][&FactKind::Pod];
        (ages > Duration::from_secs(2)).then_some(ages)
    })
    .await;
    let next = (first + 1) % 3;
    let id = hosts[next].replica.id();
    eventually("another leader", async || {
        // Refused once it is done.
        let node = hosts[first].replica.node();
        let _ = node.hand_over(id, Duration::from_secs(1)).await;
        (leader(&hosts).await.0 == next).then_some(())
    })
    .await;
    eventually("ages since the new leader began", async || {
        let ages = known(&hosts).await;
        let is_new = |ages: &Ages| ages[&FactKind::Pod] < grown;
        ages.iter().all(is_new).then_some(())
    })
    .await;
}
