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
use std::{collections::BTreeSet, fs, path::Path, sync::mpsc::channel};

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
    let next = "quarantine.json; started again, it comes back empty and takes everything from its \
                group, under a new id";
    assert!(why.ends_with(next), "{why}");

    let kept = evidence(&seats[0]);
    assert_eq!(kept["dispute"]["verdict"], "outvoted");
    assert_eq!(kept["dispute"]["revision"], 3);
    let others = kept["dispute"]["others"].as_array().unwrap();
    let names = others.iter().map(|other| other["name"].as_str().unwrap());
    let names: BTreeSet<&str> = names.collect();
    assert_eq!(names, BTreeSet::from(["replica-1", "replica-2"]));
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

    // Started again, it is another one, and has everything from the others.
    let back = seats[0].start();
    assert_ne!(back.replica.id().to_string(), kept["replica"]);
    assert_ne!(back.replica.freshness().state, FreshnessState::Quarantined);
    let honest = hosts[leads].replica.position();
    eventually("a voter that agrees", async || {
        let members = back.replica.raft().members;
        let id = back.replica.id();
        let votes = members.iter().any(|it| it.id == id && it.voter);
        let agrees = back.replica.position().state_digest == honest.state_digest;
        (votes && members.len() == 3 && agrees).then_some(())
    })
    .await;
    assert!(seats[0].data.join("set-aside/quarantine.json").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_majority_the_leader_is_believed_until_a_third_one_decides() {
    let folder = tempfile::tempdir().unwrap();
    let seats = stopped_group(folder.path()).await;
    falsify(&seats[0]);
    let mut hosts: Vec<Host> = seats[..2].iter().map(Seat::start).collect();
    let doubted = eventually("one of them in doubt", async || {
        let is_doubted =
            |host: &Host| host.replica.freshness().state == FreshnessState::Quarantined;
        hosts.iter().position(is_doubted)
    })
    .await;
    assert_answers_nothing(&hosts[doubted]);
    let kept = eventually("evidence", async || {
        let file = seats[doubted].data.join("quarantine.json");
        file.exists().then(|| evidence(&seats[doubted]))
    })
    .await;
    assert_eq!(kept["dispute"]["verdict"], "undecided");
    let other = 1 - doubted;
    assert!(!seats[other].data.join("quarantine.json").exists());
    assert!(!hosts[doubted].has_ended() && !hosts[other].has_ended());

    // Started again while nobody knows, it still answers nothing.
    hosts.remove(doubted).stop().await;
    hosts.insert(doubted, seats[doubted].start());
    assert_answers_nothing(&hosts[doubted]);

    // Whoever of the two was in doubt, the liar is the one to go.
    hosts.push(seats[2].start());
    ended(&hosts[0]).await;
    assert_eq!(evidence(&seats[0])["dispute"]["verdict"], "outvoted");
    eventually("two that are not in doubt", async || {
        let in_doubt = |host: &Host| host.replica.freshness().state == FreshnessState::Quarantined;
        (!hosts[1..].iter().any(in_doubt)).then_some(())
    })
    .await;
    assert!(!seats[1].data.join("quarantine.json").exists());
}
