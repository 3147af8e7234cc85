//! O12: the leader dies in the middle of a rolling update, the next one is served lists from the
//! past, and is then paused itself.

use lockstep_simapi::{Behaviour, Fault, FaultAnswer, FaultOn, SimApi, Verb};
use std::{collections::BTreeSet, net::SocketAddr};

use super::{
    listener::Listener,
    objects::api_of,
    wired::{Wired, at, path, put_service, put_slice},
};
use crate::harness::{api::Api, eventually, process::Signal};

/// How many pods the service has at each moment.
const PODS: u16 = 100;

/// Kinds whose watches a leader has in every cluster.
const KINDS: [&str; 6] = [
    "Node",
    "ReplicaSet",
    "Job",
    "Pod",
    "Service",
    "EndpointSlice",
];

/// The pods after a step of the rolling update: one old pod less with each, and one new one more.
fn pods(step: u16) -> Vec<u16> {
    (step + 1..=step + PODS).collect()
}

fn set(step: u16) -> BTreeSet<SocketAddr> {
    at(&pods(step))
}

fn roll(sim: &SimApi, step: u16) {
    put_slice(sim, "alpha", &pods(step));
}

/// A client that notices what comes back.
struct Watcher {
    listener: Listener,
    /// What it was told that it is gone.
    gone: BTreeSet<SocketAddr>,
}

impl Watcher {
    async fn open(wired: &Wired, place: usize) -> Self {
        let channel = wired.client(place).await;
        let mut listener = Listener::new(&channel, &path("alpha"), "");
        listener.open().await.unwrap();
        listener.next().await;
        let gone = BTreeSet::new();
        Self { listener, gone }
    }

    /// Follows the very stream that was opened until it holds the pods of a step.
    async fn until(&mut self, step: u16) {
        let wanted = set(step);
        loop {
            let held = self.listener.addresses().unwrap();
            if held == wanted {
                break;
            }
            self.listener.next().await;
            let now = self.listener.addresses().unwrap();
            self.gone.extend(held.difference(&now));
            let back: Vec<_> = self.gone.intersection(&now).collect();
            assert!(back.is_empty(), "{back:?} came back before step {step}");
            assert!(!now.is_empty(), "nothing was left before step {step}");
        }
    }
}

/// Every watch is told once that its place is forgotten, so that everything is listed.
fn forget_every_place(sim: &SimApi) {
    let expired = KINDS.map(|kind| Fault {
        resource: api_of(kind).1.to_owned(),
        on: FaultOn::Watch,
        answer: FaultAnswer::Expired,
    });
    sim.set_behaviour(Behaviour {
        faults: expired.into(),
        ..Behaviour::default()
    });
}

fn prepare(sim: &SimApi) {
    put_service(sim, "alpha");
    roll(sim, 0);
}

pub async fn a_leader_that_is_shown_the_past_takes_nobody_back() {
    let wired = &mut Wired::start(&[], prepare).await;
    wired.settled(&[0, 1, 2]).await;
    let killed = wired.leader_of(&[0, 1, 2]).await;
    let followers = [(killed + 1) % 3, (killed + 2) % 3];
    // Another server of the same cluster, which lags: the same writes in the same order, later.
    let lagging = Api::simulated().await;
    let past = lagging.simapi().unwrap();
    prepare(past);
    for follower in followers {
        wired.turn_to(follower, &lagging);
    }
    let mut watchers = Vec::new();
    for follower in followers {
        watchers.push(Watcher::open(wired, follower).await);
    }
    let mut on_killed = Watcher::open(wired, killed).await;
    for step in 1..=30 {
        roll(wired.sim(), step);
        if step <= 10 {
            roll(past, step);
        }
    }
    assert!(past.resource_version() < wired.sim().resource_version());
    on_killed.until(30).await;
    for watcher in &mut watchers {
        watcher.until(30).await;
    }
    let before = wired.settled(&[0, 1, 2]).await;

    forget_every_place(past);
    wired.fleet.kill(killed);
    for step in 31..=40 {
        roll(wired.sim(), step);
    }
    eventually("lists of the past", async || {
        let lists = past.counts().requests(Verb::List, "endpointslices");
        (lists >= 2).then_some(()).ok_or(lists)
    })
    .await;
    wired.leader_of(&followers).await;
    // It catches up: the same writes, at the same resource versions.
    for step in 11..=40 {
        roll(past, step);
    }
    assert_eq!(past.resource_version(), wired.sim().resource_version());
    for watcher in &mut watchers {
        watcher.until(40).await;
    }
    let after = wired.settled(&followers).await;
    assert!(after > before, "r{after} after r{before}");

    wired.fleet.restart_watched(killed);
    wired.settled(&[0, 1, 2]).await;
    watchers.push(Watcher::open(wired, killed).await);
    assert_eq!(watchers[2].listener.addresses(), Some(set(40)));
    let leads = wired.leader_of(&[0, 1, 2]).await;
    the_paused_one_publishes_nothing(wired, past, leads, &mut watchers).await;
}

/// The leader is paused while another one goes on, and then goes on itself.
async fn the_paused_one_publishes_nothing(
    wired: &Wired,
    past: &SimApi,
    paused: usize,
    watchers: &mut [Watcher],
) {
    let others = [(paused + 1) % 3, (paused + 2) % 3];
    wired.fleet.signal(paused, Signal::STOP);
    for step in 41..=60 {
        roll(wired.sim(), step);
        roll(past, step);
    }
    let before = wired.settled(&others).await;
    wired.fleet.signal(paused, Signal::CONT);
    for watcher in watchers {
        watcher.until(60).await;
    }
    // One revision more would be a batch of the one that was paused.
    assert_eq!(wired.settled(&[0, 1, 2]).await, before);
}
