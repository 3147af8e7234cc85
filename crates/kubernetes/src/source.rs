//! The API server as a source of facts.

use kube::Client;
use lockstep_catalog::{FactSource, Listed, Resume, SourceError};
use lockstep_model::FactKind;
use std::sync::Arc;

use crate::{
    KubernetesSession, Metrics,
    access::Access,
    connect::Way,
    troubles::Troubles,
    watch::{list, reach},
};

/// A Kubernetes API server. Clones share connection and counters.
#[derive(Clone)]
pub struct KubernetesSource {
    pub(crate) access: Access,
    url: Arc<str>,
    metrics: Metrics,
    pub(crate) troubles: Troubles,
}

impl KubernetesSource {
    pub(crate) fn new(client: Client, way: Way, url: impl Into<Arc<str>>) -> Self {
        let metrics = Metrics::default();
        Self {
            access: Access::new(client, way, metrics.clone()),
            url: url.into(),
            troubles: Troubles::new(metrics.clone()),
            metrics,
        }
    }

    /// What goes wrong just now, one sentence for each kind that has trouble.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        self.troubles.sentences()
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
    fn follow(&self, resume: Resume) -> KubernetesSession {
        KubernetesSession::begin(self.clone(), resume)
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
