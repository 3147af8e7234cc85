//! `lockstep resolve` against replicas on real sockets.
use crate::stage::{
    Destination, Step, lockstep, no_endpoints, nobody, refusal, removed, set, start_proxy_port,
};
use lockstep_cli::Exit;
use serde_json::json;
use tonic::Status;

const WEB: &str = "web.shop.svc.cluster.local:80";

#[tokio::test]
async fn the_first_answer_is_a_table() {
    let two = set(&["10.0.0.1:8080", "10.0.0.22:8080"]);
    let destination = Destination::labelled(1, 12).with(WEB, &[vec![Step::say(12, &two)]]);
    let replica = start_proxy_port(destination).await;
    let printed = lockstep(&["resolve", WEB, "--address", &replica.address]).await;
    assert_eq!((printed.exit, printed.notes.as_str()), (Exit::Yes, ""));
    assert_eq!(
        printed.lines(),
        [
            "web.shop.svc.cluster.local:80  r12  2 endpoints  replica-1 (0000000000000001)  \
             digest 00000000000c  fresh",
            "all: namespace=shop,service=web",
            "ADDRESS         WEIGHT  ZONE  IDENTITY                                                    HINT  LABELS",
            "10.0.0.1:8080   10000   a     default.shop.serviceaccount.identity.linkerd.cluster.local  -     pod=web-0",
            "10.0.0.22:8080  10000   a     default.shop.serviceaccount.identity.linkerd.cluster.local  -     pod=web-1",
        ]
    );
}

#[tokio::test]
async fn the_first_answer_is_a_document() {
    let one = set(&["10.0.0.1:8080"]);
    // Committed while the stream opened: the digest in the headers is not that of the message.
    let destination = Destination::labelled(1, 12).with(WEB, &[vec![Step::say(13, &one)]]);
    let replica = start_proxy_port(destination).await;
    let printed = lockstep(&["resolve", WEB, "--address", &replica.address, "-o", "json"]).await;
    assert_eq!(
        printed.json(),
        json!({
            "authority": WEB,
            "replica": "0000000000000001",
            "name": "replica-1",
            "history": "00000000000000000000000000000001",
            "revision": 13,
            "digest": null,
            "stale": false,
            "age_ms": null,
            "source_stale": null,
            "exists": true,
            "endpoints": [{
                "address": "10.0.0.1:8080",
                "weight": 10000,
                "zone": "a",
                "identity": "default.shop.serviceaccount.identity.linkerd.cluster.local",
                "hint": null,
                "inbound_port": null,
                "authority_override": null,
                "labels": {"namespace": "shop", "service": "web", "pod": "web-0", "zone": "a"},
            }],
        })
    );
}

#[tokio::test]
async fn an_empty_service_and_no_service_are_told_apart() {
    for (exists, words) in [
        (true, "no endpoints (the service exists)"),
        (false, "no such service"),
    ] {
        let call = vec![Step::say(3, &no_endpoints(exists))];
        let destination = Destination::labelled(2, 3)
            .with(WEB, &[call])
            .with_label("lockstep-stale", "true");
        let replica = start_proxy_port(destination).await;
        let printed = lockstep(&["resolve", WEB, "--address", &replica.address]).await;
        let heading =
            format!("{WEB}  r3  {words}  replica-2 (0000000000000002)  digest 000000000003  stale");
        assert_eq!(printed.lines(), [heading]);
        assert_eq!(printed.exit, Exit::Yes);
    }
}

#[tokio::test]
async fn another_server_is_printed_without_labels() {
    let message = Step::Say(None, prost::Message::encode_to_vec(&set(&["[fd00::1]:80"])));
    let destination = Destination::default().with(WEB, &[vec![message]]);
    let replica = start_proxy_port(destination).await;
    let printed = lockstep(&["resolve", WEB, "--address", &replica.address]).await;
    let heading = format!("{WEB}  1 endpoint  {}", replica.address);
    assert_eq!(printed.lines().first(), Some(&heading.as_str()));
}

fn a_short_life() -> Destination {
    let call = vec![
        Step::say(11, &removed(&["10.0.0.9:80"])),
        Step::say(12, &set(&["10.0.0.1:80", "10.0.0.2:80"])),
        Step::say(13, &set(&["10.0.0.3:80"])),
        Step::say(14, &removed(&["10.0.0.1:80", "10.0.0.2:80"])),
        Step::say(15, &no_endpoints(true)),
        Step::End(Status::unavailable("the replica drains")),
    ];
    Destination::labelled(1, 11).with(WEB, &[call])
}

