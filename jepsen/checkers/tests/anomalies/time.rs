//! C6 and C10: freshness, and what must happen in time.

use lockstep_jepsen_checkers::{Guarantee as G, *};
use lockstep_jepsen_model::Message;

use crate::scene::{N1, N2, N3, REPLICAS, Scene, add, effect, fault, ns, rev, violation};

fn is_claim(event: &Event, seconds: f64, replica: Replica) -> bool {
    let asked = ns(seconds);
    matches!(&event.what, What::Seen(Seen::Claim(it)) if it.replica == replica && it.asked_at == asked)
}

/// Edits what a replica says when it is asked at a moment.
fn edit_claim(scene: &mut Scene, seconds: f64, replica: Replica, edit: impl Fn(&mut Claim)) {
    scene.edit(|event| {
        let there = is_claim(event, seconds, replica);
        if let (true, What::Seen(Seen::Claim(claim))) = (there, &mut event.what) {
            edit(claim);
        }
        there
    });
}

#[test]
fn who_says_fresh_and_is_old_is_found() {
    let mut scene = Scene::new();
    edit_claim(&mut scene, 70.0, N3, |claim| {
        (claim.rev, claim.age) = (Some(rev(3)), None)
    });
    let found = scene.found(CheckerId::Freshness);
    let what = "n3 says that it is fresh at r3, and r4 was committed before the limit";
    assert_eq!(
        found,
        [violation(
            G::FreshOrSaysSo,
            what,
            &["entry@64.200", "claim@70.010"]
        )]
    );
}

#[test]
fn an_age_below_the_true_one_is_found() {
    let mut scene = Scene::new();
    // Within the limit, so only the age is a lie.
    edit_claim(&mut scene, 66.0, N3, |claim| claim.rev = Some(rev(3)));
    let found = scene.found(CheckerId::Freshness);
    let what = "n3 claims an age of 200000000 ns at r3, and r4 is older than that";
    assert_eq!(
        found,
        [violation(
            G::FreshOrSaysSo,
            what,
            &["entry@64.200", "claim@66.010"]
        )]
    );
}

#[test]
fn who_is_cut_off_and_says_fresh_is_found_on_every_surface() {
    let mut scene = Scene::new();
    edit_claim(&mut scene, 38.0, N3, |claim| {
        (claim.fresh, claim.surface) = (true, Surface::Health);
    });
    let found = scene.found(CheckerId::Freshness);
    let what = "n3 is cut off and says that it is fresh (Health)";
    assert_eq!(
        found,
        [
            violation(
                G::FreshOrSaysSo,
                "n3 says that it is fresh at r2, and r3 was committed before the limit",
                &["entry@34.200", "claim@38.010"],
            ),
            violation(
                G::FreshOrSaysSo,
                what,
                &["fault-start@32.000", "claim@38.010"]
            ),
        ]
    );
}

#[test]
fn an_age_past_the_limit_is_not_fresh() {
    let mut scene = Scene::new();
    edit_claim(&mut scene, 70.0, N3, |claim| claim.age = Some(ns(3.1)));
    let what = "n3 says that it is fresh, at an age of 3100000000 ns";
    let found = scene.found(CheckerId::Freshness);
    assert_eq!(
        found,
        [violation(G::FreshOrSaysSo, what, &["claim@70.010"])]
    );
}

#[test]
fn who_was_paused_and_says_that_it_was_fresh_meanwhile_is_found() {
    let with = |age| {
        let mut scene = Scene::new();
        scene.life(70.5, N2, LifeState::Paused);
        scene.life(75.9, N2, LifeState::Up);
        scene.drop_events(|event| is_claim(event, 72.0, N2) || is_claim(event, 74.0, N2));
        edit_claim(&mut scene, 76.0, N2, |claim| claim.age = Some(ns(age)));
        scene.found(CheckerId::Freshness)
    };
    let what = "n2 says that it was fresh while it was paused";
    assert_eq!(
        with(2.0),
        [violation(G::FreshOrSaysSo, what, &["claim@76.010"])]
    );
    assert_eq!(with(0.05), []);
}

#[test]
fn who_says_stale_for_ever_is_found() {
    let mut scene = Scene::new();
    edit_claim(&mut scene, 80.0, N3, |claim| claim.fresh = false);
    let what = "n3 says that it is stale, and nothing is wrong";
    let found = scene.found(CheckerId::Freshness);
    assert_eq!(
        found,
        [violation(G::FreshOrSaysSo, what, &["claim@80.010"])]
    );
}

