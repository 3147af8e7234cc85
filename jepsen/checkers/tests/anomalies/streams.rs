//! C2 to C5: what clients are told.

use lockstep_jepsen_checkers::{Guarantee as G, *};
use lockstep_jepsen_model::Message;
use std::sync::Arc;

use crate::scene::{
    N1, N2, N3, Scene, add, address, batch, ns, remove, rev, slice_change, slice_object, violation,
};

fn is_message(event: &Event, seconds: f64, stream: u64) -> bool {
    event.at == ns(seconds)
        && event.process == Process::Stream(stream)
        && matches!(event.what, What::Seen(Seen::Msg(_)))
}

/// Edits the message of a stream at one moment.
fn edit_told(scene: &mut Scene, seconds: f64, stream: u64, edit: impl Fn(&mut Told)) {
    scene.edit(|event| {
        let there = is_message(event, seconds, stream);
        if let (true, What::Seen(Seen::Msg(told))) = (there, &mut event.what) {
            edit(told);
        }
        there
    });
}

#[test]
fn a_stream_that_goes_back_is_found() {
    let mut scene = Scene::new();
    edit_told(&mut scene, 64.3, 2, |told| told.rev = Some(rev(2)));
    let found = scene.found(CheckerId::Replay);
    let what = "a stream goes back from r3 to r2";
    assert_eq!(
        found,
        [violation(G::Monotonic, what, &["msg@41.310", "msg@64.300"])]
    );
}

#[test]
fn a_stream_that_goes_on_in_another_history_is_found() {
    let mut scene = Scene::new();
    edit_told(&mut scene, 64.3, 2, |told| told.rev = Some(Rev::new(7, 4)));
    let found = scene.found(CheckerId::Replay);
    let what = "a stream goes on in another history";
    assert_eq!(
        found,
        [violation(G::Monotonic, what, &["msg@41.310", "msg@64.300"])]
    );
}

#[test]
fn endpoints_that_vanish_and_come_back_are_found() {
    // A relist that was not whole: all is withdrawn, and told again.
    let mut scene = Scene::new();
    scene.told(50.0, 2, 3, Message::NoEndpoints { exists: true });
    scene.told(50.1, 2, 3, add(&[3]));
    let found = scene.found(CheckerId::Replay);
    let what = "10.0.0.3:8080 is withdrawn and is there at the label";
    assert_eq!(
        found,
        [violation(G::NoFalseWithdrawal, what, &["msg@50.000"])]
    );

    let mut scene = Scene::new();
    scene.told(50.0, 2, 3, remove(3));
    let found = scene.found(CheckerId::Replay);
    let missing = "after the step to r3: 10.0.0.3:8080 is missing";
    assert_eq!(
        found[0],
        violation(G::NoFalseWithdrawal, what, &["msg@50.000"])
    );
    assert_eq!(
        found[1],
        violation(G::NoFalseWithdrawal, missing, &["msg@50.000"])
    );
}

#[test]
fn a_step_that_is_not_finished_is_found_and_one_that_is_cut_short_is_right() {
    let mut scene = Scene::new();
    scene.drop_events(|event| is_message(event, 20.31, 1));
    let found = scene.found(CheckerId::Replay);
    let what = "after the step to r2: 10.0.0.1:8080 is not there in truth";
    assert_eq!(found[0], violation(G::Agreement, what, &["msg@20.300"]));

    let mut scene = Scene::new();
    scene.drop_events(|event| is_message(event, 64.31, 2));
    scene.ended(64.305, 2, EndedBy::Client);
    assert_eq!(scene.found(CheckerId::Replay), []);
}

#[test]
fn an_address_that_is_not_true_at_its_label_is_found() {
    let mut scene = Scene::new();
    edit_told(&mut scene, 64.3, 2, |told| told.message = add(&[4, 9]));
    let found = scene.found(CheckerId::Replay);
    let what = "told at its label: 10.0.0.9:8080 is not there in truth";
    assert_eq!(found[0], violation(G::Agreement, what, &["msg@64.300"]));
}

