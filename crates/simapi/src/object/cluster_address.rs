//! The virtual addresses and node ports of Services.

use std::net::Ipv4Addr;

use serde_json::Value;

use crate::kind::Kind;
use crate::refusal::Refusal;
use crate::store::Store;

/// First address of the service network, a /16.
const NETWORK: Ipv4Addr = Ipv4Addr::new(10, 96, 0, 0);
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

/// Whether a Service has this address.
pub(crate) fn is_taken(store: &Store, services: &'static Kind, address: &str) -> bool {
    let has = |service: &Value| {
        service.pointer("/spec/clusterIP").and_then(Value::as_str) == Some(address)
    };
    store.all(services).any(|(_, service)| has(service))
}

/// The next node port in turn.
pub(crate) fn node_port(store: &mut Store) -> u64 {
    FIRST_NODE_PORT + store.next_birth() % NODE_PORTS
}
