//! Operations, from their begin to their end.

use std::collections::BTreeMap;

use super::Run;
use crate::{Call, Process, Return, What};

/// One operation.
#[derive(Clone, Debug)]
pub struct OperationSpan<'h> {
    /// What was called.
    pub call: &'h Call,
    /// The event that begins it.
    pub place: usize,
    /// When it began. Unit: nanoseconds.
    pub from: u64,
    /// How it ended, with place and time; none if it never did, which counts as unknown.
    pub end: Option<(usize, u64, Ended<'h>)>,
}

/// How an operation ended.
#[derive(Copy, Clone, Debug)]
pub enum Ended<'h> {
    /// It took effect.
    Ok(&'h Return),
    /// It took none.
    Fail,
    /// Nobody knows.
    Unknown,
}

// === impl Run ===

impl<'h> Run<'h> {
    /// All operations but the opening of streams, by their begin.
    #[must_use]
    pub fn operations(&self) -> Vec<OperationSpan<'h>> {
        let mut spans: Vec<OperationSpan<'h>> = Vec::new();
        let mut open: BTreeMap<Process, usize> = BTreeMap::new();
        for (place, event) in self.events() {
            let ended = match &event.what {
                What::Invoke(Call::Open(_)) | What::Seen(_) => continue,
                What::Invoke(call) => {
                    open.insert(event.process, spans.len());
                    spans.push(OperationSpan {
                        call,
                        place,
                        from: event.at,
                        end: None,
                    });
                    continue;
                }
                What::Ok(returned) => Ended::Ok(returned),
                What::Fail(..) => Ended::Fail,
                What::Unknown(..) => Ended::Unknown,
            };
            let span = open.remove(&event.process).and_then(|at| spans.get_mut(at));
            if let Some(span) = span {
                span.end = Some((place, event.at, ended));
            }
        }
        spans
    }
}
