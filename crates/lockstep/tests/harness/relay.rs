//! A connection between a fleet and its API server that can be cut, so that the fleet
//! misses what happens meanwhile, whichever API server it is.

use std::net::SocketAddr;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};

/// Passes bytes on to another address, unless it is cut.
pub struct Relay {
    address: SocketAddr,
    is_cut: watch::Sender<bool>,
    accepting: JoinHandle<()>,
}

impl Relay {
    pub async fn to(upstream: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let is_cut = watch::Sender::new(false);
        let accepting = tokio::spawn(accept(listener, upstream, is_cut.subscribe()));
        Self {
            address,
            is_cut,
            accepting,
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Breaks all connections and refuses new ones.
    pub fn cut(&self) {
        self.is_cut.send_replace(true);
    }

    pub fn heal(&self) {
        self.is_cut.send_replace(false);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, upstream: SocketAddr, is_cut: watch::Receiver<bool>) {
    while let Ok((near, _)) = listener.accept().await {
        if !*is_cut.borrow() {
            tokio::spawn(pass(near, upstream, is_cut.clone()));
        }
    }
}

async fn pass(mut near: TcpStream, upstream: SocketAddr, mut is_cut: watch::Receiver<bool>) {
    let Ok(mut far) = TcpStream::connect(upstream).await else {
        return;
    };
    // Each watch event is a small write that must not wait for the next.
    let _ = (near.set_nodelay(true), far.set_nodelay(true));
    tokio::select! {
        _ = copy_bidirectional(&mut near, &mut far) => {}
        _ = is_cut.wait_for(|is_cut| *is_cut) => {}
    }
}
