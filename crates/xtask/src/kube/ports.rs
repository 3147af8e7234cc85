//! Free ports on loopback.

use std::io;
use std::net::{Ipv4Addr, TcpListener};

use super::etcd;

/// Where the two programs listen.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Ports {
    pub(super) api_server: u16,
    pub(super) etcd: etcd::Ports,
}

impl Ports {
    /// Three different ports that were free a moment ago.
    pub(super) fn free() -> io::Result<Self> {
        // All are held until all are known, or the system could give one twice.
        let held = [listener()?, listener()?, listener()?];
        let [api_server, client, peer] = held.each_ref().map(TcpListener::local_addr);
        let etcd = etcd::Ports {
            client: client?.port(),
            peer: peer?.port(),
        };
        Ok(Self {
            api_server: api_server?.port(),
            etcd,
        })
    }
}

fn listener() -> io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
}
