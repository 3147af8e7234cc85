//! Decides what to ask next about one kind, and what to tell of the answers.
//!
//! Pure: no clock, no chance, no connection. At each moment there is one [`Act`] to
//! perform, whose outcome is the next [`Input`]. So nothing can overtake anything, and
//! the machine can be driven through every history by a test.

mod cursor;
mod serving;
mod trouble;

use lockstep_catalog::{Listed, SourceEvent};
use lockstep_model::{Cursor, Fact, FactKey, FactKind};
use std::time::Duration;

use super::{
    failure::{Failure, FailureKind},
    pace::{HEALTHY_AFTER, Pause},
    page::{Gathered, Page, Turned},
    version::Version,
};
use cursor::usable;
use serving::{Denial, Serving};
pub(crate) use serving::{News, nothing};
use trouble::{LIST_PATIENCE, Trouble, WATCH_PATIENCE};

/// After so many watches in a row that told nothing, the server is asked how far it has
/// come: about once a minute.
const IDLE_MAX: u32 = 4;

/// How to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    /// With a watch from this place.
    After(Cursor),
    /// With a list, which may not be older than this.
    Afresh(Option<Cursor>),
}

/// The one thing to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Ask for a page of a consistent list; without a token, for the first.
    List {
        version: Version,
        token: Option<String>,
    },
    /// Ask for a watch from a place in history.
    Watch { version: Version, from: Cursor },
    /// Ask how far the server's own history has come.
    Look { version: Version },
    /// Read on from the open watch.
    Read,
    /// Let time pass.
    Wait(Pause),
}

/// What became of the last act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// A page arrived.
    Page(Page),
    /// No page arrived.
    ListFailed(Failure),
    /// The server's history has come this far.
    Looked(Cursor),
    /// How far it has come was not told.
    LookFailed,
    /// The watch is open.
    WatchOpened,
    /// The watch was refused, or the server broke it off with an `ERROR` event.
    WatchFailed(Failure),
    /// The watch delivered.
    Told(Told),
    /// The watch is over.
    Ended { end: End, open_for: Duration },
    /// The time has passed.
    TimerFired,
}

/// One event of a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// An object changed; `None` if it is deleted or says nothing usable any more.
    Changed {
        key: FactKey,
        fact: Option<Box<Fact>>,
        cursor: Cursor,
    },
    /// Nothing changed up to here.
    Bookmark(Cursor),
    /// An object changed, but it cannot be decoded. Nothing is concluded from it: what
    /// was known of it stays in force until the next change or list.
    Undecodable(Option<Cursor>),
}

/// How a watch ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The server closed it.
    Closed,
    /// The connection broke.
    Broken,
    /// Its time was over and the server had not closed it: nobody is there.
    Silent,
    /// It delivered something that is no event.
    Garbled,
}

/// Why a list or a watch was begun again. A closed watch that had delivered is none.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Restart {
    /// The history was compacted, or the cursor is not of this server.
    Gone,
    /// A kind that was there is denied in every version.
    NotServed,
    /// A page failed.
    ListFailed,
    /// A list, an event or a bookmark was older than what had been seen.
    WentBack,
    /// Lists were older for so long that they are believed: the server's store was restored.
    Restored,
    /// A watch was refused or broken off with an error.
    WatchFailed,
    /// A watch was closed at once, or its connection broke.
    Broken,
    /// A watch went silent.
    Silent,
    /// A watch delivered nonsense.
    Garbled,
}

/// The answer to one input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// What to tell.
    pub(crate) emit: Option<SourceEvent>,
    /// What to count.
    pub(crate) restart: Option<Restart>,
    /// What people want to know.
    pub(crate) news: Option<News>,
    /// What to do next.
    pub(crate) act: Act,
}

/// Follows one kind.
#[derive(Debug)]
pub(crate) struct Machine {
    kind: FactKind,
    phase: Phase,
    /// The newest place that was seen: no list may be older.
    floor: Option<Cursor>,
    trouble: Trouble,
    serving: Serving,
    /// Watches in a row that lasted and told nothing.
    idle: u32,
    /// For the next step.
    news: Option<News>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    Listing(Gathered),
    Opening { from: Cursor },
    Looking { from: Cursor },
    Reading { opened: Cursor, from: Cursor },
    Waiting { pause: Pause, then: Next },
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Next {
    List,
    Watch { from: Cursor },
}

impl Machine {
    /// A cursor that no server can have meant counts as none.
    pub(crate) fn new(kind: FactKind, begin: Begin) -> Self {
        let (floor, phase) = match begin {
            Begin::After(at) if usable(&at) => (Some(at.clone()), Phase::Opening { from: at }),
            Begin::Afresh(Some(at)) if usable(&at) => {
                (Some(at), Phase::Listing(Gathered::default()))
            }
            Begin::After(_) | Begin::Afresh(_) => (None, Phase::Listing(Gathered::default())),
        };
        Self {
            kind,
            phase,
            serving: Serving::new(kind, floor.as_ref()),
            floor,
            trouble: Trouble::default(),
            idle: 0,
            news: None,
        }
    }

