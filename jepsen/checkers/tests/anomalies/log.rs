//! C1, C7 and C8: digests, the log, and what is left at the end.

use lockstep_jepsen_checkers::{Guarantee as G, *};
use lockstep_jepsen_model::Change;
use std::collections::BTreeSet;

use crate::scene::{
    HISTORY, N1, N2, N3, Scene, batch, effect, fault, ns, rev, slice_change, violation,
};

/// Edits the entry at one place of the log.
fn edit_entry(scene: &mut Scene, index: u64, edit: impl Fn(&mut Entry)) {
    scene.edit(|event| match &mut event.what {
        What::Seen(Seen::Entry(entry)) if entry.index == index => {
            edit(entry);
            true
        }
        _ => false,
    });
}

/// Edits every final read of one replica.
fn edit_final(scene: &mut Scene, replica: Replica, edit: impl Fn(&mut Final)) {
    scene.edit(|event| match &mut event.what {
        What::Seen(Seen::Final(last)) if last.replica == replica => {
            edit(last);
            true
        }
        _ => false,
    });
}

#[test]
fn two_contents_for_one_revision_are_found() {
    let mut scene = Scene::new();
    scene.edit(|event| match &mut event.what {
        What::Seen(Seen::Digest(observed)) if observed.replica == N2 && event.at == ns(21.0) => {
            observed.sigma = Digest(666);
            true
        }
        _ => false,
    });
    let what = format!(
        "r2 has two digests of its content: {} and {}",
        Digest(2),
        Digest(666)
    );
    assert_eq!(
        scene.found(CheckerId::Digest),
        [violation(
            G::Agreement,
            &what,
            &["digest@21.000", "digest@21.000"]
        )]
    );
}

#[test]
fn two_paths_to_one_revision_and_two_entries_at_one_place_are_found() {
    let mut scene = Scene::new();
    edit_final(&mut scene, N3, |last| last.chi = Digest(666));
    let what = format!(
        "r4 has two digests of its path: {} and {}",
        Digest(104),
        Digest(666)
    );
    let found = scene.found(CheckerId::Digest);
    assert_eq!(
        found,
        [violation(
            G::Agreement,
            &what,
            &["digest@65.000", "final@91.000"]
        )]
    );

    let mut scene = Scene::new();
    scene.entry(40.0, (5, 1, 3), batch(1, vec![slice_change(9)]));
    let what = "place 5 of the log holds two entries";
    let found = scene.found(CheckerId::Digest);
    assert_eq!(
        found,
        [violation(
            G::Agreement,
            what,
            &["entry@34.200", "entry@40.000"]
        )]
    );
}

#[test]
fn a_batch_of_a_deposed_leader_that_is_taken_is_found() {
    let mut scene = Scene::new();
    edit_entry(&mut scene, 8, |entry| {
        entry.payload = batch(2, vec![slice_change(4)])
    });
    let what = "entry 8 of term 3 holds a batch of term 2, and it was taken";
    let found = scene.found(CheckerId::IngestLog);
    assert_eq!(
        found,
        [violation(
            G::OneVoice,
            what,
            &["entry@55.600", "entry@64.200"]
        )]
    );
}

#[test]
fn a_batch_of_a_deposed_leader_that_is_refused_is_right() {
    let mut scene = Scene::new();
    edit_entry(&mut scene, 7, |entry| {
        entry.payload = batch(2, vec![slice_change(9)])
    });
    assert_eq!(scene.found(CheckerId::IngestLog), []);
    assert_eq!(scene.found(CheckerId::Replay), []);
}

#[test]
fn terms_that_go_back_are_found() {
    let mut scene = Scene::new();
    edit_entry(&mut scene, 6, |entry| entry.term = 4);
    let what = "entry 7 is of term 3, the one before it of term 4";
    let found = scene.found(CheckerId::IngestLog);
    assert_eq!(
        found,
        [violation(
            G::OneVoice,
            what,
            &["entry@45.600", "entry@55.600"]
        )]
    );
}

#[test]
fn a_revision_without_a_change_and_a_change_without_a_revision_are_found() {
    let mut scene = Scene::new();
    edit_entry(&mut scene, 8, |entry| {
        entry.payload = batch(3, vec![slice_change(3)])
    });
    let what = "entry 8 changes nothing and makes a revision";
    let found = scene.found(CheckerId::IngestLog);
    assert_eq!(
        found,
        [violation(
            G::NoChurn,
            what,
            &["entry@55.600", "entry@64.200"]
        )]
    );

    let mut scene = Scene::new();
    edit_entry(&mut scene, 7, |entry| {
        entry.payload = batch(3, vec![slice_change(4)])
    });
    let what = "entry 7 changes content and makes no revision";
    let found = scene.found(CheckerId::IngestLog);
    assert_eq!(
        found[0],
        violation(G::Agreement, what, &["entry@45.600", "entry@55.600"])
    );
}

