//! Streams, from their opening to their end.

use std::collections::BTreeMap;

use crate::{Call, History, Open, Opened, Operation, Process, Return, Seen, StreamEnd, Told, What};

/// One stream.
#[derive(Clone, Debug)]
pub struct Stream<'h> {
    /// What was asked.
    pub open: &'h Open,
    /// The event that opens it.
    pub place: usize,
    /// When. Unit: nanoseconds.
    pub at: u64,
    /// The response headers, if they came, with place and time.
    pub opened: Option<(usize, u64, &'h Opened)>,
    /// Why it was refused, if it was, with place and time.
    pub refused: Option<(usize, u64, &'h str)>,
    /// The messages.
    pub heard: Vec<Heard<'h>>,
    /// How it ended, if it did, with place and time.
    pub end: Option<(usize, u64, &'h StreamEnd)>,
}

/// One message of a stream.
#[derive(Copy, Clone, Debug)]
pub struct Heard<'h> {
    /// The event.
    pub place: usize,
    /// When. Unit: nanoseconds.
    pub at: u64,
    /// What was told.
    pub told: &'h Told,
}

// === impl Stream ===

impl<'h> Stream<'h> {
    pub(super) fn all(history: &'h History) -> Vec<Self> {
        let mut streams: Vec<Self> = Vec::new();
        let mut open: BTreeMap<Process, usize> = BTreeMap::new();
        for (place, event) in history.events().iter().enumerate() {
            let at = event.at;
            if let What::Invoke(Call::Open(asked)) = &event.what {
                open.insert(event.process, streams.len());
                streams.push(Self::opening(asked, place, at));
                continue;
            }
            // Only a stream's own events have its process.
            let known = open.get(&event.process).copied();
            let Some(stream) = known.and_then(|known| streams.get_mut(known)) else {
                continue;
            };
            match &event.what {
                What::Ok(Return::Open(opened)) => stream.opened = Some((place, at, opened)),
                What::Fail(Operation::Open, why) | What::Unknown(Operation::Open, why) => {
                    stream.refused = Some((place, at, why));
                }
                What::Seen(Seen::Msg(told)) => stream.heard.push(Heard { place, at, told }),
                What::Seen(Seen::End(end)) => stream.end = Some((place, at, end)),
                What::Seen(_)
                | What::Invoke(_)
                | What::Ok(_)
                | What::Fail(..)
                | What::Unknown(..) => {}
            }
        }
        streams
    }

    fn opening(open: &'h Open, place: usize, at: u64) -> Self {
        Self {
            open,
            place,
            at,
            opened: None,
            refused: None,
            heard: Vec::new(),
            end: None,
        }
    }

    /// When it was over, by refusal or end; none if it never was.
    #[must_use]
    pub fn over(&self) -> Option<u64> {
        let refused = self.refused.map(|(_, at, _)| at);
        refused.or(self.end.map(|(_, at, _)| at))
    }

    /// Whether the replica called itself stale when the stream opened, or in its first message.
    #[must_use]
    pub fn is_marked_stale(&self) -> bool {
        let opened = self.opened.and_then(|(_, _, opened)| opened.stale);
        let first = self.heard.first().and_then(|heard| heard.told.stale);
        opened == Some(true) || first == Some(true)
    }
}
