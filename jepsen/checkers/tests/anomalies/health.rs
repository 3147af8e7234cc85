//! C9, C11 to C13: registers, resources, crashes, and whether enough happened.

use lockstep_jepsen_checkers::{Guarantee as G, *};

use crate::scene::{N1, N2, N3, Scene, effect, fault, ns, rev, violation};

fn read(scene: &mut Scene, from: f64, to: f64, value: u64, number: u64) {
    let call = Call::Read {
        key: 1,
        mode: ReadMode::Linearizable,
    };
    let seen = Return::Read {
        value: Some(value),
        rev: Some(rev(number)),
        sigma: None,
    };
    scene.call(from, to, call, seen);
}

#[test]
fn a_read_that_is_older_than_one_that_had_returned_is_found() {
    let mut scene = Scene::new();
    read(&mut scene, 80.0, 80.1, 5, 3);
    let found = scene.found(CheckerId::Witness);
    let what = "an operation at r3 was invoked after one at r4 had returned";
    assert_eq!(
        found,
        [violation(
            G::Monotonic,
            what,
            &["add@64.300", "read@80.100"]
        )]
    );
}

#[test]
fn a_read_that_does_not_see_the_last_write_is_found_by_both() {
    let mut scene = Scene::new();
    read(&mut scene, 80.0, 80.1, 6, 4);
    let found = scene.found(CheckerId::Witness);
    let what = "a read of register 1 at r4 saw Some(6), not its last write";
    assert_eq!(
        found,
        [violation(
            G::Monotonic,
            what,
            &["read@80.000", "read@80.100"]
        )]
    );
    let found = scene.found(CheckerId::Linear);
    let what = "register 1 is not linearizable: no place for Read(Some(6))";
    assert_eq!(
        found,
        [violation(
            G::Monotonic,
            what,
            &["read@80.000", "read@80.100"]
        )]
    );
}

#[test]
fn a_write_of_unknown_outcome_may_be_seen() {
    let mut scene = Scene::new();
    let write = Call::Write { key: 1, value: 6 };
    let unknown = What::Unknown(Operation::Write, "timed out".into());
    scene.call(78.0, 79.0, write, unknown);
    read(&mut scene, 80.0, 80.1, 6, 4);
    for checker in [CheckerId::Witness, CheckerId::Linear] {
        assert_eq!(scene.verdict(checker).validity(), Validity::Valid);
    }
}

#[test]
fn a_read_of_another_content_than_the_replicas_show_is_found() {
    let mut scene = Scene::new();
    scene.edit(|event| match &mut event.what {
        What::Ok(Return::Read { sigma, .. }) if event.at == ns(21.1) => {
            *sigma = Some(Digest(666));
            true
        }
        _ => false,
    });
    let found = scene.found(CheckerId::Witness);
    let what = format!(
        "a read at r2 saw content {}, a replica has {}",
        Digest(666),
        Digest(2)
    );
    assert_eq!(
        found,
        [violation(
            G::Agreement,
            &what,
            &["digest@21.000", "read@21.100"]
        )]
    );
}

#[test]
fn registers_that_nobody_uses_and_searches_without_end_are_unknown() {
    let mut scene = Scene::new();
    scene.limits.sizes.linear_steps_max = 2;
    assert_eq!(
        scene.doubts(CheckerId::Linear),
        ["register 1 takes too many steps"]
    );
    scene.limits.sizes.linear_operations_max = 3;
    assert_eq!(
        scene.doubts(CheckerId::Linear),
        ["register 1 has 4 operations"]
    );
    scene.drop_events(|event| {
        matches!(event.process, Process::Client(_))
            && !matches!(
                event.what,
                What::Invoke(Call::TruthWrite(_)) | What::Ok(Return::TruthWrite(_))
            )
    });
    assert_eq!(scene.doubts(CheckerId::Linear), ["no register was used"]);
    assert_eq!(
        scene.doubts(CheckerId::Witness),
        ["no operation names its revision"]
    );
}

