//! The virtual addresses and node ports of Services.

use std::net::{Ipv4Addr, Ipv6Addr};

use serde_json::Value;

use crate::kind::Kind;
use crate::refusal::Refusal;
use crate::store::Store;

/// The part of the service network 10.96.0.0/12 that addresses are given from,
/// a /16: tests choose theirs at its beginning.
const NETWORK: Ipv4Addr = Ipv4Addr::new(10, 111, 0, 0);
/// The service network of the other family, a /108.
const NETWORK_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0x96, 0, 0, 0, 0, 0, 0);
/// As in the other family, addresses are given from far up.
const FIRST_V6: u64 = 0xf_0000;
/// Addresses of that network that may be given.
const ADDRESSES: u64 = 65_534;
/// The range of node ports: `--service-node-port-range`, 30000-32767.
const FIRST_NODE_PORT: u64 = 30_000;
const NODE_PORTS: u64 = 2_768;

/// An address that no Service has.
pub(crate) fn allocate(store: &mut Store, services: &'static Kind) -> Result<String, Refusal> {
    for _ in 0..ADDRESSES {
        let offset = store.next_birth() % ADDRESSES + 1;
        let offset = u32::try_from(offset).unwrap_or(1);
        let address = Ipv4Addr::from(u32::from(NETWORK) | offset).to_string();
        if !is_taken(store, services, &address) {
            return Ok(address);
        }
    }
    Err(Refusal::plain(
        500,
        "InternalError",
        "failed to allocate a serviceIP: range is full",
    ))
}

/// An IPv6 address that no Service has.
pub(crate) fn allocate_v6(store: &mut Store, services: &'static Kind) -> String {
    // Ends: there are more numbers than a store has Services.
    loop {
        let offset = u128::from(FIRST_V6 + store.next_birth() % ADDRESSES);
        let address = Ipv6Addr::from(u128::from(NETWORK_V6) | offset).to_string();
        if !is_taken(store, services, &address) {
            return address;
        }
    }
}

/// Whether a Service has this address, as its first or its second.
pub(crate) fn is_taken(store: &Store, services: &'static Kind, address: &str) -> bool {
    let has = |service: &Value| {
        let all = service.pointer("/spec/clusterIPs");
        let mut all = all.and_then(Value::as_array).into_iter().flatten();
        service.pointer("/spec/clusterIP").and_then(Value::as_str) == Some(address)
            || all.any(|held| held == address)
    };
    store.all(services).any(|(_, service)| has(service))
}

/// The next node port in turn.
pub(crate) fn node_port(store: &mut Store) -> u64 {
    FIRST_NODE_PORT + store.next_birth() % NODE_PORTS
}