    /// What to do now.
    pub(crate) fn act(&self) -> Act {
        match &self.phase {
            Phase::Listing(gathered) => Act::List {
                version: self.serving.version(),
                token: gathered.token().map(str::to_owned),
            },
            Phase::Opening { from } => Act::Watch {
                version: self.serving.version(),
                from: from.clone(),
            },
            Phase::Looking { .. } => Act::Look {
                version: self.serving.version(),
            },
            Phase::Reading { .. } => Act::Read,
            Phase::Waiting { pause, .. } => Act::Wait(*pause),
        }
    }

    /// Takes in the outcome of the act. An outcome of another act changes nothing.
    pub(crate) fn step(&mut self, input: Input) -> Step {
        let phase = std::mem::replace(&mut self.phase, Phase::Listing(Gathered::default()));
        let (phase, emit, restart) = self.next_phase(phase, input);
        self.phase = phase;
        Step {
            emit,
            restart,
            news: self.news.take(),
            act: self.act(),
        }
    }

    fn next_phase(&mut self, phase: Phase, input: Input) -> Outcome {
        match (phase, input) {
            (Phase::Listing(gathered), Input::Page(page)) => self.page(gathered, page),
            (Phase::Listing(_), Input::ListFailed(failure)) => self.list_failed(&failure),
            (Phase::Opening { from }, Input::WatchOpened) => {
                self.news = self.serving.granted();
                let opened = from.clone();
                (Phase::Reading { opened, from }, Some(self.alive()), None)
            }
            (
                Phase::Opening { from } | Phase::Reading { from, .. },
                Input::WatchFailed(failure),
            ) => self.watch_failed(from, &failure),
            (Phase::Reading { opened, from }, Input::Told(told)) => self.told(opened, from, told),
            (Phase::Reading { opened, from }, Input::Ended { end, open_for }) => {
                if opened != from || open_for >= HEALTHY_AFTER {
                    self.trouble = Trouble::default();
                    let is_idle = opened == from;
                    self.idle = if is_idle {
                        self.idle.saturating_add(1)
                    } else {
                        0
                    };
                    self.ended_well(from, end)
                } else {
                    self.ended_badly(from, end)
                }
            }
            (Phase::Looking { from }, Input::Looked(at)) => self.looked(from, &at),
            // The watch will say what is wrong, if anything is.
            (Phase::Looking { from }, Input::LookFailed) => (Phase::Opening { from }, None, None),
            (Phase::Waiting { then, .. }, Input::TimerFired) => (then.phase(), None, None),
            (phase, _) => (phase, None, None),
        }
    }

    fn page(&mut self, gathered: Gathered, page: Page) -> Outcome {
        self.news = self.serving.granted();
        match gathered.turn(self.kind, page) {
            Turned::More(gathered) => (Phase::Listing(gathered), None, None),
            Turned::Complete(listed) => self.listed(listed),
            Turned::Torn => self.list_failed(&Failure::passing("pages of two moments")),
        }
    }

    fn listed(&mut self, listed: Listed) -> Outcome {
        let floor = self.floor.as_ref();
        let is_older = floor.is_some_and(|floor| listed.cursor.is_surely_older_than(floor));
        if is_older && !self.trouble.is_stuck_for(LIST_PATIENCE) {
            let pause = self.trouble.stuck(None);
            return (
                Phase::wait(pause, Next::List),
                None,
                Some(Restart::WentBack),
            );
        }
        self.floor = Some(listed.cursor.clone());
        self.trouble.listed();
        let from = listed.cursor.clone();
        let emit = Some(SourceEvent::Listed(listed));
        let restored = is_older.then_some(Restart::Restored);
        (Phase::Opening { from }, emit, restored)
    }

    fn list_failed(&mut self, failure: &Failure) -> Outcome {
        if self.is_denial(failure) {
            return self.denied(Next::List);
        }
        self.serving.interrupted();
        match failure.kind {
            FailureKind::Gone => (self.list_afresh(), None, Some(Restart::Gone)),
            FailureKind::BadRequest
            | FailureKind::TooNew
            | FailureKind::NotServed
            | FailureKind::Unauthorized
            | FailureKind::Unreachable
            | FailureKind::Unanswered
            | FailureKind::Other => {
                let pause = self.trouble.failed(failure.retry_after);
                (
                    Phase::wait(pause, Next::List),
                    None,
                    Some(Restart::ListFailed),
                )
            }
        }
    }

    fn watch_failed(&mut self, from: Cursor, failure: &Failure) -> Outcome {
        if self.is_denial(failure) {
            return self.denied(Next::Watch { from });
        }
        self.serving.interrupted();
        match failure.kind {
            FailureKind::Gone | FailureKind::BadRequest => self.lost(),
            FailureKind::TooNew => self.stuck(from, failure.retry_after, Restart::WatchFailed),
            FailureKind::NotServed
            | FailureKind::Unauthorized
            | FailureKind::Unreachable
            | FailureKind::Unanswered
            | FailureKind::Other => {
                let pause = self.trouble.failed(failure.retry_after);
                let next = Next::Watch { from };
                (Phase::wait(pause, next), None, Some(Restart::WatchFailed))
            }
        }
    }