#[tokio::test]
async fn a_watch_does_not_say_that_a_service_exists_when_only_endpoints_left() {
    let call = vec![
        Step::say(12, &set(&["10.0.0.1:80"])),
        Step::say(13, &removed(&["10.0.0.1:80"])),
        Step::say(14, &no_endpoints(true)),
        Step::End(Status::ok("")),
    ];
    let replica = start_proxy_port(Destination::labelled(1, 12).with(WEB, &[call])).await;
    let printed = lockstep(&["resolve", WEB, "--watch", "--address", &replica.address]).await;
    assert_eq!(
        printed.lines()[2..],
        [
            "r12  1 endpoint",
            "r13  -  10.0.0.1:80",
            "r13  no endpoints",
            "r14  no endpoints (the service exists)",
        ]
    );
}

#[tokio::test]
async fn a_watch_prints_what_changes_and_how_it_ends() {
    let replica = start_proxy_port(a_short_life()).await;
    let printed = lockstep(&["resolve", WEB, "--watch", "--address", &replica.address]).await;
    let name = "default.shop.serviceaccount.identity.linkerd.cluster.local";
    assert_eq!(
        printed.lines(),
        [
            format!(
                "{WEB}  r11  updates  replica-1 (0000000000000001)  digest 00000000000b  fresh"
            ),
            "r11  ignored: a remove before the first answer".to_owned(),
            format!("r12  +  10.0.0.1:80  10000  a  {name}  -  pod=web-0"),
            format!("r12  +  10.0.0.2:80  10000  a  {name}  -  pod=web-1"),
            "r12  2 endpoints".to_owned(),
            format!("r13  +  10.0.0.3:80  10000  a  {name}  -  pod=web-0"),
            "r13  3 endpoints".to_owned(),
            "r14  -  10.0.0.1:80".to_owned(),
            "r14  -  10.0.0.2:80".to_owned(),
            "r14  1 endpoint".to_owned(),
            "r15  -  10.0.0.3:80".to_owned(),
            "r15  no endpoints (the service exists)".to_owned(),
        ]
    );
    let address = &replica.address;
    let notes = format!(
        "lockstep resolve: the stream ended: {address} answers Unavailable: the replica drains\n"
    );
    assert_eq!((printed.exit, printed.notes), (Exit::Unknown, notes));
}

#[tokio::test]
async fn a_watch_prints_an_object_for_each_update() {
    let replica = start_proxy_port(a_short_life()).await;
    let arguments = [
        "resolve",
        WEB,
        "--watch",
        "-o",
        "json",
        "--address",
        &replica.address,
    ];
    let printed = lockstep(&arguments).await;
    let lines: Vec<serde_json::Value> = printed
        .lines()
        .iter()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told: Vec<_> = lines
        .iter()
        .map(|line| {
            let added = line["added"].as_array().unwrap();
            let added: Vec<_> = added.iter().map(|endpoint| &endpoint["address"]).collect();
            json!([
                line["revision"],
                line["exists"],
                line["count"],
                added,
                line["removed"]
            ])
        })
        .collect();
    assert_eq!(
        told,
        [
            json!([11, null, 0, [], []]),
            json!([12, true, 2, ["10.0.0.1:80", "10.0.0.2:80"], []]),
            json!([13, true, 3, ["10.0.0.3:80"], []]),
            json!([14, true, 1, [], ["10.0.0.1:80", "10.0.0.2:80"]]),
            json!([15, true, 0, [], ["10.0.0.3:80"]]),
        ]
    );
    assert_eq!(lines[0]["ignored"], "a remove before the first answer");
}

#[tokio::test]
async fn a_refusal_is_printed_and_its_code_decides() {
    for (status, exit, words) in [
        (Status::not_found("why"), Exit::No, "NotFound: why"),
        (
            Status::invalid_argument("why"),
            Exit::No,
            "InvalidArgument: why",
        ),
        (
            Status::failed_precondition("why"),
            Exit::No,
            "FailedPrecondition: why",
        ),
        (
            Status::unavailable("why"),
            Exit::Unknown,
            "Unavailable: why",
        ),
    ] {
        let destination = Destination::default().with(WEB, &[vec![Step::End(status)]]);
        let replica = start_proxy_port(destination).await;
        let printed = lockstep(&["resolve", WEB, "--address", &replica.address]).await;
        let notes = format!("lockstep resolve: {} answers {words}\n", replica.address);
        assert_eq!((printed.exit, printed.notes), (exit, notes));
        assert_eq!(printed.out, "");
    }
}

