//! What a client holds after the messages of a `Get` stream: it obeys them exactly as the
//! proxy does, and notes what a good server never sends.
//!
//! The first `add` of a stream replaces what the client had, later ones add or update by
//! address; `remove` deletes; an `add` or `remove` without a usable address is ignored and
//! a `remove` before anything else too; `no_endpoints` empties the set.

use linkerd2_proxy_api::destination::{Update, WeightedAddr, update};
use prost::Message;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
};

use crate::json;

/// Metric labels, by name.
pub type Labels = BTreeMap<String, String>;

/// The endpoints that a client holds, by address.
pub type HeldSet<E> = BTreeMap<SocketAddr, Held<E>>;

/// The most bytes of a message that a client accepts.
pub const MESSAGE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// One endpoint that a client holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held<E = WeightedAddr> {
    /// The whole endpoint, as it was told last.
    pub endpoint: E,
    /// The labels of the set that it was told in.
    pub labels: Labels,
}

/// One message, its addresses parsed.
#[derive(Clone, Debug, PartialEq)]
pub enum Told<E = WeightedAddr> {
    /// Endpoints to add or update.
    Add {
        /// Those whose address can be used.
        endpoints: Vec<(SocketAddr, E)>,
        /// The labels of the set.
        labels: Labels,
    },
    /// Addresses to remove.
    Remove(Vec<SocketAddr>),
    /// There are none.
    NoEndpoints {
        /// Whether the service exists.
        exists: bool,
    },
    /// Nothing that a client knows.
    Nothing,
}

/// What a client survives, and a good server never sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// An `add` without a usable address: the client ignores it.
    EmptyAdd,
    /// A `remove` without a usable address: the client ignores it.
    EmptyRemove,
    /// A message that is none of the three.
    NoUpdate,
    /// A `remove` before the first `add`: the client ignores it.
    LeadingRemove,
    /// A `remove` of an address that the client does not hold.
    RemovedUnheld(SocketAddr),
    /// An address twice in one `add`.
    AddedTwice(SocketAddr),
    /// A message after which the client holds what it held.
    ChangesNothing,
    /// A message larger than [`MESSAGE_BYTES_MAX`].
    TooLarge {
        /// Its size.
        bytes: usize,
    },
}

/// What a client holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Folded<E = WeightedAddr> {
    set: Option<HeldSet<E>>,
    phase: Phase,
    violations: Vec<Violation>,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing usable came on this stream.
    Fresh,
    /// The set was replaced; what comes is a difference.
    Begun,
}

impl<E> Default for Folded<E> {
    fn default() -> Self {
        Self {
            set: None,
            phase: Phase::Fresh,
            violations: Vec::new(),
        }
    }
}

impl Folded {
    /// Takes the next message of the stream.
    pub fn take(&mut self, update: &Update) {
        let bytes = update.encoded_len();
        if bytes > MESSAGE_BYTES_MAX {
            self.violations.push(Violation::TooLarge { bytes });
        }
        self.obey(told(update));
    }
}

impl<E: PartialEq> Folded<E> {
    /// What the client holds; `None` before the first message that counts.
    #[must_use]
    pub const fn set(&self) -> Option<&HeldSet<E>> {
        self.set.as_ref()
    }

    /// What should not have been sent, in the order in which it came.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// The stream ended and the client opened another: it keeps what it holds until the
    /// first message of the new one.
    pub fn reconnect(&mut self) {
        self.phase = Phase::Fresh;
    }

    /// Does what a message says.
    pub fn obey(&mut self, told: Told<E>) {
        match told {
            Told::Add { endpoints, labels } => self.add(endpoints, &labels),
            Told::Remove(gone) => self.remove(&gone),
            Told::NoEndpoints { .. } => self.empty(),
            Told::Nothing => self.violations.push(Violation::NoUpdate),
        }
    }

    fn add(&mut self, endpoints: Vec<(SocketAddr, E)>, labels: &Labels) {
        if endpoints.is_empty() {
            return self.violations.push(Violation::EmptyAdd);
        }
        let mut seen = BTreeSet::new();
        let twice = endpoints
            .iter()
            .filter(|(address, _)| !seen.insert(*address));
        let twice = twice.map(|(address, _)| Violation::AddedTwice(*address));
        self.violations.extend(twice);
        let is_first = self.phase == Phase::Fresh;
        self.phase = Phase::Begun;
        let set = self.set.get_or_insert_default();
        if is_first {
            set.clear();
        }
        let mut has_changed = is_first;
        for (address, endpoint) in endpoints {
            let labels = labels.clone();
            let held = Held { endpoint, labels };
            has_changed |= set.get(&address) != Some(&held);
            set.insert(address, held);
        }
        if !has_changed {
            self.violations.push(Violation::ChangesNothing);
        }
    }