#[test]
fn half_of_a_relist_that_is_visible_is_found() {
    let mut scene = Scene::new();
    edit_entry(&mut scene, 5, |entry| {
        entry.payload = Payload::Batch {
            term: 1,
            part: Part { number: 0, of: 2 },
            changes: [slice_change(3)].into(),
            source: [].into(),
        };
    });
    let what = "part 0 of 2 in entry 5 is visible alone";
    let found = scene.found(CheckerId::IngestLog);
    assert_eq!(
        found,
        [violation(
            G::NoFalseWithdrawal,
            what,
            &["entry@20.200", "entry@34.200"]
        )]
    );
}

#[test]
fn a_slice_that_goes_back_to_an_older_version_is_found() {
    let mut scene = Scene::new();
    edit_entry(&mut scene, 8, |entry| {
        entry.payload = batch(3, vec![slice_change(2)])
    });
    let what = "slice shop/web-a goes back to what was overwritten";
    let found = scene.found(CheckerId::IngestLog);
    let evidence = ["truth-write@20.000", "entry@64.200"];
    assert_eq!(found, [violation(G::NoFalseWithdrawal, what, &evidence)]);

    let mut scene = Scene::new();
    edit_entry(&mut scene, 8, |entry| {
        entry.payload = batch(3, vec![slice_change(77)])
    });
    let what = "slice shop/web-a is committed as nobody ever wrote it";
    let found = scene.found(CheckerId::IngestLog);
    assert_eq!(found, [violation(G::NoPhantom, what, &["entry@64.200"])]);
}

#[test]
fn a_resource_version_that_goes_back_is_found_unless_the_source_is_new() {
    let with = |steps: Vec<SourceStep>| {
        let mut scene = Scene::new();
        for (index, version) in [(4, 200), (5, 100)] {
            edit_entry(&mut scene, index, |entry| {
                if let Payload::Batch { source, .. } = &mut entry.payload {
                    let kind = "endpointslices".into();
                    let cursor = SourceStep::Cursor { kind, version };
                    let before = if index == 5 {
                        steps.clone()
                    } else {
                        Vec::new()
                    };
                    *source = before.into_iter().chain([cursor]).collect();
                }
            });
        }
        scene.found(CheckerId::IngestLog)
    };
    let what = "the cursor of endpointslices goes back from version 200 to 100";
    let evidence = ["entry@20.200", "entry@34.200"];
    assert_eq!(
        with(Vec::new()),
        [violation(G::NoFalseWithdrawal, what, &evidence)]
    );
    assert_eq!(with(vec![SourceStep::NewSource]), []);
}

#[test]
fn two_replicas_that_watch_for_long_are_found() {
    let mut scene = Scene::new();
    for second in [72.0, 80.0, 83.0] {
        scene.observed(second, N1, Seen::Watches(vec![N1, N2]));
    }
    let what = "2 replicas watch the source at once";
    let found = scene.found(CheckerId::IngestLog);
    assert_eq!(
        found,
        [violation(
            G::OneVoice,
            what,
            &["watches@72.000", "watches@83.000"]
        )]
    );
}

#[test]
fn a_missing_entry_makes_the_log_unknown() {
    let mut scene = Scene::new();
    scene.drop_events(|event| matches!(&event.what, What::Seen(Seen::Entry(it)) if it.index == 5));
    for checker in [CheckerId::IngestLog, CheckerId::Replay] {
        assert_eq!(scene.doubts(checker), ["entry 5 of the log was not seen"]);
    }
    scene.drop_events(|event| matches!(&event.what, What::Seen(Seen::Entry(_))));
    for checker in [CheckerId::IngestLog, CheckerId::Replay] {
        assert_eq!(scene.doubts(checker), ["no entry of the log was seen"]);
    }
}

#[test]
fn an_acknowledged_revision_that_is_gone_is_found() {
    let mut scene = Scene::new();
    edit_final(&mut scene, N2, |last| {
        (last.rev, last.sigma, last.chi) = (rev(3), Digest(3), Digest(103));
    });
    let found = scene.found(CheckerId::Durability);
    let what = "n2 ends at r3, and r4 was seen";
    assert_eq!(
        found,
        [violation(
            G::Durable,
            what,
            &["entry@64.200", "final@91.000"]
        )]
    );
}

#[test]
fn another_history_without_a_restore_is_found_and_with_one_it_is_right() {
    let mut scene = Scene::new();
    scene.edit(|event| match &mut event.what {
        What::Seen(Seen::Final(last)) => {
            last.rev = Rev::new(HISTORY + 1, 9);
            true
        }
        _ => false,
    });
    let found = scene.found(CheckerId::Durability);
    let what = "there is another history, and nobody restored one";
    assert_eq!(
        found,
        [violation(
            G::Durable,
            what,
            &["entry@0.100", "final@91.000"]
        )]
    );

    let restore = fault(9, "restore", effect(|effect| effect.new_history = true));
    scene.nemesis(50.0, Seen::FaultStart(restore));
    assert_eq!(scene.found(CheckerId::Durability), []);
}

