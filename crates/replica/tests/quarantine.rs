//! Replicas that hold something else than their group: who has to go, and what they leave behind.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod host;

use host::{CLUSTER, Host, Seat, eventually, leader, seats};
use lockstep_position::HistoryId;
use lockstep_replica::FreshnessState;
use lockstep_resolution::{Admission, Ending, View};
use lockstep_state::{Command, Propose, codec};
use lockstep_storage::{DataFolder, Done, OpenAs, Record, StorageError};
use serde_json::Value;
use std::{fs, path::Path, sync::mpsc::channel, time::Duration};

/// Three replicas that have committed three revisions, and are stopped.
async fn stopped_group(folder: &Path) -> Vec<Seat> {
    let seats = seats(folder);
    let hosts: Vec<Host> = seats.iter().map(Seat::start).collect();
    let (leads, term) = leader(&hosts).await;
    let proposer = hosts[leads].replica.proposer();
    let history = Command::OpenHistory(HistoryId::from_u128(5));
    proposer.propose(term, vec![history]).await.unwrap();
    for name in ["node-a", "node-b", "node-c"] {
        let command = Command::PutNode(name.into(), "zone-a".into());
        proposer.propose(term, vec![command]).await.unwrap();
    }
    let revision = hosts[leads].replica.position().revision;
    eventually("one revision on all", async || {
        let is_there = |host: &Host| host.replica.position().revision == revision;
        hosts.iter().all(is_there).then_some(())
    })
    .await;
    for host in hosts {
        host.stop().await;
    }
    seats
}

/// Replaces the last change in the log of a stopped replica by another one, as
/// a disk would that lies well enough to pass every checksum.
fn falsify(seat: &Seat) {
    let who = OpenAs {
        cluster: CLUSTER,
        name: &seat.name,
    };
    let folder = DataFolder::open(&seat.data, who).unwrap();
    let log = folder.log();
    let records = log.read(0..u64::MAX, usize::MAX).unwrap();
    let is_change = |record: &Record| codec::decode_batch(&record.payload).is_ok();
    let at = records.iter().rposition(is_change).unwrap();
    let mut changed = records[at..].to_vec();
    let mut batch = codec::decode_batch(&changed[0].payload).unwrap();
    let lie = Command::PutNode("node-z".into(), "zone-z".into());
    batch.commands.push(lie);
    changed[0].payload = codec::encode_batch(&batch).into();
    let before = records[at - 1].log_id;
    wait(|done| log.truncate_after(Some(before), done));
    wait(|done| log.append(changed, done));
}

fn wait(order: impl FnOnce(Done) -> Result<(), StorageError>) {
    let (sender, receiver) = channel();
    order(Box::new(move |result| sender.send(result).unwrap())).unwrap();
    receiver.recv().unwrap().unwrap();
}

fn evidence(seat: &Seat) -> Value {
    let text = fs::read(seat.data.join("quarantine.json")).unwrap();
    serde_json::from_slice(&text).unwrap()
}

async fn ended(host: &Host) {
    eventually("an end", async || host.has_ended().then_some(())).await;
}

/// Nothing of it is served to anybody any more.
fn assert_answers_nothing(host: &Host) {
    let state = FreshnessState::Quarantined;
    assert_eq!(host.replica.freshness().state, state);
    let view = host.replica.view();
    assert_eq!(view.claim().admission, Admission::Closed(state.meaning()));
    let ending = futures::FutureExt::now_or_never(view.ending());
    assert_eq!(ending, Some(Ending::AtOnce(state.meaning())));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_outvoted_goes_and_leaves_the_evidence_even_if_it_leads() {
    let folder = tempfile::tempdir().unwrap();
    let mut seats = stopped_group(folder.path()).await;
    falsify(&seats[0]);
    // So that most likely the liar leads. Which of the two it does, it is the one to go.
    for seat in &mut seats[1..] {
        let timing = &mut seat.timing;
        timing.election_min = 10 * timing.election_min;
        timing.election_max = 10 * timing.election_max;
    }
    let mut hosts: Vec<Host> = seats.iter().map(Seat::start).collect();
    ended(&hosts[0]).await;
    assert_answers_nothing(&hosts[0]);
    let liar = hosts.remove(0);
    let why = liar.end().unwrap_err().to_string();
    assert!(
        why.starts_with("agreement is violated: at r3 of history ")
            && why.contains("a majority agrees with each other and not with this replica"),
        "{why}"
    );
    assert!(why.ends_with("quarantine.json"), "{why}");

    let kept = evidence(&seats[0]);
    assert_eq!(kept["dispute"]["verdict"], "outvoted");
    assert_eq!(kept["dispute"]["revision"], 3);
    let others = kept["dispute"]["others"].as_array().unwrap();
    let names: Vec<&Value> = others.iter().map(|other| &other["name"]).collect();
    assert_eq!(names, ["replica-1", "replica-2"]);
    assert!(others.iter().all(|other| other["contradicts"] == true));
    let own = &kept["dispute"]["own"]["position"]["state_digest"];
    assert_ne!(*own, others[0]["position"]["state_digest"]);
    let entries = kept["entries"].as_array().unwrap();
    let says = |what: &str| {
        entries
            .iter()
            .any(|it| it["what"].as_str().unwrap().contains(what))
    };
    assert!(says("node-c") && says("node-z"), "{entries:?}");

    // The honest ones go on.
    let (leads, term) = leader(&hosts).await;
    let command = Command::PutNode("node-d".into(), "zone-a".into());
    let proposer = hosts[leads].replica.proposer();
    proposer.propose(term, vec![command]).await.unwrap();
    assert!(hosts.iter().all(|host| !host.has_ended()));
    for seat in &seats[1..] {
        assert!(!seat.data.join("quarantine.json").exists());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_majority_the_leader_is_believed() {
    let folder = tempfile::tempdir().unwrap();
    let seats = stopped_group(folder.path()).await;
    falsify(&seats[0]);
    let hosts: Vec<Host> = seats[..2].iter().map(Seat::start).collect();
    let goes = eventually("one of them to end", async || {
        hosts.iter().position(Host::has_ended)
    })
    .await;
    assert_answers_nothing(&hosts[goes]);
    let kept = evidence(&seats[goes]);
    assert_eq!(kept["dispute"]["verdict"], "undecided");
    // Nobody knows which of them is wrong: the other one has nothing to hide.
    assert!(!hosts[1 - goes].has_ended());
    assert!(!seats[1 - goes].data.join("quarantine.json").exists());
    tokio::time::timeout(
        Duration::from_secs(60),
        hosts.into_iter().nth(1 - goes).unwrap().stop(),
    )
    .await
    .unwrap();
}
