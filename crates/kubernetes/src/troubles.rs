//! What goes wrong with each kind just now, in words for people.

use lockstep_model::FactKind;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::time::Instant;

use crate::Metrics;

/// The troubles of one source; clones note together.
#[derive(Clone, Debug)]
pub(crate) struct Troubles {
    noted: Arc<Mutex<BTreeMap<FactKind, Trouble>>>,
    metrics: Metrics,
}

#[derive(Clone, Debug)]
struct Trouble {
    since: Instant,
    what: String,
}

impl Troubles {
    /// None yet. `metrics` show which kinds have any.
    pub(crate) fn new(metrics: Metrics) -> Self {
        Self {
            noted: Arc::default(),
            metrics,
        }
    }

    /// Something went wrong with a kind; an earlier trouble goes on under a new name.
    pub(crate) fn note(&self, kind: FactKind, what: String) {
        self.metrics.troubled(kind, true);
        let mut noted = self.noted();
        let since = noted.get(&kind).map_or_else(Instant::now, |old| old.since);
        noted.insert(kind, Trouble { since, what });
    }

    /// Nothing is wrong with a kind any more.
    pub(crate) fn clear(&self, kind: FactKind) {
        self.metrics.troubled(kind, false);
        self.noted().remove(&kind);
    }

    /// Nothing is known to be wrong.
    pub(crate) fn clear_all(&self) {
        for kind in FactKind::ALL {
            self.clear(kind);
        }
    }

    /// One sentence each.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let noted = self.noted().clone();
        let sentence = |(kind, trouble): (&FactKind, &Trouble)| {
            let (what, seconds) = (&trouble.what, trouble.since.elapsed().as_secs());
            format!("{kind}, for {seconds} s: {what}")
        };
        noted.iter().map(sentence).collect()
    }

    fn noted(&self) -> MutexGuard<'_, BTreeMap<FactKind, Trouble>> {
        // Each change leaves it whole, so a panic of another holder does too.
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[tokio::test(start_paused = true)]
    async fn a_trouble_counts_from_its_beginning_until_it_is_over() {
        let metrics = Metrics::default();
        let troubles = Troubles::new(metrics.clone());
        troubles.note(FactKind::Pod, "no answer".to_owned());
        tokio::time::advance(Duration::from_secs(40)).await;
        troubles.note(FactKind::Pod, "status 403".to_owned());
        troubles.note(FactKind::Job, "status 500".to_owned());
        assert_eq!(
            troubles.sentences(),
            ["jobs, for 0 s: status 500", "pods, for 40 s: status 403"]
        );
        let shown = "lockstep_source_troubled{kind=\"pods\"}";
        assert!(metrics.text().contains(&format!("{shown} 1")));
        troubles.clear(FactKind::Pod);
        assert!(metrics.text().contains(&format!("{shown} 0")));
        assert_eq!(troubles.sentences(), ["jobs, for 0 s: status 500"]);
        troubles.clear_all();
        assert_eq!(troubles.sentences(), [""; 0]);
    }
}
