//! The newest applied state, for everybody who reads.

use arc_swap::ArcSwap;
use lockstep_position::{Position, Revision};
use lockstep_state::{Changed, State};
use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::sync::watch;

use crate::{OpenStreams, bell::Bell};

/// How many recent positions are kept to compare with other replicas.
const POSITIONS_KEPT: usize = 1024;

/// The read side of one replica: a state that never changes under its reader,
/// and a bell that rings for those whose answer may have.
///
/// Written by the state machine alone.
pub struct Published {
    newest: ArcSwap<State>,
    bell: Bell,
    recent: Mutex<VecDeque<Position>>,
    position: watch::Sender<Position>,
    broken: OnceLock<String>,
    broke: watch::Sender<bool>,
    suspect: AtomicBool,
    course: watch::Sender<OpenStreams>,
}

impl Default for Published {
    fn default() -> Self {
        Self {
            newest: ArcSwap::from_pointee(State::default()),
            bell: Bell::default(),
            recent: Mutex::default(),
            position: watch::Sender::new(Position::default()),
            broken: OnceLock::new(),
            broke: watch::Sender::new(false),
            suspect: AtomicBool::default(),
            course: watch::Sender::default(),
        }
    }
}

impl Published {
    /// The newest state. Reading never waits for an apply.
    #[must_use]
    pub fn newest(&self) -> Arc<State> {
        self.newest.load_full()
    }

    /// Follows the position of the newest state.
    #[must_use]
    pub fn position(&self) -> watch::Receiver<Position> {
        self.position.subscribe()
    }

    /// Recent positions from revision `from` on, oldest first: one for each
    /// revision that was applied, perhaps a moment before it is published.
    #[must_use]
    pub fn recent(&self, from: Revision) -> Vec<Position> {
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent
            .iter()
            .filter(|position| position.revision >= from)
            .copied()
            .collect()
    }

    /// The position at a revision, if it was applied and is still kept.
    #[must_use]
    pub fn at(&self, revision: Revision) -> Option<Position> {
        let mut recent = self.recent(revision).into_iter().rev();
        // The newest of that number: another history may have begun meanwhile.
        recent.find(|it| it.revision == revision)
    }

    /// Why this replica cannot go on, if it cannot.
    #[must_use]
    pub fn broken(&self) -> Option<String> {
        self.broken.get().cloned()
    }

    /// Waits until this replica cannot go on, and says why.
    pub async fn wait_broken(&self) -> String {
        let mut broke = self.broke.subscribe();
        // The sender lives in `self`: it cannot be gone.
        let _ = broke.wait_for(|broke| *broke).await;
        self.broken().unwrap_or_default()
    }

    pub(crate) fn bell(&self) -> &Bell {
        &self.bell
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.broken.get().is_some()
    }

    pub(crate) fn break_off(&self, why: String) {
        // The first reason is the one that matters.
        let _ = self.broken.set(why);
        self.broke.send_replace(true);
        self.course.send_replace(OpenStreams::EndNow);
    }

    /// Whether it may be wrong, and nobody has decided yet: it goes on applying, and
    /// answers nothing.
    pub(crate) fn is_suspect(&self) -> bool {
        self.suspect.load(Ordering::Acquire)
    }

    pub(crate) fn suspect(&self) {
        self.suspect.store(true, Ordering::Release);
        self.course.send_replace(OpenStreams::EndNow);
    }

    pub(crate) fn trust(&self) {
        self.suspect.store(false, Ordering::Release);
    }

    /// Follows what becomes of open streams.
    pub(crate) fn course(&self) -> watch::Receiver<OpenStreams> {
        self.course.subscribe()
    }

    /// Says what becomes of open streams; those of a replica that broke off end in any case.
    pub(crate) fn steer(&self, course: OpenStreams) {
        self.course.send_if_modified(|now| {
            let is_new = *now != course && !self.is_broken();
            if is_new {
                *now = course;
            }
            is_new
        });
    }

    pub(crate) fn publish(&self, state: &State, changed: &Changed) {
        if self.is_broken() {
            return;
        }
        let position = *state.position();
        self.newest.store(Arc::new(state.clone()));
        self.note(position);
        self.position.send_replace(position);
        if !changed.is_empty() {
            self.bell.ring(changed);
        }
    }

    /// Keeps the digests of a revision.
    pub(crate) fn note(&self, position: Position) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        match recent.back_mut() {
            Some(last) if last.revision == position.revision => *last = position,
            Some(_) | None => recent.push_back(position),
        }
        if recent.len() > POSITIONS_KEPT {
            recent.pop_front();
        }
    }
}
