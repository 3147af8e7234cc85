//! Threads that one part of a replica has for itself.
//!
//! An update wakes every open stream at once, and a first list parses and joins
//! a whole cluster in one go. On shared threads a heartbeat would stand in line
//! behind them until it costs an election. With threads of its own, consensus
//! competes for a core as one thread among few.

use std::{io, sync::Arc};
use tokio::runtime::{Builder, Handle, Runtime};

/// The threads of one process. Replicas that share a process share them. A
/// clone is another handle; the last one that is dropped stops them.
#[derive(Clone, Debug)]
pub struct Threads {
    /// For Raft, its peers and its disk. Two: while one applies a large batch,
    /// the other one answers.
    pub(crate) consensus: Arc<OwnThreads>,
    /// For the source, the catalogue, and the encoding of batches.
    pub(crate) ingest: Arc<OwnThreads>,
}

impl Threads {
    /// Starts them.
    ///
    /// # Errors
    ///
    /// Whatever the system says.
    pub fn start() -> io::Result<Self> {
        Ok(Self {
            consensus: Arc::new(OwnThreads::start("consensus", 2)?),
            ingest: Arc::new(OwnThreads::start("ingest", 1)?),
        })
    }
}

/// A runtime that may be dropped anywhere.
#[derive(Debug)]
pub(crate) struct OwnThreads {
    handle: Handle,
    runtime: Option<Runtime>,
}

impl OwnThreads {
    fn start(name: &str, threads: usize) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(threads)
            .thread_name(name)
            .enable_all()
            .build()?;
        Ok(Self {
            handle: runtime.handle().clone(),
            runtime: Some(runtime),
        })
    }

    /// Where to spawn.
    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs one future there and waits for it here.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> io::Result<T> {
        self.handle.spawn(work).await.map_err(io::Error::other)
    }
}

impl Drop for OwnThreads {
    /// Does not wait: a runtime must not be dropped in another's thread otherwise.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
