//! The contract of the state machine, sentence by sentence.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod mesh;

use lockstep_model::{Cursor, FactKey, FactKind};
use lockstep_position::{Digest, HistoryId, LogId, Revision, Term};
use lockstep_state::{Batch, Changed, Command, Outcome, Part, State, codec};
use mesh::{external, ip, pod, profile, remove_everything, service, slice, some_commands};
use proptest::prelude::*;
use std::sync::Arc;

const TERM: Term = Term::from_u64(3);

fn log_id(index: u64) -> LogId {
    LogId { term: TERM, index }
}

fn apply_all(state: &mut State, commands: Vec<Command>) {
    let applied = state.apply(log_id(1), Batch::whole(TERM, commands));
    assert_eq!(applied.outcome, Outcome::Done);
}

#[test]
fn an_equal_value_makes_no_revision() {
    let mut state = State::default();
    apply_all(&mut state, vec![service("web", 80)]);
    let before = *state.position();
    let applied = state.apply(log_id(2), Batch::whole(TERM, vec![service("web", 80)]));
    assert_eq!(applied.changed, Changed::default());
    assert_eq!(applied.revision, before.revision);
    assert_eq!(state.position().path_digest, before.path_digest);
    assert_eq!(state.position().applied, Some(log_id(2)));
}

#[test]
fn what_the_next_leader_must_know_makes_no_revision() {
    let mut state = State::default();
    let key = FactKey::named(FactKind::Node, "", "node-a");
    let fact = Arc::new(lockstep_model::Fact::Node(Some("zone-a".into())));
    let cursor = Cursor("42".into());
    apply_all(
        &mut state,
        vec![
            Command::Remember(key.clone(), fact.clone()),
            Command::Advance(FactKind::Node, cursor.clone()),
        ],
    );
    assert_eq!(state.position().revision, Revision::ZERO);
    assert_eq!(state.memory().facts().get(&key), Some(&fact));
    assert_eq!(state.memory().cursors().get(&FactKind::Node), Some(&cursor));
    apply_all(&mut state, vec![Command::Forget(key)]);
    assert!(state.memory().facts().is_empty());
}

#[test]
fn the_history_of_the_source_may_begin_anew_and_that_is_in_the_log() {
    let mut state = State::default();
    let cursor = |at: &str| Cursor(at.into());
    apply_all(
        &mut state,
        vec![Command::Advance(FactKind::Pod, cursor("42"))],
    );
    let opened = Command::OpenIncarnation(FactKind::Pod, cursor("7"));
    let batch = Batch::whole(TERM, vec![opened]);
    let bytes = codec::encode_batch(&batch);
    assert_eq!(codec::decode_batch(&bytes), Ok(batch.clone()));
    state.apply(log_id(2), batch);
    assert_eq!(
        state.memory().cursors().get(&FactKind::Pod),
        Some(&cursor("7"))
    );
    assert_eq!(state.position().revision, Revision::ZERO);
}

#[test]
fn a_batch_of_a_deposed_leader_is_refused() {
    let mut state = State::default();
    let old = Term::from_u64(2);
    let applied = state.apply(log_id(5), Batch::whole(old, vec![service("web", 80)]));
    assert_eq!(applied.outcome, Outcome::StaleTerm);
    assert_eq!(applied.changed, Changed::default());
    assert_eq!(state.content().services().count(), 0);
    assert_eq!(state.position().applied, Some(log_id(5)));
}

#[test]
fn the_history_begins_once() {
    let mut state = State::default();
    let first = HistoryId::from_u128(7);
    apply_all(&mut state, vec![Command::OpenHistory(first)]);
    apply_all(
        &mut state,
        vec![Command::OpenHistory(HistoryId::from_u128(8))],
    );
    assert_eq!(state.position().history, first);
}

