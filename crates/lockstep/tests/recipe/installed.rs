//! O11: a follower with clients is cut off for longer than the log reaches back, and gets a
//! snapshot in its place.

use lockstep_simapi::SimApi;
use std::collections::BTreeSet;
use tonic::transport::Channel;

use super::{
    listener::{Listener, Said},
    wired::{Wired, at, delete_service, path, put_service, put_slice, put_slice_at},
};
use crate::harness::{agreed, eventually, status};

const SERVICES: u16 = 1000;
const CLIENTS: u16 = 500;

/// A service that nobody asks about, to fill the log with.
const NOISE: u16 = SERVICES;

/// More changes than a log of `--snapshot-after=20 --snapshot-keep=3` holds.
const ROUNDS: u16 = 60;

/// What passes of a snapshot before its follower is killed. Unit: bytes.
const PART: u64 = 48 << 10;

const REMOVED: u16 = 1;
const EMPTIED: u16 = 2;
const GIVES: u16 = 3;
const TAKES: u16 = 4;
const MOVED_PORT: u16 = 5;

fn name(number: u16) -> String {
    format!("service-{number}")
}

/// A client for each of the first services, by number from 1.
struct Clients(Vec<Listener>);

impl Clients {
    fn on(channel: &Channel) -> Self {
        let client = |number| Listener::new(channel, &path(&name(number)), "");
        Self((1..=CLIENTS).map(client).collect())
    }

    async fn open(&mut self) {
        for listener in &mut self.0 {
            listener.open().await.unwrap();
            listener.next().await;
        }
    }

    fn of(&mut self, number: u16) -> &mut Listener {
        &mut self.0[usize::from(number) - 1]
    }

    fn sets(&self) -> Vec<Option<BTreeSet<std::net::SocketAddr>>> {
        self.0.iter().map(Listener::addresses).collect()
    }
}

/// What happens while the follower is away.
fn happens(sim: &SimApi) {
    delete_service(sim, &name(REMOVED));
    put_slice(sim, &name(EMPTIED), &[]);
    put_slice(sim, &name(GIVES), &[2000]);
    put_slice(sim, &name(TAKES), &[TAKES, GIVES]);
    put_slice_at(sim, &name(MOVED_PORT), &[MOVED_PORT], 9090);
}

/// More revisions than the log keeps, until the others have forgotten all that the one at `away`
/// has.
async fn outgrow(wired: &Wired, away: usize, round: u16) {
    let others: Vec<usize> = (0..3).filter(|place| *place != away).collect();
    let admins: Vec<_> = others.iter().map(|at| wired.fleet.admins()[*at]).collect();
    let mut revision = agreed(&admins, 1).await.revision;
    let last = status(wired.fleet.admins()[away]).await.unwrap();
    let last = last.log.unwrap().last.unwrap().index;
    for number in 0..ROUNDS {
        put_slice(wired.sim(), &name(NOISE), &[3000 + round * ROUNDS + number]);
        revision = agreed(&admins, revision + 1).await.revision;
    }
    for admin in admins {
        eventually("a log that begins later", async || {
            let purged = status(admin).await?.log.and_then(|log| log.purged);
            let purged = purged.map_or(0, |purged| purged.index);
            (purged > last)
                .then_some(())
                .ok_or(format!("{purged}, not {last}"))
        })
        .await;
    }
}

/// Everything but what changed was told nothing; what changed, its difference, in one message
/// or in an addition and a removal, and never nothing at all in between.
async fn hear_the_differences(clients: &mut Clients) {
    let said = |update| Said::from(&update);
    let gone = |number| Said::Removed(at(&[number]));
    for number in [REMOVED, EMPTIED] {
        assert_eq!(said(clients.of(number).next().await), gone(number));
    }
    let gives = clients.of(GIVES);
    assert_eq!(said(gives.next().await), Said::Added(at(&[2000])));
    assert_eq!(said(gives.next().await), gone(GIVES));
    let takes = clients.of(TAKES).next().await;
    assert_eq!(said(takes), Said::Added(at(&[GIVES])));
    let moved = clients.of(MOVED_PORT);
    let at_9090 = at(&[MOVED_PORT]).into_iter().map(|mut address| {
        address.set_port(9090);
        address
    });
    assert_eq!(said(moved.next().await), Said::Added(at_9090.collect()));
    assert_eq!(said(moved.next().await), gone(MOVED_PORT));
}

