//! O10: a follower starts again, and reaches neither its leader nor the API server.

use std::fs;
use tonic::{Code, Status};

use super::{
    listener::{Listener, Said},
    wired::{Wired, at, path, put_service, put_slice},
};
use crate::harness::{
    eventually,
    proxy::{Proxy, Told},
};

const SERVICES: u16 = 50;

/// The one that changes while the follower is alone.
const CHANGED: u16 = 7;

fn name(number: u16) -> String {
    format!("service-{number}")
}

async fn fifty_services() -> Wired {
    let wired = Wired::start(&[], |sim| {
        for number in 1..=SERVICES {
            put_service(sim, &name(number));
            put_slice(sim, &name(number), &[number]);
        }
    })
    .await;
    wired.settled(&[0, 1, 2]).await;
    wired
}

/// Asks until there is an answer; until then nothing but a refusal that clients ask again after.
async fn first_answer(wired: &Wired, place: usize, service: u16) -> Told {
    let address = wired.fleet.proxies()[place];
    eventually("an answer", async || {
        // Before it listens there is no connection, which clients try again too.
        let proxy = Proxy::connect(address).await?;
        let told = proxy.get(&path(&name(service))).await;
        if let Err(refused) = &told {
            assert_retryable(refused);
        }
        told
    })
    .await
}

fn assert_retryable(refused: &Status) {
    assert_eq!(refused.code(), Code::Unavailable, "{refused:?}");
}

async fn assert_ready(wired: &Wired, place: usize) {
    eventually("ready and fresh", async || {
        let said = wired.ready(place).await;
        let fresh = said.contains(" 200 ") && said.contains("ok: fresh");
        fresh.then_some(()).ok_or(said)
    })
    .await;
}

/// With its disk it serves what it had, and says that it is stale; once it is back it tells its
/// clients the difference and nothing else.
pub async fn a_follower_that_starts_alone_serves_what_it_had_and_says_so() {
    let mut wired = fifty_services().await;
    let leads = wired.leader_of(&[0, 1, 2]).await;
    let alone = (leads + 1) % 3;
    let others = [leads, (leads + 2) % 3];
    let before = Proxy::connect(wired.fleet.proxies()[alone]).await.unwrap();
    let before = before.get(&path(&name(CHANGED))).await.unwrap();
    assert!(!before.stale);

    wired.fleet.kill(alone);
    wired.cut_off(alone);
    wired.fleet.restart_watched(alone);
    for service in 1..=SERVICES {
        let told = first_answer(&wired, alone, service).await;
        assert!(told.stale, "{told:?}");
        assert_eq!(told.set, at(&[service]));
        let position = |told: &Told| (told.revision, told.digest.clone(), told.history.clone());
        assert_eq!(position(&told), position(&before));
    }
    // It sees nobody who is fresher, so by the table it is ready, and says what it is.
    let said = wired.ready(alone).await;
    assert!(
        said.ends_with(
            "ok: stale: no leader has confirmed within the limit how far the group is\n"
        ),
        "{said}"
    );

    let (on_alone, on_leader) = (wired.client(alone).await, wired.client(leads).await);
    let mut streams = Vec::new();
    for service in [CHANGED, CHANGED + 1] {
        for channel in [&on_alone, &on_leader] {
            let mut listener = Listener::new(channel, &path(&name(service)), "");
            listener.open().await.unwrap();
            assert_eq!(
                Said::from(&listener.next().await),
                Said::Added(at(&[service]))
            );
            streams.push(listener);
        }
    }
    // What changes meanwhile is known to the others only.
    put_slice(wired.sim(), &name(CHANGED), &[CHANGED, 1000]);
    wired.settled(&others).await;
    let still = first_answer(&wired, alone, CHANGED).await;
    assert_eq!((still.set, still.stale), (at(&[CHANGED]), true));

    wired.heal(alone);
    assert_ready(&wired, alone).await;
    let changed = Said::Added(at(&[1000]));
    for listener in &mut streams[..2] {
        assert_eq!(Said::from(&listener.next().await), changed);
    }
    assert_eq!(streams[0].held(), streams[1].held());
    // Nothing was told of the other service: the next thing is the next change of it.
    put_slice(wired.sim(), &name(CHANGED + 1), &[CHANGED + 1, 1001]);
    for listener in &mut streams[2..] {
        let added = Said::from(&listener.next().await);
        assert_eq!(added, Said::Added(at(&[1001])));
    }
    assert_eq!(streams[2].held(), streams[3].held());
}

/// Without its disk it knows nothing, and says neither that there is nothing nor that something
/// does not exist.
pub async fn a_follower_that_starts_alone_and_empty_refuses_until_it_is_back() {
    let mut wired = fifty_services().await;
    let leads = wired.leader_of(&[0, 1, 2]).await;
    let alone = (leads + 1) % 3;
    wired.fleet.kill(alone);
    wired.cut_off(alone);
    fs::remove_dir_all(wired.fleet.data(alone)).unwrap();
    wired.fleet.restart_watched(alone);
    let said = eventually("an answer of the operators' port", async || {
        match tokio::net::TcpStream::connect(wired.fleet.admins()[alone]).await {
            Ok(_) => Ok(wired.ready(alone).await),
            Err(error) => Err(error),
        }
    })
    .await;
    assert!(said.contains(" 503 "), "{said}");
    let proxy = wired.fleet.proxies()[alone];
    let proxy = eventually("a connection", async || Proxy::connect(proxy).await).await;
    for service in ["service-1", "service-50", "no-such-service"] {
        let refused = proxy.get(&path(service)).await.unwrap_err();
        assert_retryable(&refused);
        let refused = proxy.profile(&path(service)).await.unwrap_err();
        assert_retryable(&refused);
    }

    wired.heal(alone);
    assert_ready(&wired, alone).await;
    let told = first_answer(&wired, alone, 50).await;
    assert_eq!((told.set, told.stale), (at(&[50]), false));
    let on_leader = Proxy::connect(wired.fleet.proxies()[leads]).await.unwrap();
    let on_leader = on_leader.get(&path(&name(50))).await.unwrap();
    assert_eq!(
        (told.digest, told.history),
        (on_leader.digest, on_leader.history)
    );
}
