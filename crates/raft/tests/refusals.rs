//! What a replica refuses: strangers, contradictions, and folders it cannot trust.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod group;

use group::{Group, chain, flip, start};
use lockstep_position::HistoryId;
use lockstep_proto::peer::v1 as wire;
use lockstep_proto::peer::v1::peer_client::PeerClient;
use lockstep_raft::{Compaction, Config, Limits};
use std::time::Duration;
use tonic::Code;

const ADVICE: &str = "move the folder away and start again: the replica then comes back empty and \
                      rejoins under a new id, as long as a majority of the group is up without it";

async fn stopped(size: usize) -> Group {
    Group::prepare(size, Compaction::default(), Limits::default()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn another_cluster_and_another_replica_are_refused_by_name() {
    let group = Group::start(1).await;
    let node = &group.replica(0).node;
    let url = format!("http://{}", group.listen[0]);
    let mut client = PeerClient::connect(url).await.unwrap();
    let route = |cluster: &str, to: u64| wire::Route {
        cluster: cluster.to_owned(),
        from: 99,
        to,
        history: Vec::new().into(),
    };

    let hello = |route| wire::HelloRequest { route: Some(route) };
    let status = client.hello(hello(route("test", 0))).await.unwrap_err();
    assert_eq!(status.code(), Code::FailedPrecondition);
    assert_eq!(
        status.message(),
        "replica `replica-1` belongs to cluster `prod`, not to `test`"
    );

    let append = |route| wire::AppendRequest {
        route: Some(route),
        ballot: Some(wire::Ballot {
            term: 1_000,
            candidate: 99,
            committed: true,
        }),
        ..wire::AppendRequest::default()
    };
    for (route, wanted) in [
        (
            route("test", node.id().as_u64()),
            "replica `replica-1` belongs to cluster `prod`, not to `test`".to_owned(),
        ),
        (
            route("prod", 5),
            format!("replica `replica-1` is {}, not 0000000000000005", node.id()),
        ),
    ] {
        let requests = futures::stream::iter([append(route.clone())]);
        let mut answers = client.append(requests).await.unwrap().into_inner();
        let status = answers.message().await.unwrap_err();
        assert_eq!(
            (status.code(), status.message()),
            (Code::FailedPrecondition, &*wanted)
        );

        let vote = wire::VoteRequest {
            route: Some(route),
            ..wire::VoteRequest::default()
        };
        let status = client.vote(vote).await.unwrap_err();
        assert_eq!(
            (status.code(), status.message()),
            (Code::FailedPrecondition, &*wanted)
        );
    }
    // The term that a stranger claimed left no trace.
    assert!(node.role().borrow().term().as_u64() < 1_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_history_is_refused_and_the_own_one_lasts() {
    let mut group = Group::start(1).await;
    let (ours, theirs) = (HistoryId::from_u128(1), HistoryId::from_u128(2));
    let node = &group.replica(0).node;
    assert_eq!(node.history(), None);
    node.remember_history(ours).await.unwrap();
    node.remember_history(ours).await.unwrap();
    let error = node.remember_history(theirs).await.unwrap_err();
    let folder = group.data(0);
    assert_eq!(
        error.to_string(),
        format!(
            "{} belongs to history {ours}, not to {theirs}; {ADVICE}",
            folder.display()
        )
    );
    group.stop_one(0).await;
    group.start_one(0).await.unwrap();
    assert_eq!(group.replica(0).node.history(), Some(ours));

    let url = format!("http://{}", group.listen[0]);
    let mut client = PeerClient::connect(url).await.unwrap();
    let route = wire::Route {
        cluster: "prod".to_owned(),
        history: theirs.as_u128().to_be_bytes().to_vec().into(),
        ..wire::Route::default()
    };
    let request = wire::HelloRequest { route: Some(route) };
    let status = client.hello(request).await.unwrap_err();
    assert_eq!(
        status.message(),
        format!("replica `replica-1` belongs to history {ours}, not to {theirs}")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_of_another_cluster_is_not_bootstrapped_with() {
    let mut group = stopped(2).await;
    group.start_one(0).await.unwrap();
    let stranger = Config {
        cluster: "test".to_owned(),
        ..group.config(1)
    };
    let stranger = start(stranger).await.unwrap();
    let strange_id = stranger.node.id();
    stranger.stop().await.unwrap();
    assert!(!group.replica(0).node.is_bootstrapped());

    let error = group.start_one(1).await.unwrap_err();
    assert_eq!(
        chain(&error),
        format!(
            "the data folder cannot be used: {} belongs to cluster `test`, not to `prod`; choose \
             another folder, or {ADVICE}",
            group.data(1).display()
        )
    );
    std::fs::rename(group.data(1), group.folder.path().join("away")).unwrap();
    group.start_one(1).await.unwrap();
    let last = group.write("x").await;
    group.agree(last).await;
    let members = group.replica(0).node.status().members;
    assert_eq!(members.len(), 2);
    assert!(members.iter().all(|member| member.id != strange_id));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_folder_is_refused_with_what_to_do() {
    let mut group = Group::start(1).await;
    group.write(vec![1; 4_000]).await;
    group.stop_one(0).await;

    let identity = group.data(0).join("identity");
    let whole = std::fs::read(&identity).unwrap();
    flip(&identity, 3);
    let error = group.start_one(0).await.unwrap_err();
    assert_eq!(
        chain(&error),
        format!(
            "the data folder cannot be used: {} is damaged: its checksum does not match; {ADVICE}",
            identity.display()
        )
    );
    std::fs::write(&identity, whole).unwrap();

    let promise = group.data(0).join("promise");
    std::fs::remove_file(&promise).unwrap();
    let error = group.start_one(0).await.unwrap_err();
    assert_eq!(
        chain(&error),
        format!(
            "the data folder cannot be used: {} has lost data: `promise` is missing; it must not \
             vote again; {ADVICE}",
            group.data(0).display()
        )
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_has_one_user() {
    let group = Group::start(1).await;
    let error = start(Config {
        listen: lockstep_raft::Listen::Address("127.0.0.1:0".parse().unwrap()),
        ..group.config(0)
    })
    .await
    .err()
    .unwrap();
    assert_eq!(
        chain(&error),
        format!(
            "the data folder cannot be used: {} is in use by another process; stop that process \
             or choose another folder",
            group.data(0).display()
        )
    );
}

async fn refused(change: impl FnOnce(&mut Config)) -> String {
    let group = stopped(2).await;
    let mut config = group.config(0);
    change(&mut config);
    let error = start(config).await.err().unwrap();
    // Refused before anything was touched.
    assert!(!group.data(0).exists());
    error.to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn contradicting_names_are_refused() {
    assert_eq!(
        refused(|config| config.cluster = String::new()).await,
        "the cluster's name is 0 bytes long, not 1 to 63"
    );
    assert_eq!(
        refused(|config| config.name = "replica-9".to_owned()).await,
        "replica `replica-9` is not among the peers: replica-1, replica-2"
    );
    for address in [
        "",
        "replica-1",
        "replica-1:",
        "replica-1:0",
        ":4100",
        "a b:4100",
        "h:70000",
    ] {
        assert_eq!(
            refused(|config| config.peers[1].address = address.to_owned()).await,
            format!("the address of `replica-2` is `{address}`, not `host:port`")
        );
    }
    let twice = |config: &mut Config| {
        config.peers = vec![config.peers[0].clone(), config.peers[0].clone()];
    };
    assert_eq!(
        refused(twice).await,
        "replica `replica-1` is named twice among the peers"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn contradicting_numbers_are_refused() {
    let ms = Duration::from_millis;
    assert_eq!(
        refused(|config| config.timing.election_min = ms(299)).await,
        "the shortest election timeout is 299ms, not at least three heartbeats (300ms)"
    );
    assert_eq!(
        refused(|config| config.timing.election_max = ms(300)).await,
        "the longest election timeout is 300ms, not more than the shortest (300ms)"
    );
    assert_eq!(
        refused(|config| config.timing.heartbeat = ms(0)).await,
        "the heartbeat interval is 0ns, not at least 1 ms"
    );
    assert_eq!(
        refused(|config| config.limits.message_bytes_max = 1 << 20).await,
        "the message limit is 1048576 bytes, not at least 1114112 bytes to carry an entry or a \
         chunk"
    );
    assert_eq!(
        refused(|config| config.limits.entry_bytes_max = 0).await,
        "a limit is 0 bytes"
    );
    assert_eq!(
        refused(|config| config.compaction.snapshot_after_entries = 0).await,
        "snapshots are asked for after 0 entries, not at least 1"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_taken_address_is_named() {
    let group = stopped(1).await;
    let taken = tokio::net::TcpListener::bind(group.listen[0])
        .await
        .unwrap();
    let error = start(group.config(0)).await.err().unwrap();
    assert_eq!(
        error.to_string(),
        format!("cannot listen for peers on {}", taken.local_addr().unwrap())
    );
}