#[test]
fn a_silent_source_that_is_called_fresh_is_found() {
    let with = |source_fresh| {
        let mut scene = Scene::new();
        scene.nemesis(
            15.0,
            Seen::FaultStart(fault(7, "half-open", effect(|it| it.source_silent = true))),
        );
        scene.edit(|event| match &mut event.what {
            What::Seen(Seen::Claim(claim)) => {
                let late = claim.asked_at > ns(48.5) && claim.asked_at < ns(60.0);
                claim.source_fresh = if late {
                    source_fresh
                } else {
                    claim.source_fresh
                };
                true
            }
            _ => false,
        });
        scene
    };
    let found = with(Some(true)).found(CheckerId::Freshness);
    let what = "n1 has a silent source and calls it fresh";
    let evidence = ["fault-start@15.000", "claim@50.010"];
    assert_eq!(found[0], violation(G::FreshOrSaysSo, what, &evidence));
    assert_eq!(with(Some(false)).found(CheckerId::Freshness), []);
    let doubts = with(None).doubts(CheckerId::Freshness);
    assert_eq!(
        doubts,
        ["the source was silent by fault 7, and nobody was asked then"]
    );
}

#[test]
fn a_cut_that_nobody_looks_at_is_unknown() {
    let mut scene = Scene::new();
    scene.drop_events(
        |event| matches!(&event.what, What::Seen(Seen::Claim(it)) if it.replica == N3 && !it.fresh),
    );
    let doubts = scene.doubts(CheckerId::Freshness);
    assert_eq!(doubts, ["n3 was cut off by fault 1, and not asked then"]);
}

#[test]
fn a_group_without_a_leader_or_revisions_or_freshness_after_the_faults_is_found() {
    let mut scene = Scene::new();
    scene.role(59.0, N1, 3, RoleKind::Follower);
    let found = scene.found(CheckerId::Liveness);
    let what = "there is no leader in time after the last fault";
    assert_eq!(found, [violation(G::Continuity, what, &["phase@60.000"])]);

    let mut scene = Scene::new();
    let late = |event: &Event| event.at > ns(64.1) && event.at < ns(70.0);
    scene.drop_events(|event| {
        late(event)
            && matches!(
                event.what,
                What::Seen(
                    Seen::Entry(_) | Seen::Ack(_) | Seen::Msg(_) | Seen::Claim(_) | Seen::Digest(_)
                ) | What::Ok(_)
            )
    });
    scene.drop_events(|event| matches!(event.what, What::Invoke(Call::Add(7))));
    let found = scene.found(CheckerId::Liveness);
    let what = "nothing that was written after the last fault was committed in time";
    assert_eq!(
        found,
        [violation(
            G::Continuity,
            what,
            &["phase@60.000", "truth-write@64.100"]
        )]
    );

    let mut scene = Scene::new();
    scene.edit(|event| match &mut event.what {
        What::Seen(Seen::Claim(claim)) if claim.replica == N2 && event.at > ns(58.0) => {
            claim.fresh = claim.asked_at > ns(71.0);
            true
        }
        _ => false,
    });
    let found = scene.found(CheckerId::Liveness);
    let what = "n2 did not say that it is fresh in time after the last fault";
    assert_eq!(found, [violation(G::Continuity, what, &["phase@60.000"])]);
}

#[test]
fn a_stream_that_ends_though_its_replica_is_well_is_found() {
    let mut scene = Scene::new();
    scene.ended(80.0, 3, EndedBy::Replica);
    let what = "a stream of n3 ended with UNAVAILABLE, and nobody disturbed n3";
    let found = scene.found(CheckerId::Liveness);
    assert_eq!(
        found,
        [violation(
            G::Continuity,
            what,
            &["open@45.300", "end@80.000"]
        )]
    );
    // A leader that dies ends no stream of a follower.
    let mut scene = Scene::new();
    scene.drop_events(|event| matches!(&event.what, What::Seen(Seen::End(_))));
    scene.ended(56.0, 2, EndedBy::Replica);
    let what = "a stream of n3 ended with UNAVAILABLE, and nobody disturbed n3";
    let found = scene.found(CheckerId::Liveness);
    assert_eq!(
        found,
        [violation(
            G::Continuity,
            what,
            &["open@12.000", "end@56.000"]
        )]
    );
}

#[test]
fn a_stream_that_is_opened_and_hears_nothing_in_time_is_found() {
    let mut scene = Scene::new();
    scene.open(75.0, 4, 4, N2);
    scene.told(76.5, 4, 4, add(&[4]));
    let what = "n2 said nothing in time to a new stream";
    let found = scene.found(CheckerId::Liveness);
    assert_eq!(
        found,
        [violation(
            G::WholeFirst,
            what,
            &["open@75.000", "msg@76.500"]
        )]
    );

    let mut scene = Scene::new();
    scene.open(75.0, 4, 4, N2);
    let found = scene.found(CheckerId::Liveness);
    assert_eq!(found, [violation(G::WholeFirst, what, &["open@75.000"])]);
}

