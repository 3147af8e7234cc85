//! `lockstep members` against replicas on real sockets.
use crate::stage::{Destination, Replica, Says, healthy, lockstep, nobody, start};
use lockstep_cli::Exit;
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