#[test]
fn an_address_that_is_told_wrongly_is_found() {
    let mut scene = Scene::new();
    edit_told(&mut scene, 64.3, 2, |told| {
        let Message::Add { endpoints, .. } = &mut told.message else {
            panic!("no add");
        };
        for described in endpoints.values_mut() {
            Arc::make_mut(described).weight = 1;
        }
    });
    let found = scene.found(CheckerId::Replay);
    assert_eq!(
        (found[0].0, &found[0].2),
        (G::Agreement, &vec!["msg@64.300".to_owned()])
    );
    assert!(
        found[0]
            .1
            .starts_with("told at its label: 10.0.0.4:8080 was told as"),
        "{found:?}"
    );
}

#[test]
fn a_first_message_that_is_not_the_whole_answer_is_found() {
    let with = |message: Message| {
        let mut scene = Scene::new();
        edit_told(&mut scene, 45.4, 3, |told| told.message = message.clone());
        scene.found(CheckerId::Replay)[0].clone()
    };
    let found = |guarantee, what: &str| violation(guarantee, what, &["msg@45.400"]);
    let empty = with(Message::NoEndpoints { exists: true });
    let what = "the first message is that there are none of 1 addresses";
    assert_eq!(empty, found(G::WholeFirst, what));
    let nothing = "a message that every client passes over";
    assert_eq!(with(remove(3)), found(G::WholeFirst, nothing));
    assert_eq!(with(add(&[])), found(G::WholeFirst, nothing));
}

#[test]
fn an_empty_answer_says_whether_there_is_a_service() {
    let with = |exists| {
        let mut scene = Scene::new();
        let web = lockstep_jepsen_model::Name::new("shop", "web");
        let gone = vec![lockstep_jepsen_model::Change::Service(web, None)];
        scene.entry(70.0, (9, 3, 5), batch(3, gone));
        scene.open(75.0, 4, 3, N2);
        scene.told(75.1, 4, 5, Message::NoEndpoints { exists });
        scene.found(CheckerId::Replay)
    };
    assert_eq!(with(false), []);
    let what = "the first message says exists: true";
    assert_eq!(
        with(true),
        [violation(G::WholeFirst, what, &["msg@75.100"])]
    );
}

#[test]
fn a_message_that_changes_nothing_is_found() {
    let mut scene = Scene::new();
    scene.told(70.0, 2, 4, add(&[4]));
    let what = "a message that changes nothing";
    let found = scene.found(CheckerId::Replay);
    assert_eq!(found, [violation(G::NoChurn, what, &["msg@70.000"])]);
}

#[test]
fn messages_without_labels_and_labels_beyond_the_log_are_unknown() {
    let mut scene = Scene::new();
    edit_told(&mut scene, 12.1, 1, |told| told.rev = None);
    assert_eq!(
        scene.doubts(CheckerId::Replay),
        ["there are messages without a label"]
    );
    let mut scene = Scene::new();
    edit_told(&mut scene, 64.31, 2, |told| told.rev = Some(rev(9)));
    assert_eq!(
        scene.doubts(CheckerId::Replay),
        ["the log was not seen up to r9"]
    );
}

#[test]
fn a_hop_to_an_older_replica_is_found() {
    let mut scene = Scene::new();
    scene.open(70.0, 4, 1, N2);
    scene.told(70.1, 4, 3, add(&[3]));
    let found = scene.found(CheckerId::Session);
    let seen = "a stream begins at r3, and r4 its client has seen";
    let committed = "a stream begins at r3, and r4 was committed before";
    assert_eq!(
        found,
        [
            violation(
                G::Monotonic,
                seen,
                &["msg@64.310", "open@70.000", "msg@70.100"]
            ),
            violation(
                G::Monotonic,
                committed,
                &["entry@64.200", "open@70.000", "msg@70.100"]
            ),
        ]
    );
}

