//! The server on a socket: HTTP/1.1 and HTTP/2 in clear text.

use std::io;
use std::net::SocketAddr;
use std::path::Path;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use crate::api::SimApi;
use crate::http::exchange;

/// A listening server. Dropping it closes the socket and every connection, in
/// the middle of whatever they are doing.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    accepting: JoinHandle<()>,
}

/// Why a kubeconfig could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the kubeconfig {path}")]
pub struct KubeconfigError {
    path: String,
    source: io::Error,
}

// === impl SimApi ===

impl SimApi {
    /// Serves on a socket that already listens, until the handle is dropped.
    /// Must be called within a tokio runtime.
    ///
    /// # Errors
    ///
    /// When the listener does not tell its address.
    pub fn serve(&self, listener: TcpListener) -> io::Result<Server> {
        let address = listener.local_addr()?;
        let accepting = tokio::spawn(accept(self.clone(), listener));
        Ok(Server { address, accepting })
    }
}

// === impl Server ===

impl Server {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL of the API, for example `http://127.0.0.1:8001`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Writes a kubeconfig with one context, `simapi`, which names this
    /// server and no user.
    ///
    /// # Errors
    ///
    /// [`KubeconfigError`] when the file cannot be written.
    pub fn write_kubeconfig(&self, path: &Path) -> Result<(), KubeconfigError> {
        let config = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "simapi", "cluster": {"server": self.url()}}],
            "users": [{"name": "simapi", "user": {}}],
            "contexts": [{
                "name": "simapi",
                "context": {"cluster": "simapi", "user": "simapi", "namespace": "default"},
            }],
            "current-context": "simapi",
        });
        // JSON is YAML, so every reader of kubeconfigs takes it.
        std::fs::write(path, format!("{config:#}\n")).map_err(|source| KubeconfigError {
            path: path.display().to_string(),
            source,
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Accepts for ever; its connections end with it.
async fn accept(api: SimApi, listener: TcpListener) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((socket, _)) => { connections.spawn(connection(api.clone(), socket)); }
                Err(error) => tracing::warn!(%error, "cannot accept a connection"),
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(api: SimApi, socket: TcpStream) {
    // Each watch event is a small write that must not wait for the next.
    if let Err(error) = socket.set_nodelay(true) {
        tracing::debug!(%error, "cannot set nodelay");
    }
    let service = service_fn(move |request| {
        let api = api.clone();
        async move { Ok::<_, std::convert::Infallible>(exchange(api, request).await) }
    });
    let served = auto::Builder::new(TokioExecutor::new())
        .serve_connection(TokioIo::new(socket), service)
        .await;
    if let Err(error) = served {
        tracing::debug!(error, "connection ended");
    }
}
