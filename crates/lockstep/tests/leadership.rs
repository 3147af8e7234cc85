//! Who leads, as processes: handed over on request, on the way out, and lost.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod harness;

use harness::{
    eventually, leader,
    process::Signal,
    scene::{Scene, addresses, open},
    settled, status, transfer,
};
use tonic::Code;

const NAMES: [&str; 3] = ["a", "b", "c"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_lead_moves_on_request_and_every_stream_goes_on() {
    let scene = Scene::new(&[]);
    scene.revision(1).await;
    let mut streams = Vec::new();
    for proxy in scene.fleet.proxies() {
        streams.push(open(proxy).await);
    }
    let admins = scene.fleet.admins();
    let old = leader(&admins).await;
    let to = (old + 1) % 3;
    let moved = eventually("a hand-over", async || {
        transfer(admins[old], NAMES[to]).await
    })
    .await;
    assert_eq!(moved.from, NAMES[old]);
    assert_ne!(moved.to, moved.from);
    let new = leader(&admins).await;
    assert_ne!(new, old);
    // The new one follows the source, and the very streams of before tell what it sees.
    scene.write(2);
    for stream in &mut streams {
        stream.until(&addresses(2)).await;
    }
    // Whoever does not lead says who does.
    let refused = transfer(admins[old], "").await.unwrap_err();
    assert_eq!(refused.code(), Code::FailedPrecondition);
    assert!(
        refused
            .message()
            .starts_with("only the leader hands over the lead; the leader is ")
    );
    let leads = leader(&admins).await;
    let refused = transfer(admins[leads], "d").await.unwrap_err();
    let others: Vec<&str> = NAMES
        .into_iter()
        .filter(|name| *name != NAMES[leads])
        .collect();
    assert_eq!(refused.code(), Code::NotFound);
    assert_eq!(
        refused.message(),
        format!(
            "no member is called `d`; the other voters are {}",
            others.join(", ")
        )
    );
    assert_eq!(status(admins[leads]).await.unwrap().name, NAMES[leads]);
}

/// What a replica said of its end, without its times.
fn steps(said: &str) -> Vec<&str> {
    let told = [
        "stopping: not ready any more",
        "the lead was handed over",
        "streams and requests have ended",
        "INFO stopped",
    ];
    let told_in = |line: &str| told.iter().find(|step| line.contains(**step)).copied();
    said.lines().filter_map(told_in).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_is_asked_to_end_hands_over_first() {
    let mut scene = Scene::watched(&["--log-level=info"]);
    scene.revision(1).await;
    let admins = scene.fleet.admins();
    let leads = leader(&admins).await;
    let term = status(admins[leads]).await.unwrap().term;
    let others = [(leads + 1) % 3, (leads + 2) % 3];
    let mut streams = Vec::new();
    for other in others {
        streams.push(open(scene.fleet.proxies()[other]).await);
    }
    let mut own = open(scene.fleet.proxies()[leads]).await;
    let (end, said) = scene.fleet.terminate(leads);
    assert!(end.success(), "{end}: {said}");
    assert_eq!(
        steps(&said),
        [
            "stopping: not ready any more",
            "the lead was handed over",
            "streams and requests have ended",
            "INFO stopped",
        ],
        "{said}"
    );
    // Its own streams end well; those of the others tell what the new leader sees.
    let ended = own.next().await.unwrap_err();
    assert_eq!(
        (ended.code(), ended.message()),
        (Code::Unavailable, "the stream ended")
    );
    scene.write(2);
    for stream in &mut streams {
        stream.until(&addresses(2)).await;
    }
    let new = leader(&others.map(|other| admins[other])).await;
    assert!(status(admins[others[new]]).await.unwrap().term > term);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_follower_that_is_asked_to_end_leaves_the_lead_where_it_is() {
    let mut scene = Scene::watched(&["--log-level=info"]);
    scene.revision(1).await;
    let admins = scene.fleet.admins();
    let leads = leader(&admins).await;
    let follower = (leads + 1) % 3;
    let (end, said) = scene.fleet.terminate(follower);
    assert!(end.success(), "{end}: {said}");
    assert_eq!(
        steps(&said),
        [
            "stopping: not ready any more",
            "streams and requests have ended",
            "INFO stopped"
        ],
        "{said}"
    );
    scene.write(2);
    let mut stream = open(scene.fleet.proxies()[(leads + 2) % 3]).await;
    stream.until(&addresses(2)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_three_may_be_asked_to_end_at_once() {
    let mut scene = Scene::watched(&["--log-level=info"]);
    scene.revision(1).await;
    for place in 0..3 {
        scene.fleet.signal(place, Signal::TERM);
    }
    for place in 0..3 {
        let (end, said) =
            eventually("an end", async || scene.fleet.ended(place).ok_or("none")).await;
        assert!(end.success(), "{end}: {said}");
    }
}

/// A process that was stopped in the middle of its work knows nothing of the
/// election that it missed, and has changes of its own to propose.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_was_paused_publishes_nothing_when_it_goes_on() {
    let scene = Scene::new(&[]);
    scene.revision(1).await;
    let admins = scene.fleet.admins();
    for round in 0_u8..3 {
        let paused = leader(&admins).await;
        let (first, last) = (3 * round + 2, 3 * round + 4);
        let mut on_paused = open(scene.fleet.proxies()[paused]).await;
        let others = [(paused + 1) % 3, (paused + 2) % 3];
        let running = others.map(|other| admins[other]);
        let mut stream = open(scene.fleet.proxies()[others[0]]).await;
        // Perhaps it is on its way into the log when the process stops.
        scene.write(first);
        scene.fleet.signal(paused, Signal::STOP);
        scene.write(last);
        let new = others[leader(&running).await];
        stream.until(&addresses(last)).await;
        let before = settled(&running).await;
        scene.fleet.signal(paused, Signal::CONT);
        // The old leader's stream goes on as well, over what it missed.
        on_paused.until(&addresses(last)).await;
        eventually("the old leader to follow", async || {
            let status = status(admins[paused]).await?;
            let leads = status.leader.is_empty() || status.leader == status.replica;
            (!leads).then_some(()).ok_or(status.leader)
        })
        .await;
        // One revision more would be a batch of the old leader.
        let after = settled(&admins).await;
        assert_eq!(
            after, before,
            "round {round}: {paused} was paused, {new} leads"
        );
        assert_eq!(stream.told, Some(addresses(last)));
    }
}
