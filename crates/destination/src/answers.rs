//! Answers that streams share: whoever asks for the same target from the same
//! place is told the same, so an answer is worked out once per revision, kept
//! once, and its messages are encoded once.

use bytes::Bytes;
use lockstep_model::Target;
use lockstep_position::{HistoryId, Revision};
use lockstep_resolution::{Answer, Client, EndpointStream, Place, Selection, State, endpoints};
use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use crate::{encode, frame::frame};

/// How many steps to one answer are kept: the first message, the step from the
/// answer before, and some for streams that lag behind.
const STEPS_MAX: usize = 4;

/// Encoded messages, in order; shared by the streams that write them.
pub(crate) type Frames = Arc<[Bytes]>;

/// The cells of all targets that streams are open on.
#[derive(Default)]
pub(crate) struct Answers(Mutex<Cells>);

#[derive(Default)]
struct Cells {
    by_key: BTreeMap<Key, Weak<Cell>>,
    /// How many cells there were when the dead ones were last thrown out.
    swept: usize,
}

/// What an answer depends on besides the state.
type Key = (Target, Place);

/// The newest answer to one key.
pub(crate) struct Cell {
    key: Key,
    newest: Mutex<Option<Newest>>,
}

struct Newest {
    at: (HistoryId, Revision),
    answer: Answer,
    contested: Arc<BTreeSet<IpAddr>>,
    steps: VecDeque<Step>,
}

/// How some streams came to the newest answer.
struct Step {
    before: EndpointStream,
    after: EndpointStream,
    frames: Frames,
}

impl Answers {
    /// The cell of a client: `own`, unless the client is in another place by
    /// now. Each stream keeps its cell alive.
    pub(crate) fn cell(
        &self,
        state: &State,
        target: &Target,
        client: &Client,
        own: Option<Arc<Cell>>,
    ) -> Arc<Cell> {
        let place = Place::of(state, target, client);
        let own = own.filter(|own| own.key.1 == place);
        own.unwrap_or_else(|| self.cell_of((target.clone(), place)))
    }

    fn cell_of(&self, key: Key) -> Arc<Cell> {
        let mut cells = locked(&self.0);
        if let Some(cell) = cells.by_key.get(&key).and_then(Weak::upgrade) {
            return cell;
        }
        let cell = Arc::new(Cell {
            key: key.clone(),
            newest: Mutex::default(),
        });
        cells.by_key.insert(key, Arc::downgrade(&cell));
        cells.sweep();
        cell
    }
}

impl Cells {
    /// Throws out cells without a stream, whenever their number has doubled:
    /// at most half of them are dead, and a sweep costs little per new cell.
    fn sweep(&mut self) {
        if self.by_key.len() > 2 * self.swept {
            self.by_key.retain(|_, cell| cell.strong_count() > 0);
            self.swept = self.by_key.len();
        }
    }
}

impl Cell {
    /// Brings a stream to the answer in `state`, and gives the messages.
    pub(crate) fn advance(&self, state: &State, stream: &mut EndpointStream) -> Frames {
        self.newest(state, |newest| newest.advance(stream))
    }

    /// The addresses that several objects claim in the answer in `state`.
    pub(crate) fn contested(&self, state: &State) -> Arc<BTreeSet<IpAddr>> {
        self.newest(state, |newest| newest.contested.clone())
    }

    fn newest<T>(&self, state: &State, take: impl FnOnce(&mut Newest) -> T) -> T {
        let at = (state.position().history, state.position().revision);
        // Held while the answer is worked out: the others wait for it instead
        // of working it out once more each.
        let mut slot = locked(&self.newest);
        let newest = match slot.take() {
            Some(newest) if newest.at == at => newest,
            last => {
                let (target, place) = &self.key;
                Newest::after(last, at, endpoints(state, target, place))
            }
        };
        take(slot.insert(newest))
    }
}

impl Newest {
    /// An equal answer stays the same one, with all steps to it, so that its
    /// streams see at a glance that they have nothing to say.
    fn after(last: Option<Self>, at: (HistoryId, Revision), selection: Selection) -> Self {
        let Selection { answer, contested } = selection;
        let contested = contested.into();
        match last {
            Some(last) if last.answer == answer => Self {
                at,
                contested,
                ..last
            },
            Some(_) | None => Self {
                at,
                answer,
                contested,
                steps: VecDeque::new(),
            },
        }
    }

    fn advance(&mut self, stream: &mut EndpointStream) -> Frames {
        let known = self.steps.iter().find(|step| step.before.is_like(stream));
        if let Some(step) = known {
            stream.clone_from(&step.after);
            return step.frames.clone();
        }
        let before = stream.clone();
        let updates = stream.advance(self.answer.clone());
        let frames = updates.iter().map(encode::update);
        let frames: Frames = frames.filter_map(|update| frame(&update)).collect();
        if self.steps.len() >= STEPS_MAX {
            self.steps.pop_front();
        }
        self.steps.push_back(Step {
            before,
            after: stream.clone(),
            frames: frames.clone(),
        });
        frames
    }
}

/// Nothing panics while it holds one of these locks; and a lost cell would
/// only be worked out again.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
