//! Which faults were in force when.

use std::collections::BTreeMap;

use crate::{Effect, Fault, History, Installed, Phase, Replica, Seen, What};

/// One fault, from its start to its end.
#[derive(Clone, Debug)]
pub struct FaultSpan<'h> {
    /// Its id and class, and what it does.
    pub fault: &'h Fault,
    /// The event that starts it.
    pub place: usize,
    /// When it starts. Unit: nanoseconds.
    pub from: u64,
    /// When it is over; the largest number if it never is.
    pub to: u64,
}

/// All faults that were in force, by their start.
#[derive(Clone, Debug, Default)]
pub struct Faults<'h> {
    spans: Vec<FaultSpan<'h>>,
}

// === impl FaultSpan ===

impl FaultSpan<'_> {
    /// What it does.
    #[must_use]
    pub fn effect(&self) -> &Effect {
        &self.fault.effect
    }

    /// Whether it is in force at some moment from `from` to `to`.
    #[must_use]
    pub fn overlaps(&self, from: u64, to: u64) -> bool {
        self.from <= to && from <= self.to
    }
}

// === impl Faults ===

impl<'h> Faults<'h> {
    pub(super) fn of(history: &'h History) -> Self {
        let mut spans: Vec<FaultSpan<'h>> = Vec::new();
        let mut open: BTreeMap<u64, usize> = BTreeMap::new();
        for (place, event) in history.events().iter().enumerate() {
            match &event.what {
                What::Seen(Seen::FaultStart(fault)) if fault.installed == Installed::Yes => {
                    open.insert(fault.id, spans.len());
                    spans.push(FaultSpan {
                        fault,
                        place,
                        from: event.at,
                        to: u64::MAX,
                    });
                }
                What::Seen(Seen::FaultEnd(fault)) => {
                    let span = open.remove(&fault.id).and_then(|at| spans.get_mut(at));
                    span.into_iter().for_each(|span| span.to = event.at);
                }
                What::Seen(Seen::Phase(Phase::Healed)) => {
                    for at in std::mem::take(&mut open).into_values() {
                        spans
                            .get_mut(at)
                            .into_iter()
                            .for_each(|span| span.to = event.at);
                    }
                }
                What::Seen(_)
                | What::Invoke(_)
                | What::Ok(_)
                | What::Fail(..)
                | What::Unknown(..) => {}
            }
        }
        Self { spans }
    }

    /// All of them, by their start.
    #[must_use]
    pub fn spans(&self) -> &[FaultSpan<'h>] {
        &self.spans
    }

    /// A fault in force at some moment from `from` to `to`.
    #[must_use]
    pub fn any(&self, from: u64, to: u64) -> Option<&FaultSpan<'h>> {
        self.spans.iter().find(|span| span.overlaps(from, to))
    }

    /// A fault that disturbs this replica at some moment from `from` to `to`.
    #[must_use]
    pub fn touching(&self, replica: Replica, from: u64, to: u64) -> Option<&FaultSpan<'h>> {
        let mut spans = self.spans.iter();
        spans.find(|span| span.overlaps(from, to) && span.effect().touches(replica))
    }
}
