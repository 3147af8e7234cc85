//! Who must look again after an apply: one cell for each topic somebody waits for.
//!
//! A cell carries no value, only "changed since you last looked". A waiter that
//! wakes reads the newest state, so changes that come while it is busy become
//! one, and nothing queues up behind a slow one.

use futures::future::select_all;
use lockstep_resolution::{Topic, topics_of_change};
use lockstep_state::Changed;
use std::{
    collections::BTreeMap,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::watch;

/// The cells of one replica.
#[derive(Default)]
pub(crate) struct Bell {
    cells: Arc<Cells>,
}

#[derive(Default)]
struct Cells {
    by_topic: Mutex<BTreeMap<Topic, watch::Sender<()>>>,
    everything: watch::Sender<()>,
}

/// One waiter's place at the cells of its topics.
pub(crate) struct Ear {
    topics: Vec<Topic>,
    heard: Vec<watch::Receiver<()>>,
    cells: Arc<Cells>,
}

/// The replica is gone: nothing will ring again.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Silenced;

impl Bell {
    /// Waits for `topics` from now on: read the state after this call, not before.
    pub(crate) fn listen(&self, topics: Vec<Topic>) -> Ear {
        let mut heard = vec![self.cells.everything.subscribe()];
        let mut by_topic = self.cells.lock();
        heard.extend(
            topics
                .iter()
                .map(|topic| by_topic.entry(topic.clone()).or_default().subscribe()),
        );
        drop(by_topic);
        Ear {
            topics,
            heard,
            cells: self.cells.clone(),
        }
    }

    /// Wakes everybody whose answer may have changed.
    pub(crate) fn ring(&self, changed: &Changed) {
        if changed.all {
            self.cells.everything.send_replace(());
            return;
        }
        let by_topic = self.cells.lock();
        for topic in topics_of_change(changed) {
            if let Some(cell) = by_topic.get(&topic) {
                cell.send_replace(());
            }
        }
    }

    /// How many topics have a cell.
    #[cfg(test)]
    fn len(&self) -> usize {
        self.cells.lock().len()
    }
}

impl Cells {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Topic, watch::Sender<()>>> {
        self.by_topic.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ear {
    /// Waits until one of the topics changed since the last call, or since the
    /// ear was made.
    ///
    /// # Errors
    ///
    /// [`Silenced`] once the replica is gone.
    ///
    /// # Cancellation
    ///
    /// Safe: what rang while nobody waited is heard by the next call.
    pub(crate) async fn changed(&mut self) -> Result<(), Silenced> {
        let waits = self.heard.iter_mut().map(|heard| Box::pin(heard.changed()));
        let (rang, _, _) = pin!(select_all(waits)).await;
        for heard in &mut self.heard {
            heard.mark_unchanged();
        }
        rang.map_err(|_| Silenced)
    }
}

impl Drop for Ear {
    /// The last ear of a topic takes its cell along, so that cells are bounded
    /// by open streams.
    fn drop(&mut self) {
        let mut by_topic = self.cells.lock();
        self.heard.clear();
        for topic in &self.topics {
            if by_topic
                .get(topic)
                .is_some_and(|cell| cell.receiver_count() == 0)
            {
                by_topic.remove(topic);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use lockstep_model::ServiceId;

    fn service(name: &str) -> Topic {
        Topic::Service(ServiceId::named("shop", name))
    }

    fn changed(name: &str) -> Changed {
        let services = [ServiceId::named("shop", name)].into();
        Changed {
            services,
            ..Changed::default()
        }
    }

    #[test]
    fn only_those_who_asked_for_it_are_woken_and_only_once() {
        let bell = Bell::default();
        let mut web = bell.listen(vec![service("web")]);
        let mut cart = bell.listen(vec![service("cart")]);
        bell.ring(&changed("web"));
        bell.ring(&changed("web"));
        assert_eq!(web.changed().now_or_never(), Some(Ok(())));
        assert_eq!(web.changed().now_or_never(), None);
        assert_eq!(cart.changed().now_or_never(), None);
    }

    #[test]
    fn an_installed_snapshot_wakes_everybody() {
        let bell = Bell::default();
        let mut web = bell.listen(vec![service("web")]);
        bell.ring(&Changed::everything());
        assert_eq!(web.changed().now_or_never(), Some(Ok(())));
    }

    #[test]
    fn the_last_listener_takes_the_cell_along() {
        let bell = Bell::default();
        let first = bell.listen(vec![service("web")]);
        let second = bell.listen(vec![service("web"), service("cart")]);
        assert_eq!(bell.len(), 2);
        drop(first);
        assert_eq!(bell.len(), 2);
        drop(second);
        assert_eq!(bell.len(), 0);
    }
}