/// Opens a stream that is refused at once.
fn refused(scene: &mut Scene, seconds: f64, replica: Replica, why: &str) {
    scene.open(seconds, 4, 4, replica);
    scene.edit(|event| {
        let there = event.process == Process::Stream(4) && matches!(event.what, What::Ok(_));
        if there {
            event.what = What::Fail(Operation::Open, why.into());
        }
        there
    });
}

#[test]
fn a_replica_that_turns_streams_away_is_found() {
    let mut scene = Scene::new();
    refused(&mut scene, 75.0, N2, "UNAVAILABLE: not synced");
    let what = "n2 turned a stream away: UNAVAILABLE: not synced";
    let found = scene.found(CheckerId::Liveness);
    assert_eq!(
        found,
        [violation(
            G::Continuity,
            what,
            &["open@75.000", "open@75.010"]
        )]
    );
    // What says something about the question is an answer.
    let mut scene = Scene::new();
    refused(&mut scene, 75.0, N2, "NOT_FOUND");
    assert_eq!(scene.found(CheckerId::Liveness), []);
}

#[test]
fn a_group_without_a_quorum_serves_what_it_has() {
    let with = |cut: &[Replica]| {
        let mut scene = Scene::new();
        let cut = effect(|effect| effect.isolated = cut.iter().copied().collect());
        scene.nemesis(25.0, Seen::FaultStart(fault(7, "cut-all", cut.clone())));
        scene.nemesis(31.0, Seen::FaultEnd(fault(7, "cut-all", cut)));
        refused(&mut scene, 30.0, N2, "UNAVAILABLE: stale");
        scene.found(CheckerId::Liveness)
    };
    let what = "n2 turned a stream away while no replica can be fresher: UNAVAILABLE: stale";
    let evidence = ["open@30.000", "open@30.010"];
    assert_eq!(
        with(&REPLICAS),
        [violation(G::FreshOrSaysSo, what, &evidence)]
    );
    // It may yield to a fresher one.
    assert_eq!(with(&[N2, N3]), []);
}

#[test]
fn a_leader_without_a_source_that_keeps_leading_is_found() {
    let with = |other: Option<f64>| {
        let mut scene = Scene::new();
        scene.drop_events(|event| {
            matches!(
                event.what,
                What::Seen(Seen::FaultStart(_) | Seen::FaultEnd(_))
            )
        });
        scene.drop_events(|event| matches!(event.what, What::Seen(Seen::Role(_))));
        scene.role(0.1, N1, 1, RoleKind::Leader);
        let away = effect(|effect| effect.sourceless = [N1].into());
        scene.nemesis(
            15.0,
            Seen::FaultStart(fault(7, "leader-without-source", away)),
        );
        if let Some(seconds) = other {
            scene.role(seconds, N2, 2, RoleKind::Leader);
        }
        scene.found(CheckerId::Liveness)
    };
    let what = "n1 cannot reach the source and kept leading";
    let found = violation(G::Continuity, what, &["fault-start@15.000", "role@0.100"]);
    assert!(with(None).contains(&found), "{:?}", with(None));
    assert!(!with(Some(50.0)).contains(&found));
}

#[test]
fn an_operation_after_the_faults_that_ends_unknown_is_found() {
    let mut scene = Scene::new();
    let unknown = What::Unknown(Operation::Add, "timed out".into());
    scene.call(80.0, 81.0, Call::Add(9), unknown);
    let what = "Add after the last fault ended unknown: timed out";
    let found = scene.found(CheckerId::Liveness);
    assert_eq!(found, [violation(G::Continuity, what, &["add@81.000"])]);
}

#[test]
fn a_run_that_was_not_healed_or_not_written_to_is_unknown() {
    let mut scene = Scene::new();
    scene.drop_events(|event| matches!(event.what, What::Seen(Seen::Phase(Phase::Healed))));
    assert_eq!(
        scene.doubts(CheckerId::Liveness),
        ["the phase `healed` was never entered"]
    );

    let mut scene = Scene::new();
    scene.drop_events(|event| {
        event.at >= ns(64.0) && matches!(event.what, What::Ok(Return::TruthWrite(_)))
    });
    let doubts = scene.doubts(CheckerId::Liveness);
    assert_eq!(
        doubts,
        ["nothing was written to Kubernetes after the last fault"]
    );
}

#[test]
fn a_cold_start_without_a_quorum_that_is_told_nothing_exists_is_found() {
    let mut scene = Scene::new();
    scene.open(38.0, 4, 4, N3);
    scene.told(38.1, 4, 2, Message::NoEndpoints { exists: true });
    let found = scene.found(CheckerId::Replay);
    let what = "the first message is that there are none of 1 addresses";
    assert_eq!(found[0], violation(G::WholeFirst, what, &["msg@38.100"]));
}
