//! `lockstep check` against replicas on real sockets.
use crate::stage::{
    Call, Destination, Printed, Replica, Says, Step, healthy, lockstep, no_endpoints, nobody,
    position, refusal, set, start,
};
use lockstep_cli::Exit;
use lockstep_proto::admin::v1::{AuditReply, Expected};
use serde_json::json;
use tonic::Status;

const WEB: &str = "web.shop.svc.cluster.local:80";
const IDLE: &str = "idle.shop.svc.cluster.local:80";
const BOTH: [&str; 2] = ["10.0.0.1:80", "10.0.0.2:80"];

fn audit(differences: &[&str]) -> AuditReply {
    let expected = [(IDLE, [].as_slice()), (WEB, BOTH.as_slice())];
    let expected = expected.map(|(authority, addresses)| Expected {
        authority: authority.to_owned(),
        addresses: addresses.iter().map(ToString::to_string).collect(),
    });
    AuditReply {
        differences: differences.iter().map(ToString::to_string).collect(),
        expected: expected.into(),
        ..AuditReply::default()
    }
}

fn says(number: u64) -> Says {
    let mut says = healthy(number, 4);
    if number == 1 {
        says.audits = [Ok(audit(&[]))].into();
    }
    says
}

/// Answers for web with these calls, one after the other.
fn answering(number: u64, calls: &[Call]) -> Destination {
    let idle = vec![Step::say(4, &no_endpoints(true))];
    Destination::labelled(number, 4)
        .with(IDLE, &[idle])
        .with(WEB, calls)
}

fn right() -> Call {
    vec![Step::say(4, &set(&BOTH))]
}

fn wrong() -> Call {
    vec![Step::say(4, &set(&["10.0.0.1:80", "10.0.0.3:80"]))]
}

async fn check(replicas: &[Replica], more: &[&str]) -> Printed {
    let addresses: Vec<_> = replicas
        .iter()
        .map(|replica| replica.address.as_str())
        .collect();
    let admins = addresses.join(",");
    let mut arguments = vec!["check", "--admin", &admins];
    arguments.extend(more);
    lockstep(&arguments).await
}

async fn group(third: (Says, Destination)) -> [Replica; 3] {
    let (says_3, destination_3) = third;
    [
        start(says(1), answering(1, &[right()])).await,
        start(says(2), answering(2, &[right()])).await,
        start(says_3, destination_3).await,
    ]
}

#[tokio::test]
async fn a_group_that_equals_the_source_is_one_line() {
    let group = group((says(3), answering(3, &[right()]))).await;
    let printed = check(&group, &[]).await;
    assert_eq!((printed.exit, printed.notes.as_str()), (Exit::Yes, ""));
    assert_eq!(
        printed.lines(),
        [
            "3 replicas at r4, digest 000000000004: agree; 2 services with 2 endpoints: equal to the \
          source"
        ]
    );
}

#[tokio::test]
async fn a_replica_with_another_past_is_named_with_the_guarantee() {
    let mut third = says(3);
    // Equal today, different two revisions ago: only the past shows it.
    third.digests[1] = position(2, 9);
    let group = group((third, answering(3, &[right()]))).await;
    let printed = check(&group, &[]).await;
    assert_eq!(printed.exit, Exit::No);
    assert_eq!(
        printed.lines(),
        [
            "agreement is broken: Two replicas at the same revision hold the same state, shown by \
             the same digest, whatever restarts, snapshots and versions lie behind.",
            "  r2: state 00000000000200000000000000000000, path 00000000000000000000000000000000 \
             on replica-1, replica-2; state 00000000000200000000000000000009, path \
             00000000000000000000000000000009 on replica-3",
            "3 replicas at r4, digest 000000000004: disagree; 2 services with 2 endpoints: equal \
             to the source",
        ]
    );
}

#[tokio::test]
async fn an_answer_that_stays_wrong_is_named() {
    let group = group((says(3), answering(3, &[wrong()]))).await;
    let printed = check(&group, &["-o", "json"]).await;
    assert_eq!(printed.exit, Exit::No);
    let document = printed.json();
    assert_eq!(document["verdict"], "different");
    assert_eq!(
        document["answers"],
        json!([{
            "replica": "replica-3",
            "authority": WEB,
            "missing": ["10.0.0.2:80"],
            "unexpected": ["10.0.0.3:80"],
            "said": "2 endpoints",
        }])
    );
    assert_eq!(
        json!([document["services"], document["endpoints"]]),
        json!([2, 2])
    );
}

#[tokio::test]
async fn an_answer_that_was_only_late_is_no_difference() {
    let group = group((says(3), answering(3, &[wrong(), right()]))).await;
    assert_eq!(check(&group, &[]).await.exit, Exit::Yes);
}