#[test]
fn an_element_that_is_lost_doubled_or_uncalled_for_is_found() {
    let with = |elements: &[u64]| {
        let mut scene = Scene::new();
        edit_final(&mut scene, N1, |last| {
            last.elements = Some(elements.to_vec())
        });
        scene.found(CheckerId::Durability)
    };
    let last = "final@91.000";
    let lost = violation(
        G::Durable,
        "n1 lost 7, whose addition succeeded",
        &["add@64.300", last],
    );
    assert_eq!(with(&[]), [lost]);
    assert_eq!(
        with(&[7, 7]),
        [violation(G::Durable, "n1 has 7 2 times", &[last])]
    );
    let nobodys = violation(G::Durable, "n1 has 9, which nobody added", &[last]);
    assert_eq!(with(&[7, 9]), [nobodys]);
    // One whose addition ended unknown may be there or not.
    assert_eq!(with(&[7, 8]), []);
}

#[test]
fn a_vote_that_is_forgotten_is_found() {
    let with = |term, voted_for| {
        let mut scene = Scene::new();
        scene.vote(75.0, N3, term, voted_for);
        scene.found(CheckerId::Durability)
    };
    let evidence = ["vote@70.000", "vote@75.000"];
    let found = |what: &str| [violation(G::Durable, what, &evidence)];
    assert_eq!(
        with(2, Some(2)),
        found("n3 forgot that it voted in term 3: it is in term 2")
    );
    assert_eq!(
        with(3, Some(2)),
        found("n3 voted for 1 and for 2 in term 3")
    );
    assert_eq!(with(3, None), found("n3 forgot its vote for 1 in term 3"));
    assert_eq!(with(4, None), []);
}

#[test]
fn two_leaders_of_one_term_are_found() {
    let mut scene = Scene::new();
    scene.role(70.0, N2, 3, RoleKind::Leader);
    let what = "n1 and n2 both led term 3";
    let found = scene.found(CheckerId::Durability);
    assert_eq!(
        found,
        [violation(
            G::OneVoice,
            what,
            &["role@55.500", "role@70.000"]
        )]
    );
}

#[test]
fn disjoint_quorums_are_found_and_a_joint_step_is_right() {
    let with = |steps: &[&[&[u64]]]| {
        let mut scene = Scene::new();
        for (index, step) in (9..).zip(steps) {
            let voters = step
                .iter()
                .map(|set| set.iter().copied().collect::<BTreeSet<u64>>());
            let payload = Payload::Membership(voters.collect());
            scene.entry(66.0, (index, 3, 4), payload);
        }
        scene.found(CheckerId::Durability)
    };
    assert_eq!(
        with(&[&[&[1, 2, 3], &[3, 4, 5]], &[&[3, 4, 5]], &[&[3, 4, 5, 6]]]),
        []
    );
    let what = "the voters went from [{1, 2, 3}] to [{3, 4, 5}] in one step";
    let evidence = ["entry@0.100", "entry@66.000"];
    assert_eq!(
        with(&[&[&[3, 4, 5]]]),
        [violation(G::Durable, what, &evidence)]
    );
}

#[test]
fn a_replica_that_is_not_read_at_the_end_makes_durability_unknown() {
    let mut scene = Scene::new();
    scene.drop_events(
        |event| matches!(&event.what, What::Seen(Seen::Final(it)) if it.replica == N2),
    );
    assert_eq!(
        scene.doubts(CheckerId::Durability),
        ["n2 was not read at the end"]
    );
}

#[test]
fn digests_of_one_observer_alone_are_unknown() {
    let mut scene = Scene::new();
    scene.drop_events(|event| {
        let of_others = event.process != Process::Observer(N1);
        of_others && matches!(event.what, What::Seen(Seen::Digest(_) | Seen::Final(_)))
    });
    scene.drop_events(|event| matches!(event.what, What::Ok(Return::Read { .. })));
    assert_eq!(
        scene.doubts(CheckerId::Digest),
        ["fewer than two observers saw digests"]
    );
}

#[test]
fn content_that_no_get_depends_on_makes_revisions_too() {
    let mut scene = Scene::new();
    scene.entry(
        66.0,
        (9, 3, 5),
        batch(3, vec![Change::Other("pod shop/x".into(), Some(1))]),
    );
    scene.entry(
        67.0,
        (10, 3, 6),
        batch(3, vec![Change::Other("pod shop/x".into(), Some(1))]),
    );
    let what = "entry 10 changes nothing and makes a revision";
    let found = scene.found(CheckerId::IngestLog);
    assert_eq!(
        found,
        [violation(
            G::NoChurn,
            what,
            &["entry@66.000", "entry@67.000"]
        )]
    );
}
