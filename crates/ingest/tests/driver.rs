//! What the ingest asks of the source and of the log, and when.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod scene;

use lockstep_catalog::{Resume, SourceEvent};
use lockstep_model::{FactKind, Settings};
use lockstep_position::Term;
use lockstep_state::{Command, Propose};
use scene::{Conduct, HOUR, Scene, Seen, advance, node, progress, put_nodes, resume};
use std::{sync::Arc, time::Duration};
use tokio::time::{Instant, timeout};

const FIRST: Term = Term::from_u64(1);
const SECOND: Term = Term::from_u64(2);
const THIRD: Term = Term::from_u64(3);

/// What a session that begins in this term shows, once the log answers.
async fn expect_session(scene: &mut Scene, term: Term, from: Resume) {
    scene.expect(Seen::Settles(term)).await;
    scene.expect(Seen::Follows(from)).await;
}

/// Tells of node `a`, which is proposed and not answered.
async fn expect_node_a(scene: &mut Scene) {
    scene.tell([node("a", 2)]);
    let seen = Seen::Proposes(FIRST, put_nodes(&["a"], 2));
    scene.expect(seen).await;
}

#[tokio::test(start_paused = true)]
async fn nothing_is_asked_of_the_source_before_this_replica_leads() {
    let mut scene = Scene::open();
    scene.expect_nothing(HOUR).await;
    scene.log.set(Conduct::Hangs);
    scene.lead.send_replace(Some(FIRST));
    scene.expect(Seen::Settles(FIRST)).await;
    // The leader does not know yet what the ones before it committed.
    scene.expect_nothing(HOUR).await;
    scene.log.set(Conduct::Commits);
    scene.expect(Seen::Follows(Resume::new())).await;
}

#[tokio::test(start_paused = true)]
async fn losing_the_lead_drops_the_session_at_once() {
    let mut scene = Scene::synced(FIRST).await;
    let lost_at = Instant::now();
    scene.lead.send_replace(None);
    scene.expect(Seen::Leaves).await;
    assert_eq!(Instant::now(), lost_at);
    scene.expect_nothing(HOUR).await;
}

#[tokio::test(start_paused = true)]
async fn losing_the_lead_drops_the_session_at_once_in_the_middle_of_a_proposal() {
    let mut scene = Scene::synced(FIRST).await;
    scene.log.set(Conduct::Hangs);
    expect_node_a(&mut scene).await;
    let lost_at = Instant::now();
    scene.lead.send_replace(None);
    scene.expect(Seen::Leaves).await;
    assert_eq!(Instant::now(), lost_at);
    scene.log.set(Conduct::Commits);
    scene.expect_nothing(HOUR).await;
}

#[tokio::test(start_paused = true)]
async fn a_new_term_without_a_pause_is_a_new_session() {
    let mut scene = Scene::synced(FIRST).await;
    scene.log.set(Conduct::Hangs);
    expect_node_a(&mut scene).await;
    scene.lead.send_replace(Some(SECOND));
    scene.expect(Seen::Leaves).await;
    scene.log.set(Conduct::Commits);
    expect_session(&mut scene, SECOND, resume(1)).await;
    scene.tell([node("a", 2)]);
    let again = Seen::Proposes(SECOND, put_nodes(&["a"], 2));
    scene.expect(again).await;
}

#[tokio::test(start_paused = true)]
async fn becoming_leader_again_follows_from_the_replicated_cursors() {
    let mut scene = Scene::synced(FIRST).await;
    scene.lead.send_replace(None);
    scene.expect(Seen::Leaves).await;
    scene.log.append(SECOND, put_nodes(&["a", "b"], 5));
    scene.lead.send_replace(Some(THIRD));
    expect_session(&mut scene, THIRD, resume(5)).await;
    let replicated = scene.log.applied().memory().cursors().clone();
    assert_eq!(replicated.into_iter().collect::<Resume>(), resume(5));
    // It knows what the leader between knew.
    scene.tell([node("a", 6), node("c", 7)]);
    let news = Seen::Proposes(THIRD, put_nodes(&["c"], 7));
    scene.expect(news).await;
}

