//! `lockstep members` against replicas on real sockets.
use crate::stage::{Destination, Replica, Says, healthy, lockstep, nobody, start};
use lockstep_cli::Exit;
use lockstep_proto::admin::v1 as pb;
use serde_json::json;
use tonic::Status;

async fn group(says: Vec<Says>) -> (Vec<Replica>, String) {
    let mut replicas = Vec::new();
    for says in says {
        replicas.push(start(says, Destination::default()).await);
    }
    let addresses: Vec<&str> = replicas.iter().map(|it| it.address.as_str()).collect();
    let addresses = addresses.join(",");
    (replicas, addresses)
}

#[tokio::test]
async fn the_leader_is_found_and_asked_to_hand_over() {
    let (_group, admins) = group(vec![healthy(2, 4), healthy(1, 4), healthy(3, 4)]).await;
    let transfer = ["members", "transfer", "replica-3", "--admin", &admins];
    let printed = lockstep(&transfer).await;
    assert_eq!((printed.exit, printed.notes.as_str()), (Exit::Yes, ""));
    assert_eq!(
        printed.out,
        "replica-1 handed the lead to replica-3, term 3\n"
    );
    let printed = lockstep(&[&transfer[..], &["-o", "json"]].concat()).await;
    assert_eq!(
        printed.json(),
        json!({ "from": "replica-1", "to": "replica-3", "term": 3 })
    );
}

#[tokio::test]
async fn of_two_that_say_they_lead_the_one_of_the_newest_term_is_asked() {
    let mut newer = healthy(1, 4);
    newer.status.name = "replica-7".to_owned();
    newer.status.term = 9;
    let (_group, admins) = group(vec![healthy(1, 4), newer]).await;
    let printed = lockstep(&["members", "transfer", "x", "--admin", &admins]).await;
    assert_eq!(printed.out, "replica-7 handed the lead to x, term 10\n");
}

#[tokio::test]
async fn a_refusal_of_the_leader_is_printed_and_says_whether_to_try_again() {
    for (refused, exit) in [
        (Status::not_found("no member is called `x`"), Exit::No),
        (Status::unavailable("`x` has not answered"), Exit::Unknown),
    ] {
        let mut leader = healthy(1, 4);
        let expected = format!("{:?}: {}", refused.code(), refused.message());
        leader.no_transfer = Some(refused);
        let (group, admins) = group(vec![leader]).await;
        let printed = lockstep(&["members", "transfer", "x", "--admin", &admins]).await;
        let address = &group[0].address;
        assert_eq!(printed.exit, exit);
        assert_eq!(
            printed.notes,
            format!("lockstep members: {address} answers {expected}\n")
        );
    }
}

#[tokio::test]
async fn without_a_leader_nobody_hands_over() {
    let (_group, admins) = group(vec![healthy(2, 4)]).await;
    let nobody = nobody().await;
    let printed = lockstep(&[
        "members", "transfer", "--admin", &admins, "--admin", &nobody,
    ])
    .await;
    assert_eq!(printed.exit, Exit::Unknown);
    let notes: Vec<&str> = printed.notes.lines().collect();
    assert!(
        notes[0].starts_with(&format!("{nobody} cannot be reached: ")),
        "{notes:?}"
    );
    assert_eq!(notes[1..], ["no replica that answers leads"]);
}

/// A leader that knows a voter which is away, a learner, and two that stay out.
fn leader_of_many() -> Says {
    let mut says = healthy(1, 4);
    let member = |number: u64, voter, matched, acked_ago_ms| pb::Member {
        replica: format!("{number:016x}"),
        name: format!("replica-{number}"),
        address: format!("replica-{number}:8087"),
        voter,
        matched,
        acked_ago_ms,
        since_unix_ms: (number == 3).then_some(1_700_000_000_000),
    };
    let last = pb::LogId { term: 2, index: 40 };
    says.status.log = Some(pb::LogPointers {
        last: Some(last),
        ..pb::LogPointers::default()
    });
    says.status.leader = says.status.replica.clone();
    says.status.members = vec![
        member(1, true, None, None),
        member(2, true, Some(31), Some(7_250)),
        member(3, false, Some(40), Some(12)),
    ];
    says.status.outsiders = vec![
        pb::Outsider {
            name: "replica-4".to_owned(),
            address: "replica-4:8087".to_owned(),
            why: "it does not answer: no answer within 500ms".to_owned(),
        },
        pb::Outsider {
            name: "replica-5".to_owned(),
            address: "replica-5:8087".to_owned(),
            why: "`replica-5` was removed".to_owned(),
        },
    ];
    says.status.dismissed = vec!["replica-5".to_owned(), "replica-6".to_owned()];
    says
}