#[test]
fn a_token_that_is_not_honoured_is_found() {
    let mut scene = Scene::new();
    scene.edit(|event| match &mut event.what {
        What::Invoke(Call::Open(open)) if event.at == ns(45.3) => {
            open.min = Some(rev(9));
            true
        }
        _ => false,
    });
    let found = scene.found(CheckerId::Session);
    let what = "a stream begins at r3, and its token asks for r9";
    assert_eq!(
        found[0],
        violation(G::Monotonic, what, &["open@45.300", "msg@45.400"])
    );
}

/// Opens a stream that is marked stale and older than what was committed.
fn open_stale(scene: &mut Scene, seconds: f64, number: u64) {
    scene.open(seconds, 4, 3, N3);
    scene.edit(|event| match &mut event.what {
        What::Ok(Return::Open(opened)) if event.process == Process::Stream(4) => {
            opened.stale = Some(true);
            true
        }
        _ => false,
    });
    let version = number.try_into().unwrap();
    scene.told(seconds + 0.1, 4, number, add(&[version]));
}

#[test]
fn a_mark_of_staleness_excuses_only_while_a_fault_explains_it() {
    let mut scene = Scene::new();
    open_stale(&mut scene, 38.0, 2);
    let verdict = scene.verdict(CheckerId::Session);
    assert_eq!(verdict.validity(), Validity::Valid, "{verdict}");
    let exempt = &verdict.exemptions[0];
    assert_eq!(
        (exempt.what.as_str(), exempt.fault),
        ("n3 calls itself stale", 1)
    );

    let mut scene = Scene::new();
    open_stale(&mut scene, 75.0, 4);
    let what = "n3 calls itself stale, and no fault explains it";
    let found = scene.found(CheckerId::Session);
    assert_eq!(found, [violation(G::FreshOrSaysSo, what, &["open@75.000"])]);
}

#[test]
fn sessions_of_nobody_are_unknown() {
    let mut scene = Scene::new();
    scene.drop_events(|event| matches!(event.what, What::Seen(Seen::Msg(_))));
    assert_eq!(
        scene.doubts(CheckerId::Session),
        ["fewer than two streams have labels"]
    );
}

#[test]
fn a_zombie_and_a_lost_address_are_found_when_it_is_quiet() {
    let mut scene = Scene::new();
    scene.drop_events(|event| is_message(event, 64.31, 2));
    let found = scene.found(CheckerId::Convergence);
    let what =
        "web.shop.svc.cluster.local:80: 10.0.0.3:8080 is gone from Kubernetes and still told";
    assert_eq!(
        found,
        [violation(
            G::Convergence,
            what,
            &["truth-write@64.100", "msg@64.300"]
        )]
    );

    let mut scene = Scene::new();
    scene.write_truth(75.0, 75.1, vec![slice_object(5)]);
    let found = scene.found(CheckerId::Convergence);
    let what = "web.shop.svc.cluster.local:80: 10.0.0.5:8080 is missing";
    assert_eq!(
        found[0],
        violation(G::Convergence, what, &["truth-write@75.100", "msg@64.310"])
    );
}

#[test]
fn what_the_api_server_holds_decides_over_writes_of_unknown_outcome() {
    let mut scene = Scene::new();
    let write = TruthWrite {
        writes: vec![Written::Put(slice_object(5).into())],
    };
    let unknown = What::Unknown(Operation::TruthWrite, "timed out".into());
    scene.call(75.0, 75.1, Call::TruthWrite(write), unknown);
    let doubts = scene.doubts(CheckerId::Convergence);
    assert_eq!(
        doubts,
        ["the run did not end quiet, for long enough after the last fault"]
    );

    let objects = |version| vec![slice_object(version).into()];
    scene.observed(
        76.0,
        N1,
        Seen::Truth(Truth {
            objects: objects(5),
        }),
    );
    let found = scene.found(CheckerId::Convergence);
    assert!(
        found.iter().all(|it| it.0 == G::Convergence) && !found.is_empty(),
        "{found:?}"
    );
}

