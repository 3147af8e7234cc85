//! The API server as a source of facts: one follower a kind, one channel for all.

use kube::Client;
use lockstep_catalog::{FactSession, FactSource, Listed, Resume, SourceError, SourceEvent};
use lockstep_model::FactKind;
use std::sync::Arc;
use tokio::{sync::mpsc, task::JoinSet};

use crate::{
    Metrics,
    access::Access,
    connect::Way,
    watch::{Follower, list, reach},
};

/// How many events wait before the followers do: what one batch may hold.
const EVENTS_MAX: usize = 1000;

/// A Kubernetes API server. Clones share connection and counters.
#[derive(Clone)]
pub struct KubernetesSource {
    access: Access,
    url: Arc<str>,
    metrics: Metrics,
}

/// One run of watches against an API server. Dropping it ends every request.
#[derive(Debug)]
pub struct KubernetesSession {
    events: mpsc::Receiver<SourceEvent>,
    followers: JoinSet<()>,
}

impl KubernetesSource {
    pub(crate) fn new(client: Client, way: Way, url: impl Into<Arc<str>>) -> Self {
        let metrics = Metrics::default();
        Self {
            access: Access::new(client, way, metrics.clone()),
            url: url.into(),
            metrics,
        }
    }

    /// The counters, to be registered once.
    #[must_use]
    pub const fn metrics(&self) -> &Metrics {
        &self.metrics
    }
}

impl std::fmt::Debug for KubernetesSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("KubernetesSource").field(&self.url).finish()
    }
}

impl FactSource for KubernetesSource {
    type Session = KubernetesSession;

    /// Must be called within a tokio runtime: each kind has a task of its own.
    fn follow(&self, mut resume: Resume) -> KubernetesSession {
        let (sender, events) = mpsc::channel(EVENTS_MAX);
        let mut followers = JoinSet::new();
        for kind in FactKind::ALL {
            let follower = Follower::new(self.access.clone(), kind, self.metrics.clone());
            followers.spawn(follower.run(resume.remove(&kind), sender.clone()));
        }
        KubernetesSession { events, followers }
    }

    async fn list(&self) -> Result<Vec<Listed>, SourceError> {
        let mut all = Vec::with_capacity(FactKind::ALL.len());
        for kind in FactKind::ALL {
            all.push(list(&self.access, kind, &self.metrics).await?);
        }
        Ok(all)
    }

    async fn reach(&self) -> Result<(), SourceError> {
        reach(&self.access).await
    }

    fn describe(&self) -> String {
        self.url.to_string()
    }
}

impl FactSession for KubernetesSession {
    /// # Panics
    ///
    /// When a follower has panicked, so that a kind never goes unwatched in silence.
    async fn next(&mut self) -> Vec<SourceEvent> {
        let mut told = Vec::new();
        loop {
            tokio::select! {
                biased;
                1.. = self.events.recv_many(&mut told, EVENTS_MAX) => return told,
                Some(ended) = self.followers.join_next() => {
                    if let Err(error) = ended
                        && let Ok(panic) = error.try_into_panic()
                    {
                        std::panic::resume_unwind(panic);
                    }
                }
                // No follower ends while its channel is open, so this is never reached;
                // a session without followers would have nothing more to tell.
                else => std::future::pending().await,
            }
        }
    }
}