/// The next thing that each client hears is this, so it heard nothing before.
async fn hear_one_more(wired: &Wired, clients: &mut Clients, number: u16) {
    for service in TAKES + 2..=CLIENTS {
        put_slice(wired.sim(), &name(service), &[service, number + service]);
    }
    for service in TAKES + 2..=CLIENTS {
        let update = clients.of(service).next().await;
        assert_eq!(
            Said::from(&update),
            Said::Added(at(&[number + service])),
            "{service}"
        );
    }
}

/// Asks the leader anew, and compares what everybody holds.
async fn assert_as_on_the_leader(wired: &Wired, clients: &mut Clients) {
    let leads = wired.leader_of(&[0, 1, 2]).await;
    let mut fresh = Clients::on(&wired.client(leads).await);
    for number in 1..=CLIENTS {
        // Nobody can be told of a service that is gone, but those who were connected.
        if number != REMOVED {
            let listener = fresh.of(number);
            listener.open().await.unwrap();
            listener.next().await;
        }
    }
    fresh.of(REMOVED).hang_up();
    assert_eq!(clients.sets()[1..], fresh.sets()[1..]);
    assert_eq!(clients.of(REMOVED).addresses(), Some(BTreeSet::new()));
}

pub async fn an_install_tells_live_streams_the_difference_and_nothing_else() {
    let flags = ["--snapshot-after=20", "--snapshot-keep=3"];
    let mut wired = Wired::start(&flags, |sim| {
        for number in 1..=SERVICES {
            put_service(sim, &name(number));
            put_slice(sim, &name(number), &[number]);
        }
    })
    .await;
    let before = wired.settled(&[0, 1, 2]).await;
    let leads = wired.leader_of(&[0, 1, 2]).await;
    let follower = (leads + 1) % 3;
    let others = [leads, (leads + 2) % 3];
    let mut clients = Clients::on(&wired.client(follower).await);
    clients.open().await;

    wired.cut_off(follower);
    happens(wired.sim());
    outgrow(&wired, follower, 0).await;
    wired.heal(follower);
    hear_the_differences(&mut clients).await;
    assert!(wired.settled(&[0, 1, 2]).await > before);
    hear_one_more(&wired, &mut clients, 4000).await;
    assert_as_on_the_leader(&wired, &mut clients).await;

    // Once more, and the follower is killed with a part of the snapshot in its hands.
    let before = wired.settled(&[0, 1, 2]).await;
    let admin = wired.fleet.admins()[leads];
    wired.cut_off(follower);
    outgrow(&wired, follower, 1).await;
    let used = status(admin).await.unwrap().resources.unwrap();
    assert!(used.snapshot_bytes > 2 * PART, "{used:?}");
    for other in others {
        wired.link(other, follower).allow(PART);
    }
    wired.heal(follower);
    eventually("a part of a snapshot", async || {
        let stuck = others.iter().any(|it| wired.link(*it, follower).is_stuck());
        stuck.then_some(()).ok_or("nothing waits")
    })
    .await;
    wired.fleet.kill(follower);
    for other in others {
        wired.link(other, follower).allow(u64::MAX);
    }
    wired.fleet.restart_watched(follower);
    assert!(wired.settled(&[0, 1, 2]).await > before);
    let mut returned = Clients::on(&wired.client(follower).await);
    returned.0.remove(0);
    for listener in &mut returned.0 {
        listener.open().await.unwrap();
        listener.next().await;
    }
    assert_eq!(returned.sets(), clients.sets()[1..]);
}