#[tokio::test]
async fn only_a_difference_that_every_audit_sees_is_reported() {
    let lasting = "service shop/web has no port 81";
    let mut leader = says(1);
    leader.audits = [
        Ok(audit(&["service shop/new is not committed", lasting])),
        Ok(audit(&[lasting])),
    ]
    .into();
    let replica = start(leader, answering(1, &[right()])).await;
    let printed = check(&[replica], &[]).await;
    assert_eq!(printed.exit, Exit::No);
    assert_eq!(
        printed.lines(),
        [
            "convergence is broken: Once Kubernetes is quiet, what every client was told equals \
             what Kubernetes holds.",
            "  service shop/web has no port 81",
            "1 replica at r4, digest 000000000004: agree; 2 services with 2 endpoints: 1 \
             difference from the source",
        ]
    );
}

#[tokio::test]
async fn a_replica_that_is_away_leaves_it_open() {
    let replica = start(says(1), answering(1, &[right()])).await;
    let nobody = nobody().await;
    let printed = check(&[replica], &["--admin", &nobody]).await;
    assert_eq!(printed.exit, Exit::Unknown);
    let lines = printed.lines();
    assert_eq!(lines[0], "could not be found out:");
    assert!(
        lines[1].starts_with(&format!("  {nobody} cannot be reached: ")),
        "{}",
        lines[1]
    );
    assert_eq!(
        lines[2],
        "1 replica at r4, digest 000000000004 (1 silent): agree; 2 services with 2 endpoints: \
         equal to the source as far as known"
    );
}

#[tokio::test]
async fn a_proxy_port_that_is_away_leaves_it_open() {
    let mut third = says(3);
    third.status.proxy_address = nobody().await;
    let group = group((third, Destination::default())).await;
    let printed = check(&group, &[]).await;
    assert_eq!(printed.exit, Exit::Unknown);
    assert!(
        printed.lines()[1].starts_with("  2 questions without an answer: "),
        "{}",
        printed.out
    );
}

#[tokio::test]
async fn a_proxy_port_that_is_silent_leaves_it_open() {
    let silent = Destination::default()
        .with(IDLE, &[vec![]])
        .with(WEB, &[vec![]]);
    let group = group((says(3), silent)).await;
    let printed = check(&group, &["--timeout", "100ms"]).await;
    assert_eq!(printed.exit, Exit::Unknown);
    let finding = format!(
        "  2 questions without an answer: {} did not answer within 100ms",
        group[2].address
    );
    assert_eq!(printed.lines()[1], finding);
}

#[tokio::test]
async fn a_proxy_port_of_another_form_is_named() {
    let mut third = says(3);
    third.status.proxy_address = "nowhere".to_owned();
    let group = group((third, Destination::default())).await;
    let printed = check(&group, &[]).await;
    assert_eq!(
        printed.lines()[1],
        "  replica-3 reports its proxy port: `nowhere` is not an address: write HOST:PORT, such as \
         127.0.0.1:8086 or [::1]:8086"
    );
}

#[tokio::test]
async fn without_a_leader_the_source_is_not_compared() {
    let replica = start(says(2), answering(2, &[right()])).await;
    let address = replica.address.clone();
    let printed = check(&[replica], &[]).await;
    assert_eq!(printed.exit, Exit::Unknown);
    assert_eq!(
        printed.lines(),
        [
            "could not be found out:".to_owned(),
            format!(
                "  no audit: {address} answers FailedPrecondition: only the leader audits; the \
                 leader is replica-1"
            ),
            "1 replica at r4, digest 000000000004: agree; not compared with the source".to_owned(),
        ]
    );
}

#[tokio::test]
async fn a_leader_that_is_away_later_leaves_differences_open() {
    let mut leader = says(1);
    leader.audits = [
        Ok(audit(&["one"])),
        Err(Status::unavailable("listing failed")),
    ]
    .into();
    let replica = start(leader, answering(1, &[right()])).await;
    let address = replica.address.clone();
    let printed = check(&[replica], &[]).await;
    assert_eq!(printed.exit, Exit::Unknown);
    assert_eq!(
        printed.lines()[1..3],
        [
            "  differences were seen and could not be confirmed".to_owned(),
            format!("  no audit: {address} answers Unavailable: listing failed"),
        ]
    );
}

#[test]
fn arguments_of_another_form_are_named_with_the_form() {
    assert_eq!(
        refusal(&["check", "--address", "x"]),
        "error: invalid value 'x' for '--address <HOST:PORT>': `x` is not an address: write \
         HOST:PORT, such as 127.0.0.1:8086 or [::1]:8086"
    );
}