#[test]
fn parts_become_visible_together_as_one_revision() {
    let mut state = State::default();
    let part = |number| Part { number, of: 2 };
    let first = Batch {
        term: TERM,
        part: part(0),
        commands: vec![service("web", 80)],
    };
    let last = Batch {
        term: TERM,
        part: part(1),
        commands: vec![slice("web-1", "web", &[1])],
    };
    assert_eq!(state.apply(log_id(1), first).outcome, Outcome::Staged);
    assert_eq!(state.content().services().count(), 0);
    assert_eq!(state.staged_term(), Some(TERM));
    let applied = state.apply(log_id(2), last);
    assert_eq!(applied.revision, Revision::from_u64(1));
    assert_eq!(state.content().services().count(), 1);
    assert_eq!(state.content().slices().count(), 1);
    assert_eq!(state.staged_term(), None);
}

#[test]
fn parts_that_a_deposed_leader_left_are_dropped() {
    let mut state = State::default();
    let part = |number| Part { number, of: 3 };
    let batch = |number| Batch {
        term: TERM,
        part: part(number),
        commands: vec![service("a", 1)],
    };
    state.apply(log_id(1), batch(0));
    let later = Term::from_u64(4);
    let next = LogId {
        term: later,
        index: 2,
    };
    let rest = Batch {
        term: later,
        ..batch(1)
    };
    assert_eq!(state.apply(next, rest).outcome, Outcome::OutOfOrder);
    assert_eq!(state.staged_term(), None);
    let whole = Batch::whole(later, vec![service("b", 1)]);
    assert_eq!(state.apply(next, whole).outcome, Outcome::Done);
    let names: Vec<_> = state
        .content()
        .services()
        .map(|(id, _)| id.name.to_string())
        .collect();
    assert_eq!(names, ["b"]);
}

#[test]
fn a_slice_that_moves_to_another_service_changes_both() {
    let mut state = State::default();
    apply_all(&mut state, vec![slice("s", "old", &[1])]);
    let batch = Batch::whole(TERM, vec![slice("s", "new", &[1])]);
    let services = state.apply(log_id(2), batch).changed.services;
    let names: Vec<_> = services.iter().map(|id| id.name.to_string()).collect();
    assert_eq!(names, ["new", "old"]);
    let left = |name| state.content().slices_of(&mesh::service_id(name)).count();
    assert_eq!((left("old"), left("new")), (0, 1));
}

#[test]
fn an_address_finds_its_pods_and_only_them() {
    let mut state = State::default();
    apply_all(&mut state, vec![pod("a", 1), pod("b", 1), pod("c", 2)]);
    let at = |state: &State, last| state.content().pods_at(mesh::ip(last)).count();
    assert_eq!((at(&state, 1), at(&state, 2), at(&state, 3)), (2, 1, 0));
    apply_all(
        &mut state,
        vec![pod("a", 3), Command::RemovePod(mesh::pod_id("b"))],
    );
    assert_eq!((at(&state, 1), at(&state, 2), at(&state, 3)), (0, 1, 1));
}

#[test]
fn an_address_and_a_port_find_their_external_workloads_and_only_them() {
    let mut state = State::default();
    let at = |state: &State, last, port| -> Vec<String> {
        let found = state.content().external_workloads_at(ip(last), port);
        found.map(|(id, _)| id.name.to_string()).collect()
    };
    let both = vec![
        external("b", &[1], &[80, 81]),
        external("a", &[1, 2], &[81]),
    ];
    apply_all(&mut state, both);
    assert_eq!(at(&state, 1, 80), ["b"]);
    assert_eq!(at(&state, 1, 81), ["a", "b"]);
    assert_eq!(at(&state, 2, 81), ["a"]);
    assert_eq!(at(&state, 2, 80), [""; 0]);
    let moved = external("b", &[3], &[80]);
    let remove = Command::RemoveExternalWorkload(mesh::external_id("a"));
    apply_all(&mut state, vec![moved, remove]);
    assert_eq!(at(&state, 3, 80), ["b"]);
    for (last, port) in [(1, 80), (1, 81), (2, 81), (3, 81)] {
        assert_eq!(at(&state, last, port), [""; 0]);
    }
}

