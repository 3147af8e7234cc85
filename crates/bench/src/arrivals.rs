//! When the last of many has seen a change.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};
use tokio::sync::mpsc;

/// Counts those who have seen the change under way, and tells when all have.
#[derive(Clone)]
pub(crate) struct Arrivals {
    seen: Arc<AtomicUsize>,
    all: usize,
    last: mpsc::UnboundedSender<Instant>,
}

impl Arrivals {
    /// For `all` observers; the receiver gets the time of the last one, once a change.
    pub(crate) fn of(all: usize) -> (Self, mpsc::UnboundedReceiver<Instant>) {
        let (last, times) = mpsc::unbounded_channel();
        (
            Self {
                seen: Arc::default(),
                all,
                last,
            },
            times,
        )
    }

    /// One observer has seen the change.
    pub(crate) fn seen(&self) {
        let now = Instant::now();
        if self.seen.fetch_add(1, Ordering::AcqRel) + 1 == self.all {
            self.seen.store(0, Ordering::Release);
            // Nobody receives any more when the run is over.
            let _ = self.last.send(now);
        }
    }
}