    /// Of a kind that every cluster has, this is a failure like any other.
    fn is_denial(&self, failure: &Failure) -> bool {
        failure.kind == FailureKind::NotServed && self.kind.is_optional()
    }

    /// The version is not served: `next` may succeed in another one. A kind that is gone
    /// is listed as empty and not told as lost: nothing about it is unknown.
    fn denied(&mut self, next: Next) -> Outcome {
        match self.serving.denied() {
            Denial::Next => (next.phase(), None, None),
            Denial::Doubted(pause) => (Phase::wait(pause, next), None, Some(Restart::NotServed)),
            Denial::Absent(pause, news) => {
                self.news = news;
                let emit = match news {
                    Some(_) => SourceEvent::Listed(nothing(self.kind)),
                    None => self.alive(),
                };
                (Phase::wait(pause, Next::List), Some(emit), None)
            }
        }
    }

    /// The server took the watch, or said again that there is nothing to watch.
    fn alive(&self) -> SourceEvent {
        SourceEvent::Alive { kind: self.kind }
    }

    /// The watch cannot go on: what happens until the list has come is not known.
    fn lost(&mut self) -> Outcome {
        let kind = self.kind;
        let emit = Some(SourceEvent::Lost { kind });
        (self.list_afresh(), emit, Some(Restart::Gone))
    }

    /// Lists because history is gone: at once, unless that has just been tried.
    fn list_afresh(&mut self) -> Phase {
        match self.trouble.gone() {
            Some(pause) => Phase::wait(pause, Next::List),
            None => Phase::Listing(Gathered::default()),
        }
    }

    /// Watching from `from` leads nowhere: the server lags, its history was replaced (etcd
    /// restored from a backup), or holds something unreadable right here. After some
    /// patience a list tells which: one from the past is not believed at once.
    fn stuck(&mut self, from: Cursor, retry_after: Option<Duration>, why: Restart) -> Outcome {
        if self.trouble.is_stuck_for(WATCH_PATIENCE) {
            self.trouble.turned();
            return self.lost();
        }
        let pause = self.trouble.stuck(retry_after);
        (Phase::wait(pause, Next::Watch { from }), None, Some(why))
    }

    fn told(&mut self, opened: Cursor, from: Cursor, told: Told) -> Outcome {
        let (cursor, emit) = match told {
            Told::Changed { key, fact, cursor } => {
                let at = cursor.clone();
                let fact = fact.map(|fact| *fact);
                (Some(at), Some(SourceEvent::Changed { key, fact, cursor }))
            }
            Told::Bookmark(cursor) => {
                let kind = self.kind;
                let at = cursor.clone();
                (Some(at), Some(SourceEvent::Progress { kind, cursor }))
            }
            Told::Undecodable(cursor) => (cursor, None),
        };
        let Some(cursor) = cursor else {
            return (Phase::Reading { opened, from }, emit, None);
        };
        if cursor.is_surely_older_than(&from) {
            // A server that lags, or one whose history was replaced: neither may take
            // us back in time.
            return self.stuck(from, None, Restart::WentBack);
        }
        self.trouble = Trouble::default();
        self.floor = Some(cursor.clone());
        let from = cursor;
        (Phase::Reading { opened, from }, emit, None)
    }

    fn ended_well(&mut self, from: Cursor, end: End) -> Outcome {
        match end {
            End::Closed if self.idle >= IDLE_MAX => {
                self.idle = 0;
                (Phase::Looking { from }, None, None)
            }
            End::Closed => (Phase::Opening { from }, None, None),
            End::Broken | End::Silent | End::Garbled => self.ended_badly(from, end),
        }
    }

    /// A server whose store was restored takes a watch from its own future, tells nothing
    /// of what changes, and closes it in time. Whether lists are older too decides.
    fn looked(&mut self, from: Cursor, at: &Cursor) -> Outcome {
        if at.is_surely_older_than(&from) {
            return (self.list_afresh(), None, Some(Restart::WentBack));
        }
        (Phase::Opening { from }, None, None)
    }

    fn ended_badly(&mut self, from: Cursor, end: End) -> Outcome {
        let why = match end {
            End::Closed | End::Broken => Restart::Broken,
            End::Silent => Restart::Silent,
            End::Garbled => return self.stuck(from, None, Restart::Garbled),
        };
        let pause = self.trouble.failed(None);
        (Phase::wait(pause, Next::Watch { from }), None, Some(why))
    }
}

/// The phase that follows, what to tell, what to count.
type Outcome = (Phase, Option<SourceEvent>, Option<Restart>);

impl Phase {
    fn wait(pause: Pause, then: Next) -> Self {
        Self::Waiting { pause, then }
    }
}

impl Next {
    fn phase(self) -> Phase {
        match self {
            Self::List => Phase::Listing(Gathered::default()),
            Self::Watch { from } => Phase::Opening { from },
        }
    }
}

#[cfg(test)]
mod tests;
