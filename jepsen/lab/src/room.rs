//! A thread that lives in a network namespace: what it makes is made there.
//!
//! Sockets and processes belong to the namespace of the thread that makes them, for ever. So one
//! process can be in all namespaces of a run at once, each by a thread of its own.

use std::fs::File;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::mpsc;
use std::thread;

use anyhow::Context as _;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

type Job = Box<dyn FnOnce() + Send>;

/// Where `ip netns` keeps the namespaces by name.
const NAMESPACES: &str = "/run/netns";

/// A thread in a namespace, which does what it is asked in turn. It ends when dropped.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    jobs: mpsc::Sender<Job>,
}

impl Room {
    /// Starts a thread in the namespace of this name; without a name, where the caller is.
    ///
    /// # Errors
    ///
    /// When there is no such namespace, or it may not be entered.
    pub(crate) fn enter(namespace: Option<&str>) -> anyhow::Result<Self> {
        let (jobs, queue) = mpsc::channel::<Job>();
        let (entered, outcome) = mpsc::channel();
        let namespace = namespace.map(str::to_owned);
        let name = namespace.as_deref().unwrap_or("here").to_owned();
        thread::Builder::new().name(name).spawn(move || {
            let is_in = namespace.as_deref().map_or(Ok(()), move_into);
            let is_out = is_in.is_err();
            // The one who waits for it is in this function.
            let _ = entered.send(is_in);
            if is_out {
                return;
            }
            for job in queue {
                job();
            }
        })?;
        outcome.recv().context("the thread ended")??;
        Ok(Self { jobs })
    }

    /// Does something in the namespace and waits for it.
    ///
    /// # Errors
    ///
    /// When the thread is gone, because an earlier job panicked or because this one did.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> anyhow::Result<T> {
        let (done, outcome) = mpsc::channel();
        let job: Job = Box::new(move || drop(done.send(job())));
        self.jobs.send(job).ok().context("the thread is gone")?;
        outcome.recv().context("the job panicked")
    }
}

/// Moves the calling thread into a namespace.
pub(crate) fn move_into(namespace: &str) -> anyhow::Result<()> {
    let path = Path::new(NAMESPACES).join(namespace);
    let link = File::open(&path).with_context(|| format!("no namespace {namespace}"))?;
    move_into_link_name_space(link.as_fd(), Some(LinkNameSpaceType::Network))
        .with_context(|| format!("cannot enter the namespace {namespace}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_done_in_turn_on_one_thread() {
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
