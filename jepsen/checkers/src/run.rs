//! One run, prepared once for all checkers: its faults, streams, committed revisions and content.

mod commits;
mod faults;
mod operations;
mod streams;
mod timeline;

use std::collections::BTreeSet;

use crate::{Event, History, Limits, Phase, Replica, Seen, What};

pub use commits::Commits;
pub use faults::{FaultSpan, Faults};
pub use operations::{Ended, OperationSpan};
pub use streams::{Heard, Stream};
pub use timeline::{Committed, Timeline};

/// A history with what several checkers need of it.
#[derive(Debug)]
pub struct Run<'h> {
    /// What happened.
    pub history: &'h History,
    /// What it is held to.
    pub limits: &'h Limits,
    /// The faults.
    pub faults: Faults<'h>,
    /// The streams, in the order of their opening.
    pub streams: Vec<Stream<'h>>,
    /// When revisions were known to be committed.
    pub commits: Commits,
    /// What was committed, and what it means for the questions of the streams.
    pub timeline: Timeline<'h>,
}

// === impl Run ===

impl<'h> Run<'h> {
    /// Prepares a history.
    #[must_use]
    pub fn of(history: &'h History, limits: &'h Limits) -> Self {
        let streams = Stream::all(history);
        let questions = streams.iter().map(|stream| &stream.open.question);
        let questions: BTreeSet<_> = questions.collect();
        Self {
            history,
            limits,
            faults: Faults::of(history),
            timeline: Timeline::of(history, questions),
            streams,
            commits: Commits::of(history),
        }
    }

    /// The events with their places.
    pub fn events(&self) -> impl DoubleEndedIterator<Item = (usize, &'h Event)> {
        self.history.events().iter().enumerate()
    }

    /// What was seen, with place and time.
    pub fn seen(&self) -> impl DoubleEndedIterator<Item = (usize, u64, &'h Seen)> {
        self.events()
            .filter_map(|(place, event)| match &event.what {
                What::Seen(seen) => Some((place, event.at, seen)),
                What::Invoke(_) | What::Ok(_) | What::Fail(..) | What::Unknown(..) => None,
            })
    }

    /// When a phase began, and the place that says so.
    #[must_use]
    pub fn phase(&self, wanted: Phase) -> Option<(usize, u64)> {
        let mut phases = self.seen().filter_map(|(place, at, seen)| match seen {
            Seen::Phase(phase) => Some((place, at, *phase)),
            _ => None,
        });
        let found = phases.find(|(_, _, phase)| *phase == wanted);
        found.map(|(place, at, _)| (place, at))
    }

    /// The time of the last event.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.history.events().last().map_or(0, |event| event.at)
    }

    /// The time from which on the group is held to be well unless a fault says otherwise: the
    /// first phase and the time to recover.
    #[must_use]
    pub fn well_from(&self) -> Option<u64> {
        let warm = self.phase(Phase::Warm);
        warm.map(|(_, at)| at + self.limits.times.recover)
    }

    /// Every replica that the history speaks of.
    #[must_use]
    pub fn replicas(&self) -> BTreeSet<Replica> {
        self.seen()
            .filter_map(|(_, _, seen)| seen.replica())
            .collect()
    }
}
