//! The tasks behind a node, and the one reason why they end.

use lockstep_storage::DataFolder;
use openraft::async_runtime::WatchReceiver;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::admission_task::Admission;
use crate::error::Fatal;
use crate::library::Raft;
use crate::notice::Notices;
use crate::peer::{Matched, PeerServer, Peers, serve};
use crate::read::Asker;
use crate::{Outsider, PeerAddress, Role, bootstrap, role_watch};

/// How long open calls of peers may take to end.
const SERVER_STOP_TIMEOUT: Duration = Duration::from_secs(1);

/// The tasks behind a node; resolves when the node has stopped.
pub struct NodeTasks(JoinHandle<Result<(), Fatal>>);

impl NodeTasks {
    /// Waits until the node has stopped: `Ok` after
    /// [`Node::shutdown`](crate::Node::shutdown). Dropping it stops nothing.
    ///
    /// # Errors
    ///
    /// [`Fatal`] when it stopped by itself.
    pub async fn finished(self) -> Result<(), Fatal> {
        self.0.await.unwrap_or_else(|error| {
            Err(Fatal::Core {
                what: error.to_string(),
            })
        })
    }
}

/// What the tasks own.
pub(crate) struct Owned {
    pub(crate) raft: Raft,
    pub(crate) folder: Arc<DataFolder>,
    pub(crate) peers: Peers,
    pub(crate) matched: Matched,
    pub(crate) configured: Vec<PeerAddress>,
    pub(crate) outsiders: watch::Sender<Vec<Outsider>>,
    pub(crate) notices: Notices,
    pub(crate) asker: Asker,
    pub(crate) role: watch::Sender<Role>,
    pub(crate) stop: CancellationToken,
    pub(crate) stopped: watch::Sender<bool>,
}

/// Starts everything.
pub(crate) fn spawn(owned: Owned, server: PeerServer, listener: TcpListener) -> NodeTasks {
    NodeTasks(tokio::spawn(supervise(owned, server, listener)))
}

async fn supervise(owned: Owned, server: PeerServer, listener: TcpListener) -> Result<(), Fatal> {
    let Owned { raft, folder, .. } = &owned;
    let (raft, folder) = (raft.clone(), Arc::clone(folder));
    raft.run();
    let server_stop = CancellationToken::new();
    let mut serving = tokio::spawn(serve(
        server,
        listener,
        server_stop.clone().cancelled_owned(),
    ));
    let mut others = JoinSet::new();
    let (peers, configured) = (owned.peers, owned.configured);
    others.spawn(bootstrap::run(
        raft.clone(),
        peers.clone(),
        configured.clone(),
    ));
    let admission = Admission {
        raft: raft.clone(),
        peers,
        matched: owned.matched,
        configured,
        outsiders: owned.outsiders,
    };
    others.spawn(admission.run());
    others.spawn(role_watch::run(raft.clone(), owned.role.clone()));
    others.spawn(owned.asker.run());

    let reason = tokio::select! {
        () = owned.stop.cancelled() => Ok(()),
        fatal = core_stopped(&raft, &folder) => Err(fatal),
        ended = &mut serving => Err(Fatal::Server { what: format!("{ended:?}") }),
        what = panicked(&mut others) => Err(Fatal::Core { what }),
        fatal = given_up(&owned.notices, &folder) => Err(fatal),
    };
    if let Err(fatal) = &reason {
        tracing::error!(%fatal, "the node stops");
    }
    owned.stop.cancel();
    role_watch::resign(&owned.role);
    // The core first: that ends the calls which the server would wait for.
    let core = raft.shutdown().await;
    server_stop.cancel();
    if !serving.is_finished()
        && tokio::time::timeout(SERVER_STOP_TIMEOUT, &mut serving)
            .await
            .is_err()
    {
        serving.abort();
    }
    others.shutdown().await;
    role_watch::resign(&owned.role);
    let closed = tokio::task::spawn_blocking(move || folder.close()).await;
    owned.stopped.send_replace(true);
    reason?;
    if let Err(error) = core {
        let what = error.to_string();
        return Err(Fatal::Core { what });
    }
    match closed {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(Fatal::Storage {
            what: chain(&error),
        }),
        Err(error) => Err(Fatal::Core {
            what: error.to_string(),
        }),
    }
}

/// Waits until this replica is to start anew, and gives its folder up.
async fn given_up(notices: &Notices, folder: &Arc<DataFolder>) -> Fatal {
    let why = notices.start_anew().await;
    let (folder, reason) = (Arc::clone(folder), why.clone());
    let noted = tokio::task::spawn_blocking(move || folder.give_up(&reason)).await;
    match noted {
        Ok(Ok(())) => Fatal::GaveUp { why },
        Ok(Err(error)) => Fatal::Storage {
            what: chain(&error),
        },
        Err(error) => Fatal::Core {
            what: error.to_string(),
        },
    }
}

/// Waits until the core has stopped by itself, and says why.
async fn core_stopped(raft: &Raft, folder: &DataFolder) -> Fatal {
    let mut metrics = raft.metrics();
    loop {
        let running = metrics.borrow_watched().running_state.clone();
        if let Err(fatal) = running {
            return match folder.log().failure() {
                Some(error) => Fatal::Storage {
                    what: chain(&error),
                },
                None => Fatal::Core {
                    what: one_line(&fatal.to_string()),
                },
            };
        }
        if metrics.changed().await.is_err() {
            let what = "its task is gone".to_owned();
            return Fatal::Core { what };
        }
    }
}

/// Waits until one of the tasks has panicked. They may end otherwise: one is
/// done after bootstrap, and others end with the core, which says more.
async fn panicked(tasks: &mut JoinSet<()>) -> String {
    while let Some(ended) = tasks.join_next().await {
        if let Err(error) = ended {
            return one_line(&error.to_string());
        }
    }
    std::future::pending().await
}

/// An error and its sources, in one line.
fn chain(error: &dyn std::error::Error) -> String {
    let sources = std::iter::successors(error.source(), |source| source.source());
    sources.fold(error.to_string(), |text, source| {
        format!("{text}: {source}")
    })
}

/// Some of the library's messages have several lines.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[tokio::test]
    async fn a_task_that_panics_is_noticed_and_one_that_ends_is_not() {
        let mut tasks = JoinSet::new();
        tasks.spawn(std::future::ready(()));
        while tasks.try_join_next().is_none() {
            tokio::task::yield_now().await;
        }
        assert_eq!(panicked(&mut tasks).now_or_never(), None);
        tasks.spawn(std::future::ready(()));
        tasks.spawn(async { panic!("out of range") });
        let what = panicked(&mut tasks).await;
        assert!(
            what.ends_with("panicked with message \"out of range\""),
            "{what}"
        );
    }
}
