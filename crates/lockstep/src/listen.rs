//! Sockets to listen on.

use std::{io, net::SocketAddr};
use tokio::net::{TcpListener, TcpSocket};

use crate::Endpoints;

/// Connections that may wait to be accepted. tokio's 1,024 overflowed when
/// 5,000 clients came at once.
const BACKLOG: u32 = 4096;

/// The sockets of one replica.
#[derive(Debug)]
pub struct Listeners {
    /// For peers.
    pub peer: TcpListener,
    /// For proxies.
    pub proxy: TcpListener,
    /// For operators.
    pub admin: TcpListener,
}

/// Why an address cannot be listened on.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen for {whom} on {address}")]
pub struct ListenError {
    whom: &'static str,
    address: SocketAddr,
    #[source]
    source: io::Error,
}

impl Listeners {
    /// Binds all three.
    ///
    /// # Errors
    ///
    /// [`ListenError`] names the address that is taken or not ours.
    pub fn bind(endpoints: &Endpoints) -> Result<Self, ListenError> {
        Ok(Self {
            peer: bind("peers", endpoints.peer)?,
            proxy: bind("proxies", endpoints.proxy)?,
            admin: bind("operators", endpoints.admin)?,
        })
    }

    /// Where they listen, with the ports that were free for port 0.
    ///
    /// # Errors
    ///
    /// Whatever the system says.
    pub fn endpoints(&self) -> io::Result<Endpoints> {
        Ok(Endpoints {
            peer: self.peer.local_addr()?,
            proxy: self.proxy.local_addr()?,
            admin: self.admin.local_addr()?,
        })
    }
}

fn bind(whom: &'static str, address: SocketAddr) -> Result<TcpListener, ListenError> {
    let listen = || {
        let socket = if address.is_ipv4() {
            TcpSocket::new_v4()?
        } else {
            TcpSocket::new_v6()?
        };
        // A restarted replica takes its port back although old connections linger.
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    listen().map_err(|source| ListenError {
        whom,
        address,
        source,
    })
}