#[test]
fn an_external_workload_that_moves_changes_the_addresses_before_and_after() {
    let mut state = State::default();
    let mut change = |index, command| {
        let batch = Batch::whole(TERM, vec![command]);
        state.apply(log_id(index), batch)
    };
    let at = |lasts: &[u8]| Changed {
        addresses: lasts.iter().copied().map(ip).collect(),
        ..Changed::default()
    };
    let id = || mesh::external_id("vm");
    let first = change(1, external("vm", &[1], &[80]));
    assert_eq!(first.changed, at(&[1]));
    let moved = change(2, external("vm", &[2], &[80]));
    assert_eq!(moved.changed, at(&[1, 2]));
    let again = change(3, external("vm", &[2], &[80]));
    assert_eq!((again.changed, again.revision), (at(&[]), moved.revision));
    let removed = change(4, Command::RemoveExternalWorkload(id()));
    assert_eq!(removed.changed, at(&[2]));
    let absent = change(5, Command::RemoveExternalWorkload(id()));
    assert_eq!(
        (absent.changed, absent.revision),
        (at(&[]), removed.revision)
    );
}

#[test]
fn a_service_profile_changes_itself_and_only_with_its_value() {
    let mut state = State::default();
    let mut changes = |index, command| {
        let batch = Batch::whole(TERM, vec![command]);
        let changed = state.apply(log_id(index), batch).changed;
        let itself = Changed {
            service_profiles: [mesh::profile_id("web")].into(),
            ..Changed::default()
        };
        assert!(changed == itself || changed == Changed::default());
        changed == itself
    };
    let remove = || Command::RemoveServiceProfile(mesh::profile_id("web"));
    assert!(changes(1, profile("web", true)));
    assert!(!changes(2, profile("web", true)));
    assert!(changes(3, profile("web", false)));
    assert!(changes(4, remove()));
    assert!(!changes(5, remove()));
}

#[test]
fn nothing_left_has_the_digest_of_nothing() {
    let mut state = State::default();
    // Settings stay for good once they are there.
    apply_all(&mut state, some_commands().split_off(1));
    assert_ne!(state.position().state_digest, Digest::EMPTY);
    let removals = remove_everything(&state);
    apply_all(&mut state, removals);
    assert_eq!(state.position().state_digest, Digest::EMPTY);
}

proptest! {
    /// Agreement: any order of commands that ends in the same content ends in
    /// the same digest, and an image read back continues the same history.
    #[test]
    fn an_image_read_back_goes_on_as_the_state_would(
        first in prop::collection::vec(mesh::any_command(), 0..40),
        second in prop::collection::vec(mesh::any_command(), 0..40),
    ) {
        let mut live = State::default();
        live.apply(log_id(1), Batch::whole(TERM, first));
        let staged = Batch { term: TERM, part: Part { number: 0, of: 2 }, commands: second.clone() };
        live.apply(log_id(2), staged);
        let mut bytes = Vec::new();
        live.image().write(&mut bytes).unwrap();
        let mut back = State::from_image(&mut bytes.as_slice()).unwrap();
        prop_assert_eq!(back.position(), live.position());
        let last = Batch { term: TERM, part: Part { number: 1, of: 2 }, commands: second };
        prop_assert_eq!(back.apply(log_id(3), last.clone()), live.apply(log_id(3), last));
        prop_assert_eq!(back.position(), live.position());
        prop_assert_eq!(mesh::dump(&back), mesh::dump(&live));
    }

    /// The incremental digest equals the one of the same content built afresh.
    #[test]
    fn the_digest_depends_on_the_content_alone(
        commands in prop::collection::vec(mesh::any_command(), 0..60),
    ) {
        let mut state = State::default();
        for command in commands {
            apply_all(&mut state, vec![command]);
        }
        let mut afresh = State::default();
        let mut rebuild = mesh::dump(&state);
        rebuild.reverse();
        apply_all(&mut afresh, rebuild);
        prop_assert_eq!(afresh.content().digest(), state.content().digest());
    }

    #[test]
    fn a_batch_reads_back(commands in prop::collection::vec(mesh::any_command(), 0..20)) {
        let batch = Batch::whole(TERM, commands);
        prop_assert_eq!(codec::decode_batch(&codec::encode_batch(&batch)), Ok(batch));
    }
}