    fn remove(&mut self, gone: &[SocketAddr]) {
        let held = match (self.phase, &mut self.set) {
            (_, _) if gone.is_empty() => return self.violations.push(Violation::EmptyRemove),
            (Phase::Begun, Some(held)) => held,
            (Phase::Fresh, _) | (Phase::Begun, None) => {
                return self.violations.push(Violation::LeadingRemove);
            }
        };
        for address in gone {
            if held.remove(address).is_none() {
                self.violations.push(Violation::RemovedUnheld(*address));
            }
        }
    }

    fn empty(&mut self) {
        let is_known = self.set.as_ref().is_some_and(BTreeMap::is_empty);
        if self.phase == Phase::Begun && is_known {
            self.violations.push(Violation::ChangesNothing);
        }
        self.phase = Phase::Begun;
        self.set = Some(BTreeMap::new());
    }
}

fn told(update: &Update) -> Told {
    match &update.update {
        Some(update::Update::Add(set)) => {
            let usable = set.addrs.iter().filter_map(|endpoint| {
                Some((json::socket(endpoint.addr.as_ref())?, endpoint.clone()))
            });
            Told::Add {
                endpoints: usable.collect(),
                labels: set.metric_labels.clone().into_iter().collect(),
            }
        }
        Some(update::Update::Remove(gone)) => {
            let usable = gone.addrs.iter();
            Told::Remove(usable.filter_map(|it| json::socket(Some(it))).collect())
        }
        Some(update::Update::NoEndpoints(none)) => Told::NoEndpoints {
            exists: none.exists,
        },
        None => Told::Nothing,
    }
}

/// Reads a message that is JSON already, as in a recording.
#[must_use]
pub fn told_in_json(update: &Value) -> Told<Value> {
    let addrs = |set: &Value| -> Vec<Value> {
        let addrs = set.get("addrs").and_then(Value::as_array);
        addrs.cloned().unwrap_or_default()
    };
    if let Some(set) = update.get("add") {
        let endpoints = addrs(set).into_iter();
        let usable = endpoints.filter_map(|it| Some((socket_in_json(it.get("addr")?)?, it)));
        return Told::Add {
            endpoints: usable.collect(),
            labels: labels_in_json(set.get("metric_labels")),
        };
    }
    if let Some(gone) = update.get("remove") {
        return Told::Remove(addrs(gone).iter().filter_map(socket_in_json).collect());
    }
    match update.get("no_endpoints") {
        Some(none) => Told::NoEndpoints {
            exists: none.get("exists") == Some(&Value::Bool(true)),
        },
        None => Told::Nothing,
    }
}

pub(crate) fn labels_in_json(labels: Option<&Value>) -> Labels {
    let labels = labels.and_then(Value::as_object).into_iter().flatten();
    let pairs = labels.map(|(key, value)| {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        (key.clone(), value)
    });
    pairs.collect()
}

/// The address of an `addr` that is JSON.
pub(crate) fn socket_in_json(address: &Value) -> Option<SocketAddr> {
    let port = address.get("port").map_or(Some(0), Value::as_u64)?;
    let port = u16::try_from(port).ok()?;
    let ip = address.get("ip")?;
    if let Some(bits) = ip.get("ipv4") {
        let bits = u32::try_from(bits.as_u64()?).ok()?;
        return Some(SocketAddr::new(std::net::Ipv4Addr::from(bits).into(), port));
    }
    let halves = ip.get("ipv6")?;
    let half = |name: &str| -> Option<u128> {
        let text = halves.get(name).map_or(Some("0"), Value::as_str)?;
        text.parse::<u64>().ok().map(u128::from)
    };
    let bits = (half("first")? << 64) | half("last")?;
    Some(SocketAddr::new(
        std::net::Ipv6Addr::from_bits(bits).into(),
        port,
    ))
}

#[cfg(test)]
mod tests;
