//! A thread that lives in a network namespace: what it makes is made there.
//!
//! Sockets and processes belong to the namespace of the thread that makes them, for ever. So one
//! process can be in all namespaces of a run at once, each by a thread of its own.
//!
//! A process that is started in a room is killed by the kernel when the room's thread ends, which
//! is at the latest when the lab ends.

use std::fs::File;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;

use anyhow::Context as _;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Where `ip netns` keeps the namespaces by name.
const NAMESPACES: &str = "/run/netns";

/// A thread in a namespace, which runs futures. It ends with the last clone.
#[derive(Clone, Debug)]
pub struct Room {
    handle: Handle,
    _open: Arc<oneshot::Sender<()>>,
}

impl Room {
    /// Starts a thread in the namespace of this name; without a name, where the caller is.
    ///
    /// # Errors
    ///
    /// When there is no such namespace, or it may not be entered.
    pub fn enter(namespace: Option<&str>) -> anyhow::Result<Self> {
        let (open, closed) = oneshot::channel::<()>();
        let (entered, outcome) = mpsc::channel();
        let namespace = namespace.map(str::to_owned);
        let name = namespace.as_deref().unwrap_or("here").to_owned();
        thread::Builder::new().name(name).spawn(move || {
            // Before the runtime, so that whatever threads it makes are in the namespace too.
            let moved = namespace.as_deref().map_or(Ok(()), move_into);
            let runtime =
                moved.and_then(|()| Ok(Builder::new_current_thread().enable_all().build()?));
            match runtime {
                Ok(runtime) => {
                    // The one who waits for it is in this function.
                    let _ = entered.send(Ok(runtime.handle().clone()));
                    let _ = runtime.block_on(closed);
                    // What still runs must not be waited for: it may hang with its network.
                    runtime.shutdown_background();
                }
                Err(error) => drop(entered.send(Err(error))),
            }
        })?;
        Ok(Self {
            handle: outcome.recv().context("the thread ended")??,
            _open: Arc::new(open),
        })
    }

    /// Starts a task in the namespace.
    pub fn spawn<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> JoinHandle<T> {
        self.handle.spawn(task)
    }

    /// Does something short in the namespace and waits for it. Not to be called from a room.
    ///
    /// # Errors
    ///
    /// When the job panicked, or the thread is gone.
    pub fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> anyhow::Result<T> {
        self.wait_for(async move { job() })
    }

    /// Waits for a task in the namespace. Not to be called from a room.
    ///
    /// # Errors
    ///
    /// When the task panicked, or the thread is gone.
    pub fn wait_for<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> anyhow::Result<T> {
        let (done, outcome) = mpsc::channel();
        self.handle
            .spawn(async move { drop(done.send(task.await)) });
        outcome.recv().context("a task in a namespace panicked")
    }
}

/// Moves the calling thread into a namespace.
fn move_into(namespace: &str) -> anyhow::Result<()> {
    let path = Path::new(NAMESPACES).join(namespace);
    let link = File::open(&path).with_context(|| format!("no namespace {namespace}"))?;
    move_into_link_name_space(link.as_fd(), Some(LinkNameSpaceType::Network))
        .with_context(|| format!("cannot enter the namespace {namespace}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_done_on_one_thread_that_is_another() {
        let room = Room::enter(None).unwrap();
        let first = room.run(|| thread::current().id()).unwrap();
        assert_eq!(room.run(|| thread::current().id()).unwrap(), first);
        assert_ne!(first, thread::current().id());
    }

    #[test]
    fn a_missing_namespace_is_named() {
        let error = Room::enter(Some("ls-nowhere")).unwrap_err();
        assert_eq!(error.to_string(), "no namespace ls-nowhere");
    }
}
