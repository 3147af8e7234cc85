//! How old its answers are, a replica says on many surfaces: all say the same, in each state.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod harness;

use harness::{
    agreed,
    api::Api,
    cluster::{NAMESPACE, Writer, ip},
    eventually, leader,
    links::Links,
    process::{Fleet, Signal},
    proxy::Proxy,
    scene::{MANY, Scene, addresses, open},
    surfaces::{
        self, FRESH, Ports, Row, SOURCE_STALE, STALE, STALE_AND_REFUSING, SYNCING, YIELDING, agree,
    },
};
use lockstep_raft::PeerAddress;
use std::time::Duration;

/// Longer than a copy counts as fresh.
const PAUSE: Duration = Duration::from_secs(4);

/// As long as the source may prove nothing.
const SOURCE_LIMIT: Duration = Duration::from_secs(30);

fn ports(fleet: &Fleet, place: usize) -> Ports {
    Ports {
        proxy: fleet.proxies()[place],
        admin: fleet.admins()[place],
    }
}

/// Waits until every surface of a replica says what the row says.
async fn all_say(fleet: &Fleet, place: usize, row: Row) {
    eventually(row.state, async || {
        agree(ports(fleet, place), MANY, &row).await
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_replica_with_an_empty_disk_refuses_and_one_with_its_own_serves_it_without_anybody() {
    let mut scene = Scene::prepared();
    // Nobody to make a group with, and a source that nobody asks.
    scene.fleet.restart(0);
    all_say(&scene.fleet, 0, SYNCING).await;
    scene.fleet.restart(1);
    scene.fleet.restart(2);
    let revision = scene.revision(1).await;
    for place in 0..3 {
        all_say(&scene.fleet, place, FRESH).await;
    }
    for place in 0..3 {
        scene.fleet.kill(place);
    }
    // The source has gone on, and there is no leader to read it.
    scene.write(2);
    scene.fleet.restart(2);
    all_say(&scene.fleet, 2, STALE).await;
    let told = Proxy::connect(scene.fleet.proxies()[2]).await.unwrap();
    let told = told.get(MANY).await.unwrap();
    assert_eq!((told.set, told.revision), (addresses(1), revision));
    assert!(told.stale);
    scene.fleet.kill(2);
    scene.fleet.set_flags(&["--staleness-policy=refuse"]);
    scene.fleet.restart(2);
    all_say(&scene.fleet, 2, STALE_AND_REFUSING).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_is_cut_off_goes_on_serving_and_says_so_until_it_is_back() {
    let mut scene = Scene::prepared();
    let links = scene.fleet.link().await;
    for place in 0..3 {
        scene.fleet.restart(place);
    }
    scene.revision(1).await;
    let leads = leader(&scene.fleet.admins()).await;
    let follower = (leads + 1) % 3;
    let mut stream = open(scene.fleet.proxies()[follower]).await;
    links.set_isolated(follower, true);
    all_say(&scene.fleet, follower, STALE).await;
    // What it does not know it does not tell, and nobody is turned away.
    scene.write(2);
    let rest = [leads, (leads + 2) % 3].map(|place| scene.fleet.admins()[place]);
    agreed(&rest, 2).await;
    let told = Proxy::connect(scene.fleet.proxies()[follower])
        .await
        .unwrap();
    assert_eq!(told.get(MANY).await.unwrap().set, addresses(1));
    links.set_isolated(follower, false);
    // The same stream goes on from where it was.
    stream.until(&addresses(2)).await;
    all_say(&scene.fleet, follower, FRESH).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_sees_a_fresher_one_leaves_its_clients_to_it() {
    let mut scene = Scene::prepared();
    let links = scene.fleet.link().await;
    for place in 0..3 {
        scene.fleet.restart(place);
    }
    scene.revision(1).await;
    let leads = leader(&scene.fleet.admins()).await;
    let (cut, other) = ((leads + 1) % 3, (leads + 2) % 3);
    let mut stream = open(scene.fleet.proxies()[cut]).await;
    links.set_apart(cut, leads, true);
    all_say(&scene.fleet, cut, YIELDING).await;
    all_say(&scene.fleet, other, FRESH).await;
    links.set_apart(cut, leads, false);
    all_say(&scene.fleet, cut, FRESH).await;
    // It came back before its streams had to leave.
    scene.write(2);
    stream.until(&addresses(2)).await;
}

/// What a process knew before it was paused it knows no more. Nothing of what it
/// says when it goes on may be marked fresh, until it has asked anew: here it
/// can ask nobody, and the questions have waited for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_that_a_paused_replica_says_is_marked_fresh_before_it_has_asked_anew() {
    let mut scene = Scene::prepared();
    let links = scene.fleet.link().await;
    for place in 0..3 {
        scene.fleet.restart(place);
    }
    scene.revision(1).await;
    for role in 0..2 {
        let leads = leader(&scene.fleet.admins()).await;
        let paused = (leads + role) % 3;
        all_say(&scene.fleet, paused, FRESH).await;
        scene.fleet.signal(paused, Signal::STOP);
        links.set_isolated(paused, true);
        let at = ports(&scene.fleet, paused);
        let asked: Vec<_> = (0..20)
            .map(|_| tokio::spawn(surfaces::look(at, MANY)))
            .collect();
        tokio::time::sleep(PAUSE).await;
        scene.fleet.signal(paused, Signal::CONT);
        for asked in asked {
            for (surface, said) in asked.await.unwrap().unwrap() {
                assert_ne!(said.stale, Some(false), "{surface}: {said:?}");
                assert_ne!(said.state.as_deref(), Some("fresh"), "{surface}: {said:?}");
            }
        }
        links.set_isolated(paused, false);
        all_say(&scene.fleet, paused, FRESH).await;
    }
}

/// A way to an API server on which bytes stop while connections stay open, and
/// the kubeconfig that leads there.
async fn link_to(api: &Api) -> (Links, String) {
    let text = std::fs::read_to_string(api.kubeconfig()).unwrap();
    let (_, rest) = text.split_once("127.0.0.1:").unwrap();
    let port: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let server = format!("127.0.0.1:{port}");
    let address = server.parse().unwrap();
    let links = Links::between(&[address, address]).await;
    let peer = PeerAddress {
        name: String::new(),
        address: server.clone(),
    };
    let near = links.seen_from(0, &[peer.clone(), peer])[1].address.clone();
    let linked = api.folder().join("linked");
    std::fs::write(&linked, text.replace(&server, &near)).unwrap();
    (links, linked.to_str().unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_that_fell_silent_is_known_to_every_replica() {
    let api = Api::simulated().await;
    let writer = Writer::new(api.client().await);
    writer.ground().await;
    writer.service("web").await;
    let uid = writer.pod("web-0", ip(1)).await;
    writer
        .slice("web-1", "web", &[("web-0".to_owned(), uid, ip(1))])
        .await;
    let (links, kubeconfig) = link_to(&api).await;
    let data = api.folder().join("data");
    let fleet = Fleet::start(&data, &["--kubeconfig", &kubeconfig], &[]);
    agreed(&fleet.admins(), 1).await;
    let path = format!("web.{NAMESPACE}.svc.cluster.local:80");
    let all_say = async |row: &Row| {
        for place in 0..3 {
            let at = ports(&fleet, place);
            eventually(row.state, async || agree(at, &path, row).await).await;
        }
    };
    all_say(&FRESH).await;
    links.set_apart(0, 1, true);
    // Half a minute passes without a proof, which is the limit.
    tokio::time::sleep(SOURCE_LIMIT).await;
    all_say(&SOURCE_STALE).await;
    links.set_apart(0, 1, false);
    all_say(&FRESH).await;
}
