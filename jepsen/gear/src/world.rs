//! What the simulated cluster holds, and how it changes: W1.
//!
//! A pure machine: a step takes dice and gives the writes that its controllers would do, in
//! their order. Every endpoint ever written has an address that nothing else ever had: the
//! serial number is the lower 24 bits of `10.0.0.0/8`. So an address tells which write made it.

mod changes;
mod mix;
mod object;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};

use fastrand::Rng;
use serde_json::Value;

pub use mix::{Change, Mix};

/// The namespace of everything.
pub const NAMESPACE: &str = "mesh";
/// The port of every service.
const PORT: u16 = 80;
/// The port of every endpoint.
const TARGET_PORT: u16 = 8080;
/// The first address of the network whose addresses are serial numbers.
const FIRST: u32 = Ipv4Addr::new(10, 0, 0, 0).to_bits();

/// One write to the API server.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    /// The object is created or replaced.
    Put(Value),
    /// The object is deleted.
    Delete {
        /// Such as `Pod`.
        kind: &'static str,
        /// In [`NAMESPACE`].
        name: String,
    },
}

/// Which write made an endpoint. Range: 1 to 2²⁴−1.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Serial(u32);

/// How large the cluster is.
#[derive(Copy, Clone, Debug)]
pub struct Shape {
    /// Services at first, and about as many later.
    pub services: usize,
    /// The most endpoints of a new slice.
    pub endpoints_max: usize,
    /// Services that nothing changes.
    pub idle: usize,
    /// Whether half of the services have pods behind their endpoints. Pods and slices reach the
    /// replicas on two watches, so that for a moment an endpoint may be there without its pod.
    pub has_pods: bool,
}

/// The cluster.
#[derive(Debug)]
pub struct World {
    shape: Shape,
    services: BTreeMap<String, Service>,
    next_serial: u32,
    next_service: u32,
    next_uid: u64,
}

/// A service and its slices, by name.
#[derive(Clone, Debug, Default)]
struct Service {
    /// Whether its endpoints are pods, or addresses alone.
    pods: bool,
    slices: BTreeMap<String, Vec<Member>>,
    next_slice: u32,
}

/// One endpoint; its pod, if it has one, has this uid.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Member {
    serial: Serial,
    uid: u64,
}

// === impl World ===

impl World {
    /// A cluster of this shape, and the writes that make it.
    pub fn new(shape: Shape, dice: &mut Rng) -> (Self, Vec<Write>) {
        let mut world = Self {
            shape,
            services: BTreeMap::new(),
            next_serial: 1,
            next_service: 0,
            next_uid: 1,
        };
        let mut writes = Vec::new();
        for number in 0..shape.idle {
            writes.extend(world.create(&format!("idle-{number}"), dice));
        }
        for _ in 0..shape.services {
            let name = world.new_name();
            writes.extend(world.create(&name, dice));
        }
        (world, writes)
    }

    /// Makes a change that the dice choose, and returns its writes.
    pub fn step(&mut self, mix: &Mix, dice: &mut Rng) -> (Change, Vec<Write>) {
        let change = mix.choose(dice);
        (change, self.make(change, dice))
    }

    /// What can be asked: the authority of every service.
    pub fn authorities(&self) -> Vec<String> {
        self.services.keys().map(|name| authority(name)).collect()
    }

    /// Every service's newest endpoint; services that have none are left out.
    pub fn newest(&self) -> BTreeMap<String, Serial> {
        let newest = |service: &Service| {
            let members = service.slices.values().flatten();
            members.map(|member| member.serial).max()
        };
        let services = self.services.iter();
        services
            .filter_map(|(name, service)| Some((authority(name), newest(service)?)))
            .collect()
    }

    fn new_name(&mut self) -> String {
        self.next_service += 1;
        format!("s-{}", self.next_service)
    }

    fn member(&mut self) -> Member {
        let member = Member {
            serial: Serial(self.next_serial),
            uid: self.next_uid,
        };
        self.next_serial += 1;
        self.next_uid += 1;
        member
    }
}

/// What a client asks for: a service by its name.
pub fn authority(service: &str) -> String {
    format!("{service}.{NAMESPACE}.svc.cluster.local:{PORT}")
}

// === impl Serial ===

impl Serial {
    /// The address that carries it.
    fn ip(self) -> Ipv4Addr {
        Ipv4Addr::from_bits(FIRST + self.0)
    }

    /// The serial that an address carries; none if it is none of ours.
    pub fn of(address: &SocketAddr) -> Option<Self> {
        match address {
            SocketAddr::V4(address) if address.ip().octets()[0] == 10 => {
                Some(Self(address.ip().to_bits() - FIRST))
            }
            SocketAddr::V4(_) | SocketAddr::V6(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const SHAPE: Shape = Shape {
        services: 6,
        endpoints_max: 4,
        idle: 2,
        has_pods: true,
    };

    /// The addresses that the writes name.
    fn addresses(writes: &[Write]) -> Vec<String> {
        let slices = writes.iter().filter_map(|write| match write {
            Write::Put(object) if object["kind"] == "EndpointSlice" => Some(object),
            Write::Put(_) | Write::Delete { .. } => None,
        });
        let endpoints = slices.flat_map(|slice| slice["endpoints"].as_array().unwrap());
        let texts = endpoints.map(|endpoint| endpoint["addresses"][0].as_str().unwrap());
        texts.map(str::to_owned).collect()
    }

    #[test]
    fn equal_dice_make_equal_histories() {
        let run = |seed| {
            let mut dice = Rng::with_seed(seed);
            let (mut world, mut writes) = World::new(SHAPE, &mut dice);
            for _ in 0..200 {
                writes.extend(world.step(&Mix::CHURN, &mut dice).1);
            }
            writes
        };
        assert_eq!(run(7), run(7));
        assert_ne!(run(7), run(8));
    }

    #[test]
    fn what_is_idle_never_changes_and_the_size_stays() {
        let mut dice = Rng::with_seed(3);
        let (mut world, first) = World::new(SHAPE, &mut dice);
        assert_eq!(world.authorities().len(), 8);
        let idle: BTreeSet<String> = addresses(&first).into_iter().collect();
        assert!(!idle.is_empty());
        for _ in 0..500 {
            let (_, writes) = world.step(&Mix::CHURN, &mut dice);
            let names_idle = |write: &Write| match write {
                Write::Put(object) => object["metadata"]["name"].to_string().contains("idle"),
                Write::Delete { name, .. } => name.starts_with("idle"),
            };
            assert!(!writes.iter().any(names_idle), "{writes:?}");
        }
        let count = world.authorities().len();
        assert!((4..=14).contains(&count), "{count} services");
    }

    #[test]
    fn an_address_tells_its_serial() {
        let address = SocketAddr::from((Serial(70_000).ip(), TARGET_PORT));
        assert_eq!(address.to_string(), "10.1.17.112:8080");
        assert_eq!(Serial::of(&address), Some(Serial(70_000)));
        let foreign = "192.0.2.1:80".parse().unwrap();
        assert_eq!(Serial::of(&foreign), None);
    }
}