#[test]
fn memory_that_grows_and_stays_and_queues_that_grow_are_found() {
    let mut scene = Scene::new();
    scene.used(93.0, N2, |used| used.rss_bytes = Some(400 << 20));
    let found = scene.found(CheckerId::Resources);
    let what = "n2 ends with 419430400 bytes of memory, and had 104857600 before the faults";
    assert_eq!(
        found,
        [violation(
            G::Bounded,
            what,
            &["resources@5.000", "resources@93.000"]
        )]
    );

    let mut scene = Scene::new();
    scene.used(50.5, N1, |used| used.pending_max = Some(3));
    let found = scene.found(CheckerId::Resources);
    let what = "n1 has 3 answers waiting for one client; 1 are allowed";
    assert_eq!(found, [violation(G::Bounded, what, &["resources@50.500"])]);

    let mut scene = Scene::new();
    scene.limits.sizes.rss_bytes_max = Some(200 << 20);
    scene.used(50.5, N1, |used| used.rss_bytes = Some(300 << 20));
    let found = scene.found(CheckerId::Resources);
    let what = "n1 has 314572800 bytes of memory; 209715200 are allowed";
    assert_eq!(found, [violation(G::Bounded, what, &["resources@50.500"])]);
}

#[test]
fn resources_that_nobody_looks_at_are_unknown() {
    let mut scene = Scene::new();
    scene.drop_events(|event| {
        event.at > ns(60.0) && matches!(event.what, What::Seen(Seen::Resources(_)))
    });
    let doubts = scene.doubts(CheckerId::Resources);
    assert_eq!(
        doubts[0],
        "n1 was not looked at before the faults and at the end"
    );
    scene.drop_events(|event| matches!(event.what, What::Seen(Seen::Resources(_))));
    let doubts = scene.doubts(CheckerId::Resources);
    assert_eq!(doubts, ["nobody looked at what the replicas use"]);
}

#[test]
fn a_panic_and_an_end_that_nobody_wanted_are_found() {
    let mut scene = Scene::new();
    let line = "thread 'main' panicked at src/main.rs:1:1:";
    scene.observed(70.0, N2, Seen::LogLine(line.into()));
    let found = scene.found(CheckerId::Crash);
    let what = format!("n2 wrote: {line}");
    assert_eq!(
        found,
        [violation(G::Continuity, &what, &["log-line@70.000"])]
    );

    let mut scene = Scene::new();
    scene.life(70.0, N3, LifeState::Down(Some(3)));
    let found = scene.found(CheckerId::Crash);
    let what = "n3 ended with 3";
    assert_eq!(found, [violation(G::Continuity, what, &["life@70.000"])]);
}

#[test]
fn a_quarantine_is_found_unless_somebody_damaged_the_disk() {
    let mut scene = Scene::new();
    scene.life(70.0, N3, LifeState::Quarantined);
    let found = scene.found(CheckerId::Crash);
    let what = "n3 found itself damaged or divergent";
    assert_eq!(found, [violation(G::Durable, what, &["life@70.000"])]);

    let damage = effect(|effect| effect.damaged = [N3].into());
    scene.nemesis(50.0, Seen::FaultStart(fault(7, "bit-flip", damage.clone())));
    scene.nemesis(50.1, Seen::FaultEnd(fault(7, "bit-flip", damage)));
    let verdict = scene.verdict(CheckerId::Crash);
    assert_eq!(verdict.validity(), Validity::Valid);
    assert!(
        verdict
            .exemptions
            .iter()
            .any(|it| it.fault == 7 && it.what == what)
    );
}

#[test]
fn lives_that_nobody_watches_are_unknown() {
    let mut scene = Scene::new();
    scene.drop_events(|event| matches!(event.what, What::Seen(Seen::Life(_))));
    assert_eq!(
        scene.doubts(CheckerId::Crash),
        ["no replica's process was watched"]
    );
}

