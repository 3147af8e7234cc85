//! What the watches lost is found by lists beside them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod scene;

use lockstep_catalog::{Listed, SourceEvent};
use lockstep_model::{Cursor, Fact, FactKey, FactKind};
use lockstep_position::Term;
use lockstep_state::Command;
use scene::{HOUR, Scene, Seen, advance, node, put_nodes};
use std::{collections::BTreeMap, sync::Arc};
use tokio::time::sleep;

const TERM: Term = Term::from_u64(1);

/// Complete lists, with these nodes, and the nodes as of this cursor.
fn lists(nodes: &[&str], at: &str) -> Vec<Listed> {
    let fact = |name: &&str| {
        let key = FactKey::named(FactKind::Node, "", name);
        (key, Fact::Node(Some("zone-a".into())))
    };
    let list = |kind| Listed {
        kind,
        facts: match kind {
            FactKind::Node => nodes.iter().map(fact).collect(),
            _ => BTreeMap::new(),
        },
        unread: [].into(),
        cursor: Cursor(match kind {
            FactKind::Node => at.into(),
            _ => "1".into(),
        }),
    };
    FactKind::ALL.map(list).into()
}

/// Every watch is opened so often.
fn opened(times: usize) -> Vec<SourceEvent> {
    let round = FactKind::ALL.map(|kind| SourceEvent::Alive { kind });
    round
        .iter()
        .cloned()
        .cycle()
        .take(times * round.len())
        .collect()
}

/// A leader that knows the nodes `a` and `b`, as the audit asks for lists.
async fn audited(lists: Option<Vec<Listed>>) -> Scene {
    let mut scene = Scene::synced(TERM).await;
    scene.tell([node("a", 2), node("b", 3)]);
    scene
        .expect(Seen::Proposes(TERM, put_nodes(&["a", "b"], 3)))
        .await;
    *scene.lists.lock().unwrap() = lists;
    scene.expect_audit().await;
    scene
}

fn repairs(scene: &Scene) -> u64 {
    scene.metric("lockstep_source_repairs_total{kind=\"nodes\"}")
}

fn audits(scene: &Scene, result: &str) -> u64 {
    scene.metric(&format!(
        "lockstep_source_audits_total{{result=\"{result}\"}}"
    ))
}

#[tokio::test(start_paused = true)]
async fn what_the_watches_lost_is_repaired_once_and_counted() {
    // The watch told neither of the deletion of `a` nor of `c`.
    let mut scene = audited(Some(lists(&["b", "c"], "9"))).await;
    // Perhaps it is about to.
    scene.tell(opened(1));
    sleep(std::time::Duration::from_secs(30)).await;
    assert_eq!(repairs(&scene), 0);
    scene.tell(opened(1));
    let c = FactKey::named(FactKind::Node, "", "c");
    let a = FactKey::named(FactKind::Node, "", "a");
    let fact = Arc::new(Fact::Node(Some("zone-a".into())));
    let repair = vec![
        Command::PutNode("c".into(), "zone-a".into()),
        Command::RemoveNode("a".into()),
        Command::Forget(a),
        Command::Remember(c, fact),
    ];
    scene.expect(Seen::Proposes(TERM, repair)).await;
    scene.expect_nothing(HOUR).await;
    assert_eq!((repairs(&scene), audits(&scene, "complete")), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn what_the_watches_tell_a_little_later_is_no_repair() {
    let mut scene = audited(Some(lists(&["a", "b", "c"], "4"))).await;
    scene.tell([node("c", 4)]);
    scene
        .expect(Seen::Proposes(TERM, put_nodes(&["c"], 4)))
        .await;
    scene.tell(opened(2));
    scene.expect_nothing(HOUR).await;
    assert_eq!((repairs(&scene), audits(&scene, "complete")), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_list_that_is_older_than_what_is_known_repairs_nothing() {
    let mut scene = audited(Some(lists(&["a"], "2"))).await;
    scene.tell(opened(2));
    scene.expect_nothing(HOUR).await;
    assert_eq!((repairs(&scene), audits(&scene, "complete")), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_is_not_opened_again_is_not_judged() {
    let mut scene = audited(Some(lists(&["a"], "9"))).await;
    let others = opened(2).into_iter();
    scene.tell(others.filter(|event| event.proves() != Some(FactKind::Node)));
    scene.expect_nothing(HOUR).await;
    assert_eq!((repairs(&scene), audits(&scene, "complete")), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn an_audit_that_cannot_list_is_counted_and_the_next_one_comes() {
    let mut scene = audited(None).await;
    scene.expect_nothing(HOUR).await;
    assert_eq!(audits(&scene, "failed"), 1);
    *scene.lists.lock().unwrap() = Some(lists(&["a", "b", "c"], "9"));
    scene.expect_audit().await;
    // What was told meanwhile moved the cursor, and is proposed with the repair.
    scene.tell([scene::progress(9)]);
    scene.tell(opened(2));
    let Seen::Proposes(TERM, commands) = scene.next().await else {
        panic!("no repair");
    };
    assert_eq!(commands.last(), Some(&advance(9)));
    assert_eq!((repairs(&scene), audits(&scene, "complete")), (1, 1));
}
