//! A connection, of a fleet to its API server or between replicas, that can be cut, so that who
//! is behind it misses what happens meanwhile; or let through so much and no more.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::{
    io::{self, AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
    task::JoinHandle,
};

/// Passes bytes on to another address, unless it is cut.
pub struct Relay {
    address: SocketAddr,
    upstream: watch::Sender<SocketAddr>,
    is_cut: watch::Sender<bool>,
    /// Bytes that may still pass towards the other address.
    allowance: Arc<AtomicU64>,
    accepting: JoinHandle<()>,
}

impl Relay {
    pub async fn to(upstream: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (upstream, is_cut) = (watch::Sender::new(upstream), watch::Sender::new(false));
        let allowance = Arc::new(AtomicU64::new(u64::MAX));
        let way = Way {
            upstream: upstream.subscribe(),
            is_cut: is_cut.subscribe(),
            allowance: allowance.clone(),
        };
        let accepting = tokio::spawn(accept(listener, way));
        Self {
            address,
            upstream,
            is_cut,
            allowance,
            accepting,
        }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Passes bytes of new connections on to this address.
    pub fn lead_to(&self, upstream: SocketAddr) {
        self.upstream.send_replace(upstream);
    }

    /// Breaks all connections and refuses new ones.
    pub fn cut(&self) {
        self.is_cut.send_replace(true);
    }

    pub fn heal(&self) {
        self.is_cut.send_replace(false);
    }

    /// After these bytes towards the other address, connections stay open and nothing passes.
    pub fn allow(&self, bytes: u64) {
        self.allowance.store(bytes, Ordering::Relaxed);
    }

    /// Whether something waits for a larger allowance.
    pub fn is_stuck(&self) -> bool {
        self.allowance.load(Ordering::Relaxed) == 0
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Where a relay leads, and whether it does.
#[derive(Clone)]
struct Way {
    upstream: watch::Receiver<SocketAddr>,
    is_cut: watch::Receiver<bool>,
    allowance: Arc<AtomicU64>,
}

async fn accept(listener: TcpListener, way: Way) {
    while let Ok((near, _)) = listener.accept().await {
        if !*way.is_cut.borrow() {
            tokio::spawn(pass(near, way.clone()));
        }
    }
}

async fn pass(near: TcpStream, mut way: Way) {
    let upstream = *way.upstream.borrow();
    let Ok(far) = TcpStream::connect(upstream).await else {
        return;
    };
    // Each watch event is a small write that must not wait for the next.
    let _ = (near.set_nodelay(true), far.set_nodelay(true));
    let ((near_reads, mut near_writes), (mut far_reads, far_writes)) =
        (near.into_split(), far.into_split());
    let back = async {
        let _ = io::copy(&mut far_reads, &mut near_writes).await;
        let _ = near_writes.shutdown().await;
    };
    let both = async { tokio::join!(there(near_reads, far_writes, &way.allowance), back) };
    tokio::select! {
        _ = both => {}
        _ = way.is_cut.wait_for(|is_cut| *is_cut) => {}
    }
}

async fn there(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, allowance: &AtomicU64) {
    let mut buffer = vec![0; 16 << 10];
    while let Ok(read) = from.read(&mut buffer).await {
        let spend = |left: u64| left.checked_sub(read as u64);
        let spent = allowance.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend);
        if spent.is_err() {
            allowance.store(0, Ordering::Relaxed);
            // What is beyond it stays on the way until the connection breaks.
            std::future::pending::<()>().await;
        }
        if read == 0 || to.write_all(&buffer[..read]).await.is_err() {
            break;
        }
    }
    let _ = to.shutdown().await;
}