#[tokio::test(start_paused = true)]
async fn a_leader_proposes_its_settings_though_the_source_is_silent() {
    let mut scene = Scene::synced(FIRST).await;
    scene.lead.send_replace(None);
    scene.expect(Seen::Leaves).await;
    let others = Settings {
        ipv6: !Settings::default().ipv6,
        ..Settings::default()
    };
    let put = |settings| vec![Command::PutSettings(Arc::new(settings))];
    scene.log.append(SECOND, put(others));
    scene.lead.send_replace(Some(THIRD));
    expect_session(&mut scene, THIRD, resume(1)).await;
    let own = Seen::Proposes(THIRD, put(Settings::default()));
    scene.expect(own).await;
    scene.expect_nothing(HOUR).await;
}

#[tokio::test(start_paused = true)]
async fn an_unknown_outcome_ends_the_session_and_the_next_one_knows_it() {
    for commits_later in [false, true] {
        let mut scene = Scene::synced(FIRST).await;
        scene.log.set(Conduct::Loses { commits_later });
        expect_node_a(&mut scene).await;
        scene.expect(Seen::Leaves).await;
        assert_eq!(scene.metric("lockstep_ingest_failures_total"), 1);
        scene.log.set(Conduct::Commits);
        let at = if commits_later { 2 } else { 1 };
        expect_session(&mut scene, FIRST, resume(at)).await;
        scene.tell([node("a", 2), node("b", 3)]);
        let missing: &[&str] = if commits_later { &["b"] } else { &["a", "b"] };
        let rest = Seen::Proposes(FIRST, put_nodes(missing, 3));
        scene.expect(rest).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_gets_its_quorum_back_in_the_same_term_starts_again_by_itself() {
    let mut scene = Scene::synced(FIRST).await;
    scene.log.set(Conduct::Hangs);
    expect_node_a(&mut scene).await;
    scene.log.set(Conduct::LacksQuorum);
    scene.expect(Seen::Leaves).await;
    let mut tried_at = Instant::now();
    for at_least in [20, 40, 80].map(Duration::from_millis) {
        scene.expect(Seen::Settles(FIRST)).await;
        assert!(tried_at.elapsed() >= at_least, "no pause before a try");
        tried_at = Instant::now();
    }
    scene.log.set(Conduct::Commits);
    expect_session(&mut scene, FIRST, resume(1)).await;
    expect_node_a(&mut scene).await;
    scene.expect_nothing(HOUR).await;
    assert!(scene.log.applied().content().zone("a").is_some());
}

#[tokio::test(start_paused = true)]
async fn the_first_failure_after_a_success_waits_no_longer_than_the_first_ever() {
    let mut scene = Scene::synced(FIRST).await;
    for at in 2..10 {
        let name = format!("node-{at}");
        let proposed = || Seen::Proposes(FIRST, put_nodes(&[&name], at));
        let commits_later = false;
        scene.log.set(Conduct::Loses { commits_later });
        scene.tell([node(&name, at)]);
        scene.expect(proposed()).await;
        scene.expect(Seen::Leaves).await;
        let failed_at = Instant::now();
        scene.log.set(Conduct::Commits);
        expect_session(&mut scene, FIRST, resume(at - 1)).await;
        assert!(failed_at.elapsed() < Duration::from_millis(40));
        scene.tell([node(&name, at)]);
        scene.expect(proposed()).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_arrives_while_a_proposal_is_in_flight_goes_into_one_next_batch() {
    let mut scene = Scene::synced(FIRST).await;
    scene.log.set(Conduct::Hangs);
    expect_node_a(&mut scene).await;
    scene.tell([node("b", 3), node("c", 4)]);
    // One proposal at a time.
    scene.expect_nothing(HOUR).await;
    scene.tell([node("d", 5)]);
    scene.log.set(Conduct::Commits);
    let rest = Seen::Proposes(FIRST, put_nodes(&["b", "c", "d"], 5));
    scene.expect(rest).await;
    scene.expect_nothing(HOUR).await;
    assert_eq!(scene.metric("lockstep_ingest_batches_total"), 3);
}

#[tokio::test(start_paused = true)]
async fn cursors_alone_are_proposed_after_ten_seconds_and_only_if_they_moved() {
    let mut scene = Scene::synced(FIRST).await;
    let begun_at = Instant::now();
    scene.tell([progress(2)]);
    scene.expect_nothing(Duration::from_secs(9)).await;
    scene.tell([progress(3)]);
    let checkpoint = Seen::Proposes(FIRST, vec![advance(3)]);
    scene.expect(checkpoint).await;
    assert_eq!(begun_at.elapsed().as_secs(), 10);
    scene.expect_nothing(HOUR).await;
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_stops_ends_the_ingest_until_the_lead_changes() {
    let mut scene = Scene::synced(FIRST).await;
    scene.log.set(Conduct::Stops);
    expect_node_a(&mut scene).await;
    scene.expect(Seen::Leaves).await;
    scene.log.set(Conduct::Commits);
    scene.expect_nothing(HOUR).await;
    assert_eq!(scene.metric("lockstep_ingest_failures_total"), 0);
    scene.lead.send_replace(Some(SECOND));
    expect_session(&mut scene, SECOND, resume(1)).await;
}

#[tokio::test(start_paused = true)]
async fn the_ingest_ends_with_the_replica() {
    for stopped in [false, true] {
        let mut scene = Scene::synced(FIRST).await;
        if stopped {
            scene.log.set(Conduct::Stops);
            expect_node_a(&mut scene).await;
        }
        drop(scene.lead);
        let ended = timeout(HOUR, scene.ingest).await;
        ended.expect("the ingest goes on").unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_the_state_refuses_ends_the_session() {
    for conduct in [Conduct::Overtaken, Conduct::LosesAPart] {
        let mut scene = Scene::synced(FIRST).await;
        scene.log.set(conduct);
        expect_node_a(&mut scene).await;
        scene.expect(Seen::Leaves).await;
        assert!(scene.log.applied().content().zone("a").is_none());
        assert_eq!(scene.metric("lockstep_ingest_batches_total"), 1);
        scene.log.set(Conduct::Commits);
        expect_session(&mut scene, FIRST, resume(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_replica_says_that_it_follows_while_a_session_runs_and_only_then() {
    let mut scene = Scene::open();
    assert!(!scene.follows());
    scene.log.set(Conduct::Hangs);
    scene.lead.send_replace(Some(FIRST));
    scene.expect(Seen::Settles(FIRST)).await;
    assert!(!scene.follows());
    scene.log.set(Conduct::LacksQuorum);
    scene.expect(Seen::Settles(FIRST)).await;
    assert!(!scene.follows());
    scene.log.set(Conduct::Commits);
    expect_session(&mut scene, FIRST, Resume::new()).await;
    assert!(scene.follows());
    scene.expect_nothing(HOUR).await;
    assert!(scene.follows());
    scene.lead.send_replace(None);
    scene.expect(Seen::Leaves).await;
    assert!(!scene.follows());
}

#[tokio::test(start_paused = true)]
async fn a_replica_follows_during_a_proposal_and_not_after_a_failed_one() {
    for conduct in [
        Conduct::LacksQuorum,
        Conduct::Loses {
            commits_later: true,
        },
        Conduct::Stops,
    ] {
        let mut scene = Scene::synced(FIRST).await;
        scene.log.set(Conduct::Hangs);
        expect_node_a(&mut scene).await;
        assert!(scene.follows());
        scene.log.set(conduct);
        scene.expect(Seen::Leaves).await;
        assert!(!scene.follows());
    }
}

#[tokio::test(start_paused = true)]
async fn each_proof_of_the_source_is_passed_on_and_none_of_them_reaches_the_log() {
    let mut scene = Scene::synced(FIRST).await;
    assert_eq!(scene.proved(), FactKind::ALL);
    let alive = |kind| SourceEvent::Alive { kind };
    let lost = SourceEvent::Lost {
        kind: FactKind::Node,
    };
    scene.tell([alive(FactKind::Pod), lost, alive(FactKind::Service)]);
    scene.expect_nothing(HOUR).await;
    assert_eq!(scene.proved(), [FactKind::Pod, FactKind::Service]);
}