#[test]
fn a_stream_that_is_not_told_while_others_are_is_starved() {
    let mut scene = Scene::new();
    // The other stream is told at once, this one much later.
    for (from, to) in [(64.3, 80.0), (64.31, 80.01)] {
        scene.edit(|event| {
            let there = is_message(event, from, 2);
            if there {
                event.at = ns(to);
            }
            there
        });
    }
    scene.edit(|event| match &mut event.what {
        // Far enough from the last fault to be judged.
        What::Seen(Seen::FaultStart(it) | Seen::FaultEnd(it)) if it.id == 3 => {
            event.at -= ns(6.0);
            true
        }
        _ => false,
    });
    let found = scene.found(CheckerId::Convergence);
    let what = "web.shop.svc.cluster.local:80 changed at r4, and a stream was not told in time";
    assert!(
        found.contains(&violation(
            G::Convergence,
            what,
            &["entry@64.200", "msg@41.310"]
        )),
        "{found:?}"
    );
}

#[test]
fn a_run_that_does_not_end_quiet_is_unknown() {
    let mut scene = Scene::new();
    for second in 60..95 {
        let seconds = f64::from(second);
        scene.write_truth(seconds + 0.2, seconds + 0.3, vec![slice_object(4)]);
    }
    let doubts = scene.doubts(CheckerId::Convergence);
    assert_eq!(
        doubts,
        ["the run did not end quiet, for long enough after the last fault"]
    );
}

#[test]
fn an_address_that_nobody_wrote_is_found() {
    let mut scene = Scene::new();
    edit_told(&mut scene, 64.3, 2, |told| told.message = add(&[4, 9]));
    let found = scene.found(CheckerId::Provenance);
    let what = "10.0.0.9:8080 was never written for shop/web";
    assert_eq!(found, [violation(G::NoPhantom, what, &["msg@64.300"])]);
}

#[test]
fn an_address_before_it_was_written_and_one_of_another_workload_are_found() {
    let mut scene = Scene::new();
    edit_told(&mut scene, 20.3, 1, |told| told.message = add(&[3]));
    let found = scene.found(CheckerId::Provenance);
    let what = "10.0.0.3:8080 was never written for shop/web";
    assert_eq!(found, [violation(G::NoPhantom, what, &["msg@20.300"])]);

    let mut scene = Scene::new();
    edit_told(&mut scene, 20.3, 1, |told| {
        let Message::Add { endpoints, .. } = &mut told.message else {
            panic!("no add");
        };
        let described = Arc::make_mut(endpoints.get_mut(&address(2)).unwrap());
        described.labels.insert("pod".into(), "other".into());
    });
    let found = scene.found(CheckerId::Provenance);
    let what = "10.0.0.2:8080 was never that of `other`";
    assert_eq!(found, [violation(G::NoPhantom, what, &["msg@20.300"])]);
}

#[test]
fn provenance_without_writes_is_unknown() {
    let mut scene = Scene::new();
    scene.drop_events(|event| {
        matches!(
            event.what,
            What::Invoke(Call::TruthWrite(_))
                | What::Ok(Return::TruthWrite(_))
                | What::Seen(Seen::Msg(_))
        )
    });
    let doubts = scene.doubts(CheckerId::Provenance);
    let wanted = [
        "no slice was written to the API server",
        "no address was told",
    ];
    assert_eq!(doubts, wanted);
}

#[test]
fn a_change_that_is_taken_back_at_once_need_not_be_told() {
    let mut scene = Scene::new();
    scene.entry(75.0, (9, 3, 5), batch(3, vec![slice_change(3)]));
    scene.entry(75.01, (10, 3, 6), batch(3, vec![slice_change(4)]));
    let found = scene.found(CheckerId::Convergence);
    assert_eq!(found, []);
    assert_eq!(scene.found(CheckerId::Replay), []);
}
