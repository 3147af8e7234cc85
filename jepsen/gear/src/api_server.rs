//! The simulated API server on a socket of a room, and what is written to it.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use lockstep_simapi::{Options, Server, SimApi};
use tokio::net::TcpListener;

use crate::room::Room;
use crate::world::{NAMESPACE, Write};

/// The server. Its store outlives its socket, as etcd outlives an API server.
pub struct ApiServer {
    api: SimApi,
    room: Room,
    address: SocketAddr,
    kubeconfig: PathBuf,
    serving: Option<Server>,
}

// === impl ApiServer ===

impl ApiServer {
    /// Starts a server and writes its kubeconfig into the folder.
    ///
    /// # Errors
    ///
    /// When the address cannot be bound or the file not be written.
    pub fn start(room: Room, address: SocketAddr, folder: &Path) -> anyhow::Result<Self> {
        let mut server = Self {
            api: SimApi::new(Options::default()),
            room,
            address,
            kubeconfig: folder.join("kubeconfig"),
            serving: None,
        };
        server.resume()?;
        if let Some(serving) = &server.serving {
            serving.write_kubeconfig(&server.kubeconfig)?;
        }
        Ok(server)
    }

    /// Listens again, if it does not.
    ///
    /// # Errors
    ///
    /// When the address cannot be bound.
    pub fn resume(&mut self) -> anyhow::Result<()> {
        if self.serving.is_none() {
            let (api, address) = (self.api.clone(), self.address);
            let serving = self.room.wait_for(async move {
                let listener = TcpListener::bind(address).await;
                let listener = listener.with_context(|| format!("cannot listen on {address}"))?;
                anyhow::Ok(api.serve(listener)?)
            })??;
            self.serving = Some(serving);
        }
        Ok(())
    }

    /// Closes the socket and every connection; the store stays.
    pub fn stop(&mut self) {
        self.serving = None;
    }

    /// The server as a value, to tell it how to fail.
    pub const fn api(&self) -> &SimApi {
        &self.api
    }

    /// The file that names it.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }
}

/// Writes in order; returns the resource version of each.
///
/// # Errors
///
/// When a write is refused, which only a bug of the world does.
pub fn write(api: &SimApi, writes: &[Write]) -> anyhow::Result<Vec<u64>> {
    let done = writes.iter().map(|write| match write {
        Write::Put(object) => api.apply(object.clone()),
        Write::Delete { kind, name } => api.delete(kind, NAMESPACE, name),
    });
    done.map(|outcome| outcome.map_err(|error| anyhow!("the API server refused: {error}")))
        .collect()
}