#[tokio::test]
async fn who_is_not_there_or_silent_leaves_it_open() {
    let nobody = nobody().await;
    let printed = lockstep(&["resolve", WEB, "--address", &nobody]).await;
    let reason = format!("lockstep resolve: {nobody} cannot be reached: Connection refused");
    assert!(printed.notes.starts_with(&reason), "{}", printed.notes);
    assert_eq!(printed.exit, Exit::Unknown);

    let replica = start_proxy_port(Destination::default().with(WEB, &[vec![]])).await;
    let address = replica.address.as_str();
    let printed = lockstep(&["resolve", WEB, "--address", address, "--timeout", "50ms"]).await;
    let notes = format!("lockstep resolve: {address} did not answer within 50ms\n");
    assert_eq!((printed.exit, printed.notes), (Exit::Unknown, notes));
}

#[tokio::test]
async fn labels_of_another_form_are_refused() {
    let call = vec![Step::say(3, &no_endpoints(true))];
    let destination = Destination::labelled(2, 3)
        .with(WEB, &[call])
        .with_label("lockstep-revision", "many");
    let replica = start_proxy_port(destination).await;
    let printed = lockstep(&["resolve", WEB, "--address", &replica.address]).await;
    let notes = format!(
        "lockstep resolve: {} answers what cannot be read: header lockstep-revision: `many` is \
         not a revision such as `r41822`\n",
        replica.address
    );
    assert_eq!((printed.exit, printed.notes), (Exit::Unknown, notes));
}

#[tokio::test]
async fn all_replicas_are_compared() {
    let answer = |number, addresses: &[&str]| {
        Destination::labelled(number, 4).with(WEB, &[vec![Step::say(4, &set(addresses))]])
    };
    let one = start_proxy_port(answer(1, &["10.0.0.1:80"])).await;
    let two = start_proxy_port(answer(2, &["10.0.0.1:80"])).await;
    let three = start_proxy_port(answer(3, &["10.0.0.1:80", "10.0.0.2:80"])).await;

    let equal = format!("{},{}", one.address, two.address);
    let printed = lockstep(&["resolve", WEB, "--all", "--address", &equal]).await;
    assert_eq!(printed.exit, Exit::Yes);
    assert_eq!(printed.lines().last(), Some(&"2 answers at r4: equal"));

    let all = format!("{equal},{}", three.address);
    let printed = lockstep(&["resolve", WEB, "--all", "--address", &all, "-o", "json"]).await;
    let document = printed.json();
    assert_eq!(printed.exit, Exit::No);
    assert_eq!(document["verdict"], "different");
    assert_eq!(
        document["findings"],
        json!([
            "replica-1 and replica-3 answer differently at r4: 10.0.0.2:80 only on replica-3",
            "replica-2 and replica-3 answer differently at r4: 10.0.0.2:80 only on replica-3",
        ])
    );
}

#[tokio::test]
async fn a_replica_that_is_away_stands_in_the_table_of_all() {
    let call = vec![Step::say(4, &no_endpoints(true))];
    let one = start_proxy_port(Destination::labelled(1, 4).with(WEB, &[call])).await;
    let nobody = nobody().await;
    let both = format!("{},{nobody}", one.address);
    let printed = lockstep(&["resolve", WEB, "--all", "--address", &both]).await;
    assert_eq!(printed.exit, Exit::Unknown);
    let lines = printed.lines();
    assert_eq!(lines[0], WEB);
    assert!(
        lines[3].contains("unreachable: Connection refused"),
        "{}",
        lines[3]
    );
    assert!(
        lines[4].starts_with(&format!("{nobody} cannot be reached: ")),
        "{}",
        lines[4]
    );
}

#[test]
fn arguments_of_another_form_are_named_with_the_form() {
    assert_eq!(
        refusal(&["resolve", WEB, "--address", "127.0.0.1"]),
        "error: invalid value '127.0.0.1' for '--address <HOST:PORT>': `127.0.0.1` is not an \
         address: write HOST:PORT, such as 127.0.0.1:8086 or [::1]:8086"
    );
    assert_eq!(
        refusal(&["resolve", WEB, "--address", "127.0.0.1:1,a:0"]),
        "error: invalid value 'a:0' for '--address <HOST:PORT>': `a:0` has no port between 1 and \
         65535 after its host"
    );
    assert_eq!(
        refusal(&["resolve", WEB, "--timeout", "5"]),
        "error: invalid value '5' for '--timeout <TIME>': `5` is not a time from 1ms to 1h: write \
         a whole number with ms, s, m or h, such as 5s"
    );
    assert_eq!(
        refusal(&["resolve", WEB, "--all", "--watch"]),
        "error: the argument '--all' cannot be used with '--watch'"
    );
    assert_eq!(
        refusal(&["resolve", WEB, "-o", "yaml"]),
        "error: invalid value 'yaml' for '--output <FORMAT>'"
    );
}
