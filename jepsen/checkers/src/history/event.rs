//! One line of a history, and all of them.

use super::{Call, Operation, Process, Return, Seen};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When, by one monotonic clock for the whole run. Unit: nanoseconds.
    pub at: u64,
    /// Who did it or saw it.
    pub process: Process,
    /// What it was.
    pub what: What,
}

/// What happened. An operation begins with `Invoke` and ends with one of the next three;
/// `Seen` stands alone.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// An operation begins.
    Invoke(Call),
    /// It certainly took effect.
    Ok(Return),
    /// It certainly took no effect; with the reason.
    Fail(Operation, String),
    /// It may have taken effect, or may still; with the reason. The process is retired.
    Unknown(Operation, String),
    /// Something was seen.
    Seen(Seen),
}

/// All that happened, in the order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    events: Vec<Event>,
}

impl From<Return> for What {
    fn from(returned: Return) -> Self {
        Self::Ok(returned)
    }
}

impl From<Seen> for What {
    fn from(seen: Seen) -> Self {
        Self::Seen(seen)
    }
}

// === impl History ===

impl History {
    /// A history of nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an event and returns its place, from 0. Times must not decrease: a history in
    /// which they do is refused by every checker.
    pub fn push(&mut self, at: u64, process: Process, what: What) -> usize {
        self.events.push(Event { at, process, what });
        self.events.len() - 1
    }

    /// Adds the begin of an operation.
    pub fn invoke(&mut self, at: u64, process: Process, call: Call) -> usize {
        self.push(at, process, What::Invoke(call))
    }

    /// Adds the end of an operation that took effect.
    pub fn ok(&mut self, at: u64, process: Process, returned: Return) -> usize {
        self.push(at, process, What::Ok(returned))
    }

    /// Adds something seen.
    pub fn seen(&mut self, at: u64, process: Process, seen: Seen) -> usize {
        self.push(at, process, What::Seen(seen))
    }

    /// The events, in order.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }
}

impl From<Vec<Event>> for History {
    fn from(events: Vec<Event>) -> Self {
        Self { events }
    }
}
