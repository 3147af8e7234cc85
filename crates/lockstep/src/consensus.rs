//! The threads that consensus and the ingest have for themselves.
//!
//! An update wakes every open stream at once. On shared threads the entries and
//! acknowledgements of the next update would stand in line behind them, and a
//! crowd of clients could delay a heartbeat until it costs an election. With
//! threads of its own, consensus competes for a core as one thread among few.

use std::io;
use tokio::runtime::{Builder, Handle, Runtime};

/// One thread keeps up with far more than one leader can commit.
const THREADS: usize = 1;

/// A runtime that may be dropped anywhere.
#[derive(Debug)]
pub(crate) struct Consensus {
    handle: Handle,
    runtime: Option<Runtime>,
}

impl Consensus {
    /// Starts the threads.
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("consensus")
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

impl Drop for Consensus {
    /// Does not wait: a runtime must not be dropped in another's thread otherwise.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
