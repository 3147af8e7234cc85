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
    scene::{Scene, addresses, open},
    status, transfer,
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
