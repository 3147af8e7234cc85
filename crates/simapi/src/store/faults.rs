//! What a store does wrong when it is told to.

use super::Store;
use crate::kind::Kind;

// === faults of Store ===

impl Store {
    /// Holds back from watches every change of a kind after now; those that
    /// are held back already stay so.
    pub(crate) fn hold(&mut self, kind: &'static Kind) {
        self.held.entry(kind).or_insert(self.revision);
    }

    /// Tells watches what was held back, and what comes.
    pub(crate) fn release(&mut self, kind: &'static Kind) {
        self.held.remove(kind);
    }

    /// How often the watches of a kind were silenced.
    pub(crate) fn silences(&self, kind: &'static Kind) -> u64 {
        self.silences.get(kind).copied().unwrap_or_default()
    }

    /// Silences the watches of a kind that are open now.
    pub(crate) fn silence(&mut self, kind: &'static Kind) {
        *self.silences.entry(kind).or_default() += 1;
    }

    /// Tells no watch anything of the next `count` changes of a kind, ever.
    pub(crate) fn lose(&mut self, kind: &'static Kind, count: usize) {
        *self.losing.entry(kind).or_default() += count;
    }

    /// Whether a change of a kind that is made now is lost to watches.
    pub(super) fn loses(&mut self, kind: &'static Kind) -> bool {
        let Some(left) = self.losing.get_mut(kind) else {
            return false;
        };
        let before = *left;
        *left = before.saturating_sub(1);
        before > 0
    }

    /// Shows lists and watches what was `lag` revisions ago, as a server does whose own
    /// copy is behind.
    pub(crate) fn lag(&mut self, lag: u64) {
        self.lag = lag;
    }

    /// The newest revision that lists and watches show.
    pub(super) fn shown(&self) -> u64 {
        let shown = self.revision.saturating_sub(self.lag);
        shown.max(self.history.compacted()).min(self.revision)
    }

    /// Goes back to what was at `revision`, as if nothing had happened since: numbers that
    /// were given to revisions are given again. `None` if that is not remembered.
    pub(crate) fn restore(&mut self, revision: u64) -> Option<()> {
        let events: Vec<_> = self.history.forget_after(revision)?;
        for event in events.into_iter().rev() {
            let objects = self.objects.entry(event.kind).or_default();
            match event.previous {
                Some(previous) => objects.insert(event.key, previous),
                None => objects.remove(&event.key),
            };
        }
        self.revision = self.revision.min(revision);
        Some(())
    }
}
