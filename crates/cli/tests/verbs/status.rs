//! `lockstep status` against replicas on real sockets.
use crate::stage::{
    Destination, Replica, Says, healthy, lockstep, nobody, position, refusal, start,
};
use lockstep_cli::Exit;
use serde_json::json;

async fn group(says: Vec<Says>) -> (Vec<Replica>, String) {
    let mut replicas = Vec::new();
    for says in says {
        replicas.push(start(says, Destination::default()).await);
    }
    let addresses: Vec<_> = replicas
        .iter()
        .map(|replica| replica.address.as_str())
        .collect();
    let addresses = addresses.join(",");
    (replicas, addresses)
}

#[tokio::test]
async fn a_healthy_group_is_a_yes() {
    let (_group, admins) = group((1..=3).map(|number| healthy(number, 4)).collect()).await;
    let printed = lockstep(&["status", "--admin", &admins]).await;
    assert_eq!((printed.exit, printed.notes.as_str()), (Exit::Yes, ""));
    let lines = printed.lines();
    let words = |line: &str| {
        line.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(words(lines[0]), ["replica-1", "replica-2", "replica-3"]);
    assert_eq!(words(lines[4]), ["role", "leader", "follower", "follower"]);
    assert_eq!(words(lines[6]), ["revision", "r4", "r4", "r4"]);
}

#[tokio::test]
async fn a_document_holds_every_replica() {
    let (replicas, admins) = group(vec![healthy(1, 4), healthy(2, 3)]).await;
    let printed = lockstep(&["status", "--admin", &admins, "-o", "json"]).await;
    let document = printed.json();
    assert_eq!(document["verdict"], "ok");
    let second = &document["replicas"][1];
    assert_eq!(
        json!([
            second["address"],
            second["name"],
            second["role"],
            second["term"],
            second["error"]
        ]),
        json!([replicas[1].address, "replica-2", "follower", 2, null])
    );
    assert_eq!(json!([second["revision"], second["behind"]]), json!([3, 1]));
    assert_eq!(second["log"]["applied"], "T2-I3");
}

#[tokio::test]
async fn a_contradiction_is_a_no() {
    let mut other = healthy(2, 4);
    other.status.position = Some(position(4, 9));
    let (_group, admins) = group(vec![healthy(1, 4), other]).await;
    let printed = lockstep(&["status", "--admin", &admins]).await;
    assert_eq!(printed.exit, Exit::No);
    assert_eq!(
        printed.lines().last(),
        Some(
            &"replica-1 and replica-2 hold different states at r4: Two replicas at the same \
              revision hold the same state, shown by the same digest, whatever restarts, snapshots \
              and versions lie behind."
        )
    );
}

#[tokio::test]
async fn a_replica_that_is_away_is_a_column_and_leaves_it_open() {
    let (_group, admins) = group(vec![healthy(1, 4)]).await;
    let nobody = nobody().await;
    let printed = lockstep(&["status", "--admin", &admins, "--admin", &nobody]).await;
    assert_eq!(printed.exit, Exit::Unknown);
    let lines = printed.lines();
    assert!(lines[0].ends_with(&nobody), "{}", lines[0]);
    assert!(
        lines[4].contains("unreachable: Connection refused"),
        "{}",
        lines[4]
    );
}

#[tokio::test]
async fn a_digest_of_another_form_is_named() {
    let mut broken = healthy(1, 4);
    broken.status.position.as_mut().unwrap().state_digest = "zz".to_owned();
    let (_group, admins) = group(vec![broken]).await;
    let printed = lockstep(&["status", "--admin", &admins]).await;
    assert_eq!(printed.exit, Exit::Unknown);
    let finding =
        format!("{admins} answers what cannot be read: `zz` is not 32 hexadecimal digits");
    assert!(
        printed.lines().contains(&finding.as_str()),
        "{}",
        printed.out
    );
}

#[test]
fn arguments_of_another_form_are_named_with_the_form() {
    assert_eq!(
        refusal(&["status", "--admin", "9996"]),
        "error: invalid value '9996' for '--admin <HOST:PORT>': `9996` is not an address: write \
         HOST:PORT, such as 127.0.0.1:8086 or [::1]:8086"
    );
    assert_eq!(
        refusal(&["status", "--interval", "2h"]),
        "error: invalid value '2h' for '--interval <TIME>': `2h` is not a time from 1ms to 1h: \
         write a whole number with ms, s, m or h, such as 5s"
    );
}
