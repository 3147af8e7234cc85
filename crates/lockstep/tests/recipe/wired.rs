//! Replicas as processes, and every connection between them and to their API server through a
//! relay: a replica can be cut off while its clients stay.

use lockstep_simapi::SimApi;
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    net::{Ipv4Addr, SocketAddr},
    path::Path,
};
use tonic::transport::Channel;

use super::objects::{api_of, endpoint, service, slice};
use crate::harness::{
    api::{Api, plain_get},
    leader,
    process::Fleet,
    relay::Relay,
    settled,
};

/// The namespace of everything here.
const NAMESPACE: &str = "wired";

/// Three processes and their API server.
pub struct Wired {
    pub fleet: Fleet,
    api: Api,
    /// From each replica to each other one.
    between: Vec<Vec<Relay>>,
    /// From each replica to the API server.
    to_source: Vec<Relay>,
}

impl Wired {
    /// Prepares the API server, then starts all three.
    pub async fn start(flags: &[&str], prepare: impl FnOnce(&SimApi)) -> Self {
        let api = Api::simulated().await;
        prepare(api.simapi().unwrap());
        let mut fleet = Fleet::prepare(&api.folder().join("data"), &[], flags);
        let (mut between, mut to_source) = (Vec::new(), Vec::new());
        for from in 0..3 {
            let mut relays = Vec::new();
            for (to, address) in fleet.listening().into_iter().enumerate() {
                let relay = Relay::to(address).await;
                if to != from {
                    fleet.reach(from, to, relay.address());
                }
                relays.push(relay);
            }
            between.push(relays);
            let (relay, kubeconfig) = relayed(&api, from).await;
            fleet.follow(from, &["--kubeconfig", &kubeconfig]);
            to_source.push(relay);
        }
        for place in 0..3 {
            fleet.restart_watched(place);
        }
        Self {
            fleet,
            api,
            between,
            to_source,
        }
    }

    /// The API server, to write into and to tell how to fail.
    pub fn sim(&self) -> &SimApi {
        self.api.simapi().unwrap()
    }

    /// Cuts the replica at `place` off from the others and from the API server.
    pub fn cut_off(&self, place: usize) {
        self.around(place).for_each(Relay::cut);
    }

    pub fn heal(&self, place: usize) {
        self.around(place).for_each(Relay::heal);
    }

    fn around(&self, place: usize) -> impl Iterator<Item = &Relay> {
        let own = self.between[place].iter().chain([&self.to_source[place]]);
        own.chain(self.between.iter().map(move |relays| &relays[place]))
    }

    /// What the one at `from` sends to the one at `to`.
    pub fn link(&self, from: usize, to: usize) -> &Relay {
        &self.between[from][to]
    }

    /// Has the replica at `place` find this API server in place of the first one, from its next
    /// connection on.
    pub fn turn_to(&self, place: usize, api: &Api) {
        self.to_source[place].lead_to(server_of(api));
    }

    pub async fn client(&self, place: usize) -> Channel {
        let address = self.fleet.proxies()[place];
        let endpoint = Channel::from_shared(format!("http://{address}")).unwrap();
        endpoint.connect().await.unwrap()
    }

    /// What `/ready` says at `place`: the first line and the text.
    pub async fn ready(&self, place: usize) -> String {
        plain_get(self.fleet.admins()[place], "/ready")
            .await
            .unwrap()
    }

    /// The leader among the replicas at these places.
    pub async fn leader_of(&self, places: &[usize]) -> usize {
        places[leader(&self.admins_of(places)).await]
    }

    /// Waits until these replicas hold what the API server holds, and returns their revision.
    pub async fn settled(&self, places: &[usize]) -> u64 {
        settled(&self.admins_of(places)).await
    }

    fn admins_of(&self, places: &[usize]) -> Vec<SocketAddr> {
        let admins = self.fleet.admins();
        places.iter().map(|place| admins[*place]).collect()
    }
}

/// A relay to the API server, and the file that names it.
async fn relayed(api: &Api, place: usize) -> (Relay, String) {
    let path = api.kubeconfig();
    let text = std::fs::read_to_string(&path).unwrap();
    let upstream = server_of(api);
    let relay = Relay::to(upstream).await;
    let relayed = path.with_file_name(format!("relayed-{place}"));
    let text = text.replace(&upstream.to_string(), &relay.address().to_string());
    std::fs::write(&relayed, text).unwrap();
    (relay, shown(&relayed))
}

/// Where an API server listens.
fn server_of(api: &Api) -> SocketAddr {
    let config = kube::config::Kubeconfig::read_from(api.kubeconfig()).unwrap();
    let server = config.clusters[0].cluster.clone().unwrap().server.unwrap();
    server.rsplit('/').next().unwrap().parse().unwrap()
}

fn shown(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

pub fn path(service: &str) -> String {
    format!("{service}.{NAMESPACE}.svc.cluster.local:80")
}

pub fn ip(number: u16) -> Ipv4Addr {
    let [high, low] = number.to_be_bytes();
    Ipv4Addr::new(10, 99, high, low)
}

/// Endpoints of these numbers, as clients hold them.
pub fn at(numbers: &[u16]) -> BTreeSet<SocketAddr> {
    let socket = |number: &u16| SocketAddr::new(ip(*number).into(), 8080);
    numbers.iter().map(socket).collect()
}

fn apply(sim: &SimApi, mut object: Value) {
    let kind = object["kind"].as_str().unwrap();
    object["apiVersion"] = json!(api_of(kind).0);
    object["metadata"]["namespace"] = json!(NAMESPACE);
    sim.apply(object).unwrap();
}

pub fn put_service(sim: &SimApi, name: &str) {
    apply(sim, service(name));
}

/// The only slice of a service has the endpoints of these numbers, at `port`.
pub fn put_slice_at(sim: &SimApi, service: &str, numbers: &[u16], port: u16) {
    let mut slice = slice_of(service, 1, numbers);
    slice["ports"][0]["port"] = json!(port);
    apply(sim, slice);
}

/// One of several slices of a service, by its number.
pub fn put_nth_slice(sim: &SimApi, service: &str, nth: u16, numbers: &[u16]) {
    apply(sim, slice_of(service, nth, numbers));
}

fn slice_of(service: &str, nth: u16, numbers: &[u16]) -> Value {
    let endpoints: Vec<Value> = numbers.iter().map(|it| endpoint(ip(*it))).collect();
    slice(&format!("{service}-{nth}"), service, &endpoints)
}

pub fn put_slice(sim: &SimApi, service: &str, numbers: &[u16]) {
    put_slice_at(sim, service, numbers, 8080);
}

pub fn delete_service(sim: &SimApi, name: &str) {
    sim.delete("Service", NAMESPACE, name).unwrap();
    let slice = format!("{name}-1");
    sim.delete("EndpointSlice", NAMESPACE, &slice).unwrap();
}