#[test]
fn a_run_in_which_too_little_happened_is_unknown() {
    let doubts = |change: &dyn Fn(&mut Coverage)| {
        let mut scene = Scene::new();
        change(&mut scene.limits.coverage);
        scene.doubts(CheckerId::Coverage)
    };
    assert_eq!(
        doubts(&|it| {
            it.faults.insert("pause".into(), 1);
        }),
        ["`pause` was in force 0 times; 1 are wanted"]
    );
    assert_eq!(
        doubts(&|it| it.operations_under_each_fault = 5),
        [
            "4 operations succeeded under `cut`; 5 are wanted",
            "2 operations succeeded under `kill`; 5 are wanted",
        ]
    );
    assert_eq!(
        doubts(&|it| it.messages = 99),
        ["15 messages; 99 are wanted"]
    );
    assert_eq!(
        doubts(&|it| it.leader_changes = 3),
        ["2 leader changes; 3 are wanted"]
    );
    assert_eq!(
        doubts(&|it| it.snapshot_installs = 2),
        ["1 snapshot installs; 2 are wanted"]
    );
    assert_eq!(
        doubts(&|it| it.warm_operations_per_second = 5),
        ["0 operations a second before the faults; 5 are wanted"]
    );
    assert_eq!(
        doubts(&|it| it.unknown_percent = 10),
        ["1 of 10 operations ended unknown"]
    );
}

#[test]
fn a_torso_a_failed_harness_and_an_unclear_fault_are_unknown() {
    let mut scene = Scene::new();
    scene.drop_events(|event| matches!(event.what, What::Seen(Seen::Phase(Phase::Done))));
    assert_eq!(
        scene.doubts(CheckerId::Coverage),
        ["the run did not end as planned"]
    );

    let mut scene = Scene::new();
    scene.nemesis(70.0, Seen::HarnessFailure("no network".into()));
    assert_eq!(
        scene.doubts(CheckerId::Coverage),
        ["the harness failed: no network"]
    );

    let mut scene = Scene::new();
    let mut unclear = fault(9, "cut", Effect::default());
    unclear.installed = Installed::Unclear("the rule is half there".into());
    scene.nemesis(59.0, Seen::FaultStart(unclear.clone()));
    let doubts = scene.doubts(CheckerId::Coverage);
    assert_eq!(
        doubts,
        ["whether `cut` was in force is unclear: the rule is half there"]
    );

    // A fault that this machine cannot do is reported, and excuses nothing.
    let mut scene = Scene::new();
    unclear.installed = Installed::Skipped("no FUSE".into());
    scene.nemesis(59.0, Seen::FaultStart(unclear));
    let verdict = scene.verdict(CheckerId::Coverage);
    assert_eq!(verdict.validity(), Validity::Valid);
    assert_eq!(verdict.exemptions[0].what, "`cut` was skipped: no FUSE");
}

#[test]
fn a_history_that_contradicts_itself_is_unknown_to_all() {
    let mut scene = Scene::new();
    scene.push(80.0, Process::Client(0), What::Invoke(Call::Add(20)));
    scene.push(80.1, Process::Client(0), What::Invoke(Call::Add(21)));
    let judgement = judge(&scene.history(), &scene.limits);
    assert_eq!(judgement.validity(), Validity::Unknown);
    assert_eq!(judgement.exit_code(), 2);
    assert!(
        judgement.to_string().ends_with("0 passed, 14 failed\n"),
        "{judgement}"
    );

    // A client whose operation ended unknown never returns.
    let mut scene = Scene::new();
    let retired = scene
        .events
        .iter()
        .find(|event| matches!(event.what, What::Unknown(..)));
    let retired = retired.unwrap().process;
    scene.push(80.0, retired, What::Invoke(Call::Add(20)));
    let text = judge(&scene.history(), &scene.limits).to_string();
    assert!(text.contains("was retired and comes again"), "{text}");

    let mut events = Scene::new().history().events().to_vec();
    let later = events.len() - 1;
    events.swap(0, later);
    let text = judge(&events.into(), &Limits::default()).to_string();
    assert!(text.contains("time goes back at event 1"), "{text}");
}

#[test]
fn a_violation_prints_the_sentence_of_its_guarantee_and_the_lines() {
    let mut scene = Scene::new();
    scene.life(70.0, N1, LifeState::Down(Some(1)));
    let judgement = judge(&scene.history(), &scene.limits);
    let text = judgement.to_string();
    let sentence = format!(
        "  continuity: {}\n    n1 ended with 1 (lines ",
        G::Continuity.sentence()
    );
    assert!(text.contains(&sentence), "{text}");
    assert!(text.ends_with("13 passed, 1 failed\n"), "{text}");
    assert_eq!(judgement.exit_code(), 1);
}
