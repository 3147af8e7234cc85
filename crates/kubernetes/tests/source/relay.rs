//! A relay in front of a server, whose connections can be made to lead nowhere.

use std::net::SocketAddr;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};

/// A running relay; dropping it ends what was not cut.
pub(crate) struct Relay {
    address: SocketAddr,
    cuts: watch::Sender<u64>,
    accepting: JoinHandle<()>,
}

impl Relay {
    pub(crate) async fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let cuts = watch::Sender::new(0);
        let orders = cuts.clone();
        let accepting = tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let server = TcpStream::connect(server).await.unwrap();
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = server.into_split();
                tokio::spawn(pass(from_client, to_server, orders.subscribe()));
                tokio::spawn(pass(from_server, to_client, orders.subscribe()));
            }
        });
        Self {
            address,
            cuts,
            accepting,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// From now on the connections that are open pass nothing on, and do not end.
    pub(crate) fn cut(&self) {
        self.cuts.send_modify(|cuts| *cuts += 1);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Passes bytes on until they end, or for ever nothing once there is an order to cut.
async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    mut cuts: watch::Receiver<u64>,
) {
    let mut piece = vec![0; 16 * 1024];
    loop {
        tokio::select! {
            biased;
            Ok(()) = cuts.changed() => std::future::pending().await,
            read = from.read(&mut piece) => match read {
                Ok(1..) if to.write_all(&piece[..read.unwrap()]).await.is_ok() => {}
                Ok(_) | Err(_) => return,
            },
        }
    }
}
