//! The shell around one watch: waits, reads the store, writes lines.

use std::time::Duration;

use bytes::Bytes;
use futures::{Stream, stream};
use tokio::sync::watch::Receiver;
use tokio::time::{Instant, sleep_until};

use super::parameters::{Bookmarks, WatchParameters};
use super::render::{self, View};
use crate::api::SimApi;
use crate::behaviour::Manner;
use crate::resource::Resource;
use crate::store::{Watch, WatchEvent};
use crate::tally::RequestLabels;

/// Events written in one piece; a burst needs few pieces, a piece little memory.
const EVENTS_PER_PIECE: usize = 256;
/// The last bookmark comes this long before the watch ends, as in the real
/// server.
const LAST_BOOKMARK_LEAD: Duration = Duration::from_secs(2);

/// One client's watch.
pub(super) struct Feed {
    api: SimApi,
    resource: Resource,
    view: View,
    watch: Watch,
    /// Initial objects not yet written.
    pending: std::vec::IntoIter<WatchEvent>,
    newest: Receiver<u64>,
    /// How often watches of the kind had been silenced when this one was opened.
    silences: u64,
    closings: Receiver<u64>,
    pace: Pace,
    phase: Phase,
    manner: Manner,
    _open: OpenWatch,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Following,
    Ended,
}

/// When the next bookmark is due, and when the watch ends.
struct Pace {
    end: Instant,
    interval: Duration,
    next_bookmark: Option<Instant>,
}

/// Keeps the number of open watches right, however the watch ends.
struct OpenWatch {
    api: SimApi,
    labels: RequestLabels,
}

// === impl Feed ===

impl Feed {
    pub(super) fn new(
        api: SimApi,
        (watch, initial): (Watch, Vec<WatchEvent>),
        view: View,
        parameters: &WatchParameters,
        labels: RequestLabels,
    ) -> Self {
        Self {
            resource: labels.resource,
            view,
            watch,
            pending: initial.into_iter(),
            newest: api.follow_revision(),
            silences: api.read(|store| store.silences(labels.resource.kind)),
            closings: api.follow_closings(),
            pace: Pace::new(parameters, api.behaviour().bookmark_interval),
            phase: Phase::Following,
            manner: Manner::Usual,
            _open: OpenWatch::new(api.clone(), labels),
            api,
        }
    }

    pub(super) fn in_manner(self, manner: Manner) -> Self {
        Self { manner, ..self }
    }

    /// The lines of the watch, in pieces, until it ends.
    pub(super) fn lines(self) -> impl Stream<Item = Bytes> + Send {
        stream::unfold(self, |mut feed| async move {
            let piece = feed.next_piece().await?;
            let piece = feed.mannered(piece);
            Some((piece, feed))
        })
    }

    fn mannered(&mut self, piece: Bytes) -> Bytes {
        match self.manner {
            Manner::Usual => piece,
            Manner::Doubled => {
                let lines = piece.split_inclusive(|byte| *byte == b'\n');
                lines
                    .flat_map(|line| [line, line])
                    .collect::<Vec<_>>()
                    .concat()
                    .into()
            }
            Manner::CutOff => {
                self.phase = Phase::Ended;
                piece.slice(..piece.len() / 2)
            }
            Manner::Garbled => {
                self.phase = Phase::Ended;
                Bytes::from_static(b"<html>not today</html>\n")
            }
        }
    }

    async fn next_piece(&mut self) -> Option<Bytes> {
        while self.phase == Phase::Following && Instant::now() < self.pace.end {
            // Marked as seen before reading, so that no later change is slept
            // through.
            self.newest.mark_unchanged();
            if self.is_mute() {
                // Not even its end is told.
                return std::future::pending().await;
            }
            if let Some(piece) = self.ready() {
                return Some(piece);
            }
            if self.phase == Phase::Ended {
                return None;
            }
            let bookmark = self.pace.next_bookmark;
            let due = async {
                match bookmark {
                    Some(due) => sleep_until(due).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                // In this order, so that a busy server starves nothing.
                biased;
                _ = self.closings.changed() => return None,
                () = sleep_until(self.pace.end) => return None,
                () = due => {
                    self.pace.bookmark_sent();
                    let event = self.api.read(|store| self.watch.bookmark(store));
                    if let Some(event) = event {
                        return Some(render::events(self.resource, &[event], self.view));
                    }
                }
                changed = self.newest.changed() => changed.ok()?,
            }
        }
        None
    }

    fn is_mute(&self) -> bool {
        let silences = self.api.read(|store| store.silences(self.resource.kind));
        silences != self.silences
    }

    /// What can be written without waiting.
    fn ready(&mut self) -> Option<Bytes> {
        let initial: Vec<_> = self.pending.by_ref().take(EVENTS_PER_PIECE).collect();
        if !initial.is_empty() {
            return Some(render::events(self.resource, &initial, self.view));
        }
        let (advanced, is_over) = self.api.read(|store| {
            let advanced = self.watch.advance(store, EVENTS_PER_PIECE);
            (advanced, self.watch.is_over(store))
        });
        match advanced {
            Ok(events) if events.is_empty() => {
                if is_over {
                    self.phase = Phase::Ended;
                }
                None
            }
            Ok(events) => Some(render::events(self.resource, &events, self.view)),
            Err(refusal) => {
                self.phase = Phase::Ended;
                Some(render::error_event(&refusal))
            }
        }
    }
}

// === impl Pace ===

impl Pace {
    fn new(parameters: &WatchParameters, interval: Duration) -> Self {
        let now = Instant::now();
        let end = now + parameters.timeout.min(Duration::from_secs(24 * 60 * 60));
        let mut pace = Self {
            end,
            interval,
            next_bookmark: None,
        };
        if parameters.bookmarks == Bookmarks::Allowed && interval < Duration::MAX {
            pace.schedule(now);
        }
        pace
    }

    fn bookmark_sent(&mut self) {
        self.schedule(Instant::now());
    }

    fn schedule(&mut self, now: Instant) {
        let last = self
            .end
            .checked_sub(LAST_BOOKMARK_LEAD)
            .filter(|last| *last > now);
        let next = now.checked_add(self.interval);
        self.next_bookmark = match (next, last) {
            (Some(next), Some(last)) => Some(next.min(last)),
            (next, last) => next.or(last),
        };
    }
}

// === impl OpenWatch ===

impl OpenWatch {
    fn new(api: SimApi, labels: RequestLabels) -> Self {
        api.tally().watch_opened(&labels);
        Self { api, labels }
    }
}

impl Drop for OpenWatch {
    fn drop(&mut self) {
        self.api.tally().watch_closed(&self.labels);
    }
}