#[tokio::test]
async fn the_members_are_shown_as_the_leader_sees_them() {
    let (_group, admins) = group(vec![healthy(2, 4), leader_of_many()]).await;
    let printed = lockstep(&["members", "--admin", &admins]).await;
    assert_eq!((printed.exit, printed.notes.as_str()), (Exit::Yes, ""));
    assert_eq!(
        printed.lines(),
        [
            "NAME       ROLE     CONTACT   MATCHED  BEHIND  ID                ADDRESS",
            "replica-1  leader   -         40       0       0000000000000001  replica-1:8087",
            "replica-2  voter    7.2s ago  31       9       0000000000000002  replica-2:8087",
            "replica-3  learner  12ms ago  40       0       0000000000000003  replica-3:8087",
            "replica-4  outside  -         -        -       -                 replica-4:8087",
            "replica-5  removed  -         -        -       -                 replica-5:8087",
            "replica-6  removed  -         -        -       -                 -",
            "2 voters, 0 of which may fail; seen by replica-1 in term 2",
            "replica-4 stays out: it does not answer: no answer within 500ms",
            "replica-5 stays out: `replica-5` was removed",
        ]
    );
}

#[tokio::test]
async fn the_members_are_a_document_too() {
    let (_group, admins) = group(vec![leader_of_many()]).await;
    let printed = lockstep(&["members", "--admin", &admins, "-o", "json"]).await;
    let seen = printed.json();
    let head =
        json!({ "seen_by": "replica-1", "leads": true, "term": 2, "voters": 2, "may_fail": 0 });
    for (field, value) in head.as_object().unwrap() {
        assert_eq!(&seen[field], value, "{field}");
    }
    assert_eq!(
        seen["members"][1],
        json!({
            "replica": "0000000000000002", "name": "replica-2", "address": "replica-2:8087",
            "role": "voter", "matched": 31, "behind": 9, "acked_ago_ms": 7250,
            "since_unix_ms": null
        })
    );
    assert_eq!(seen["members"][2]["role"], "learner");
    assert_eq!(seen["members"][2]["since_unix_ms"], 1_700_000_000_000_u64);
    assert_eq!(
        seen["outside"][2],
        json!({ "name": "replica-6", "address": null, "role": "removed", "why": null })
    );
}

#[tokio::test]
async fn without_a_leader_the_newest_knowledge_is_shown_and_is_no_answer() {
    let mut newer = healthy(3, 4);
    newer.status.term = 7;
    newer.status.members = leader_of_many().status.members;
    let (_group, admins) = group(vec![healthy(2, 4), newer]).await;
    let printed = lockstep(&["members", "--admin", &admins]).await;
    assert_eq!(printed.exit, Exit::Unknown);
    assert_eq!(printed.notes, "no replica that answers leads\n");
    assert_eq!(
        printed.lines().last().copied(),
        Some("2 voters, 0 of which may fail; seen by replica-3 in term 7")
    );
}

#[tokio::test]
async fn changes_go_to_the_leader() {
    let (_group, admins) = group(vec![healthy(2, 4), healthy(1, 4)]).await;
    for (arguments, done) in [
        (
            &["remove", "x", "y"][..],
            "Remove(RemoveMembers { members: [\"x\", \"y\"], force: false })",
        ),
        (
            &["remove", "x", "--force"],
            "Remove(RemoveMembers { members: [\"x\"], force: true })",
        ),
        (&["add", "x"], "Add(\"x\")"),
        (&["promote", "x"], "Promote(\"x\")"),
    ] {
        let arguments = [&["members"], arguments, &["--admin", &admins]].concat();
        let printed = lockstep(&arguments).await;
        assert_eq!((printed.exit, printed.notes.as_str()), (Exit::Yes, ""));
        assert_eq!(printed.out, format!("{done}\n"));
        let printed = lockstep(&[&arguments[..], &["-o", "json"]].concat()).await;
        assert_eq!(printed.json(), json!({ "done": done }));
    }
}

#[tokio::test]
async fn a_refused_change_says_why_and_whether_it_may_be_done() {
    for (refused, exit) in [
        (
            Status::failed_precondition("it is the last voter"),
            Exit::No,
        ),
        (
            Status::deadline_exceeded("no majority confirmed"),
            Exit::Unknown,
        ),
    ] {
        let mut leader = healthy(1, 4);
        let expected = format!("{:?}: {}", refused.code(), refused.message());
        leader.no_change = Some(refused);
        let (group, admins) = group(vec![leader]).await;
        let printed = lockstep(&["members", "remove", "x", "--admin", &admins]).await;
        let address = &group[0].address;
        assert_eq!(printed.exit, exit);
        assert_eq!(
            printed.notes,
            format!("lockstep members: {address} answers {expected}\n")
        );
    }
    let (_group, admins) = group(vec![healthy(2, 4)]).await;
    let printed = lockstep(&["members", "add", "x", "--admin", &admins]).await;
    assert_eq!(printed.exit, Exit::Unknown);
    assert_eq!(printed.notes, "no replica that answers leads\n");
}
