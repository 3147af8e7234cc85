//! The network of a run: a namespace for each host, and a hub between them.
//!
//! ```text
//! n1 ─┐         ┌─ clients        a second bridge, which no fault
//! n2 ─┼─ data ──┤                 touches, joins n1, n2, n3 and
//! n3 ─┘         └─ api            whoever looks at them
//! ```
//!
//! The bridges are in a namespace of their own, where one table of rules holds which pairs of
//! addresses are cut, one way each, and which lose packets. No packet leaves the run.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use lockstep_jepsen_gear::debt::{Debt, Debts};
use lockstep_jepsen_gear::program::run;
use lockstep_jepsen_gear::room::Room;
use lockstep_jepsen_gear::run_id::RunId;

/// A host of the run.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Host {
    /// A replica, from 1.
    Replica(u8),
    /// Where proxies are.
    Clients,
    /// The API server.
    Api,
    /// Where observers are.
    Control,
}

/// From whom to whom, on the data network.
pub(crate) type Link = (Host, Host);

/// What happens to the packets of a link.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Damage {
    /// None arrives.
    Cut,
    /// Three of ten are lost.
    Lossy,
}

/// The namespaces and what is wrong between them.
#[derive(Debug)]
pub(crate) struct Network {
    run: RunId,
    /// How many faults want it so.
    damaged: BTreeMap<(Damage, Link), u32>,
}

const RULES: &str = "table bridge nem {
    set cut { type ipv4_addr . ipv4_addr; }
    set lossy { type ipv4_addr . ipv4_addr; }
    chain matrix {
        type filter hook forward priority 0; policy accept;
        ip saddr . ip daddr @cut counter drop
        ip saddr . ip daddr @lossy numgen random mod 100 < 30 counter drop
    }
}";

// === impl Host ===

impl Host {
    fn name(self) -> String {
        match self {
            Self::Replica(number) => format!("n{number}"),
            Self::Clients => "px".to_owned(),
            Self::Api => "api".to_owned(),
            Self::Control => "ctl".to_owned(),
        }
    }

    fn number(self) -> u8 {
        match self {
            Self::Replica(number) => number,
            Self::Clients => 100,
            Self::Api => 101,
            Self::Control => 102,
        }
    }

    /// Its address on the data network; observers have none there that anybody uses.
    pub(crate) fn address(self) -> Ipv4Addr {
        Ipv4Addr::new(198, 18, 0, self.number())
    }

    /// Its address on the network that faults never touch.
    pub(crate) fn control_address(self) -> Ipv4Addr {
        Ipv4Addr::new(198, 19, 0, self.number())
    }
}

// === impl Network ===

impl Network {
    /// Makes the hub and a namespace for each host.
    ///
    /// # Errors
    ///
    /// When this machine cannot, or may not.
    pub(crate) fn make(run: RunId, debts: &Debts, replicas: u8) -> anyhow::Result<Self> {
        let network = Self {
            run,
            damaged: BTreeMap::new(),
        };
        let hub = network.hub();
        debts.owe(Debt::Namespace(hub.clone()))?;
        program(&format!("ip netns add {hub}"))?;
        for bridge in ["data", "control"] {
            program(&format!("ip -n {hub} link add {bridge} type bridge"))?;
            program(&format!("ip -n {hub} link set {bridge} up"))?;
        }
        run_in(&hub, &["nft", RULES])?;
        let replicas = (1..=replicas).map(Host::Replica);
        for host in replicas.chain([Host::Clients, Host::Api, Host::Control]) {
            network.join(host, debts)?;
        }
        Ok(network)
    }

    fn hub(&self) -> String {
        self.run.name("hub")
    }

    fn namespace(&self, host: Host) -> String {
        self.run.name(&host.name())
    }

    fn join(&self, host: Host, debts: &Debts) -> anyhow::Result<()> {
        let (space, hub) = (self.namespace(host), self.hub());
        debts.owe(Debt::Namespace(space.clone()))?;
        program(&format!("ip netns add {space}"))?;
        program(&format!("ip -n {space} link set lo up"))?;
        let name = host.name();
        for (bridge, inner, address) in [
            ("data", "eth0", host.address()),
            ("control", "eth1", host.control_address()),
        ] {
            let outer = format!("{name}-{inner}");
            program(&format!(
                "ip -n {hub} link add {outer} type veth peer name {inner} netns {space}"
            ))?;
            program(&format!("ip -n {hub} link set {outer} master {bridge} up"))?;
            program(&format!("ip -n {space} addr add {address}/24 dev {inner}"))?;
            program(&format!("ip -n {space} link set {inner} up"))?;
        }
        Ok(())
    }

    /// A thread on this host.
    ///
    /// # Errors
    ///
    /// When its namespace is gone.
    pub(crate) fn room(&self, host: Host) -> anyhow::Result<Room> {
        Room::enter(Some(&self.namespace(host)))
    }

    /// Damages links, all at once. A link that another fault has damaged stays so until both
    /// have mended it.
    ///
    /// # Errors
    ///
    /// When the rules do not change.
    pub(crate) fn damage(&mut self, damage: Damage, links: &[Link]) -> anyhow::Result<()> {
        let mut new = Vec::new();
        for link in links {
            let count = self.damaged.entry((damage, *link)).or_insert(0);
            *count += 1;
            if *count == 1 {
                new.push(*link);
            }
        }
        self.change("add", damage, &new)
    }

    /// Mends links, all at once.
    ///
    /// # Errors
    ///
    /// When the rules do not change.
    pub(crate) fn mend(&mut self, damage: Damage, links: &[Link]) -> anyhow::Result<()> {
        let mut whole = Vec::new();
        for link in links {
            if let Some(count) = self.damaged.get_mut(&(damage, *link)) {
                *count -= 1;
                if *count == 0 {
                    self.damaged.remove(&(damage, *link));
                    whole.push(*link);
                }
            }
        }
        self.change("delete", damage, &whole)
    }

    fn change(&self, verb: &str, damage: Damage, links: &[Link]) -> anyhow::Result<()> {
        if links.is_empty() {
            return Ok(());
        }
        let set = match damage {
            Damage::Cut => "cut",
            Damage::Lossy => "lossy",
        };
        let pairs = links.iter().map(|(from, to)| {
            let (from, to) = (from.address(), to.address());
            format!("{from} . {to}")
        });
        let pairs: Vec<String> = pairs.collect();
        let change = format!("{verb} element bridge nem {set} {{ {} }}", pairs.join(", "));
        run_in(&self.hub(), &["nft", &change])
    }

    /// Ends the connections that this host has with another one, from outside.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub(crate) fn reset(&self, host: Host, other: Host) -> anyhow::Result<()> {
        let other = other.address().to_string();
        run_in(&self.namespace(host), &["ss", "-K", "-t", "dst", &other])
    }
}

fn program(words: &str) -> anyhow::Result<()> {
    let words: Vec<&str> = words.split(' ').collect();
    run(&words).map(drop)
}

fn run_in(namespace: &str, words: &[&str]) -> anyhow::Result<()> {
    run(&[&["ip", "netns", "exec", namespace], words].concat()).map(drop)
}
