//! C2: every message of every stream is what the log makes it.
//!
//! Messages that share a label are one step, from what was true at the label before to what is
//! true at this one:
//!
//! ```text
//! expected(r4) --add--> in between --remove--> expected(r7)
//! ```
//!
//! In between nothing may be told that is not true at one of the two ends, and nothing may be
//! gone that both have.

use lockstep_jepsen_model::{Difference, Expected, ExpectedSet, Fold, Message, Step};

use crate::{Guarantee, Heard, Rev, Run, Stream, Verdict};

/// The walk over one stream.
struct Walk<'r, 'h> {
    run: &'r Run<'h>,
    verdict: &'r mut Verdict,
    stream: &'r Stream<'h>,
    fold: Fold,
    /// The last label, what is true there, and the last message with it.
    step: Option<(Rev, &'r Expected, usize)>,
}

pub(super) fn check(run: &Run<'_>, verdict: &mut Verdict) {
    if run.timeline.entries().is_empty() {
        verdict.doubt("no entry of the log was seen");
        return;
    }
    if let Some(index) = run.timeline.gap() {
        verdict.doubt(format!("entry {index} of the log was not seen"));
        return;
    }
    for stream in &run.streams {
        let walk = Walk {
            run,
            verdict,
            stream,
            fold: Fold::default(),
            step: None,
        };
        walk.all();
    }
    verdict.count("streams", run.streams.len() as u64);
    if verdict
        .counts
        .get("messages")
        .is_none_or(|count| *count == 0)
    {
        verdict.doubt("no stream received a message");
    }
}

// === impl Walk ===

impl<'r, 'h> Walk<'r, 'h> {
    fn all(mut self) {
        for heard in &self.stream.heard {
            self.verdict.count("messages", 1);
            let Some(rev) = heard.told.rev else {
                self.verdict.doubt("there are messages without a label");
                return;
            };
            if !self.follows(rev, heard.place) {
                return;
            }
            let question = &self.stream.open.question;
            let Some(expected) = self.run.timeline.at(question, rev) else {
                self.verdict
                    .doubt(format!("the log was not seen up to {rev}"));
                return;
            };
            if self.step.is_some_and(|(last, _, _)| last != rev) {
                self.arrive();
            }
            self.take(heard, rev, expected);
        }
        // A stream may end within a step: what the step was about to remove may still be there.
        self.stop();
    }

    /// Labels never go back, and never change their history.
    fn follows(&mut self, rev: Rev, place: usize) -> bool {
        let opened = self
            .stream
            .opened
            .and_then(|(at, _, opened)| Some((opened.rev?, at)));
        let last = self.step.map(|(rev, _, at)| (rev, at)).or(opened);
        let Some((last, at)) = last else { return true };
        let what = if last.history != rev.history {
            "a stream goes on in another history".to_owned()
        } else if last.number > rev.number {
            format!("a stream goes back from {last} to {rev}")
        } else {
            return true;
        };
        self.verdict
            .violate(Guarantee::Monotonic, what, [at, place]);
        false
    }

    fn take(&mut self, heard: &Heard<'_>, rev: Rev, expected: &'r Expected) {
        let message = &heard.told.message;
        let before = self.step.and_then(|(_, expected, _)| expected.set());
        let first = !self.fold.began();
        let step = self.fold.take(message);
        let place = heard.place;
        match expected {
            Expected::Elsewhere => {}
            Expected::Unsynced | Expected::Refused => {
                let what = format!("{rev} has no answer, and one is given");
                self.verdict
                    .violate(Guarantee::NoFalseWithdrawal, what, [place]);
            }
            Expected::Absent | Expected::Alias(_) | Expected::Present(_) => {
                match step {
                    Step::Ignored => {
                        let what = "a message that every client passes over";
                        self.verdict.violate(Guarantee::WholeFirst, what, [place]);
                    }
                    Step::Nothing if !first => {
                        let what = "a message that changes nothing";
                        self.verdict.violate(Guarantee::NoChurn, what, [place]);
                    }
                    Step::Nothing | Step::Changed => {}
                }
                if let Some(set) = expected.set() {
                    self.message(message, set, place);
                    if first {
                        self.whole(message, expected, place);
                    } else {
                        self.nothing_lost(message, before, set, place);
                    }
                }
            }
        }
        self.step = Some((rev, expected, place));
    }

    /// Whatever is told is true at the label.
    fn message(&mut self, message: &Message, set: &ExpectedSet, place: usize) {
        let wrong: Vec<Difference> = match message {
            Message::Add { endpoints, .. } => {
                let told = endpoints.keys();
                told.filter_map(|address| set.difference_at(&self.fold, address))
                    .collect()
            }
            Message::Remove(_) | Message::NoEndpoints { .. } => Vec::new(),
        };
        for difference in wrong {
            let what = format!("told at its label: {difference}");
            self.verdict.violate(Guarantee::Agreement, what, [place]);
        }
    }

    /// The first message is the whole answer, unless that is too large for one.
    fn whole(&mut self, message: &Message, expected: &Expected, place: usize) {
        let size = expected.set().map_or(0, |set| set.endpoints.len());
        let fits = size < self.run.limits.sizes.first_message_partial_min;
        let what = match message {
            Message::Add { endpoints, .. } if fits && endpoints.len() < size => {
                let told = endpoints.len();
                format!("the first message has {told} of {size} addresses")
            }
            Message::NoEndpoints { .. } if size > 0 => {
                format!("the first message is that there are none of {size} addresses")
            }
            Message::NoEndpoints { exists } if *exists == matches!(expected, Expected::Absent) => {
                format!("the first message says exists: {exists}")
            }
            Message::Add { .. } | Message::NoEndpoints { .. } | Message::Remove(_) => return,
        };
        self.verdict.violate(Guarantee::WholeFirst, what, [place]);
    }

    /// A step takes away nothing that is there before and after it.
    fn nothing_lost(
        &mut self,
        message: &Message,
        before: Option<&ExpectedSet>,
        set: &ExpectedSet,
        place: usize,
    ) {
        let lost = match message {
            Message::Add { .. } => return,
            Message::Remove(addresses) => {
                let mut removed = addresses.iter();
                removed.find(|address| set.endpoints.contains_key(address))
            }
            Message::NoEndpoints { .. } => {
                let mut kept = before
                    .into_iter()
                    .flat_map(|before| before.endpoints.keys());
                kept.find(|address| set.endpoints.contains_key(address))
                    .or(set.endpoints.keys().next())
            }
        };
        if let Some(address) = lost {
            let what = format!("{address} is withdrawn and is there at the label");
            self.verdict
                .violate(Guarantee::NoFalseWithdrawal, what, [place]);
        }
    }

    /// A step is complete: the client holds exactly what is true.
    fn arrive(&mut self) {
        self.compare(&|_| false);
    }

    /// The stream ended, perhaps within a step.
    fn stop(&mut self) {
        let large = self
            .step
            .and_then(|(_, expected, _)| expected.set())
            .is_some_and(|set| {
                set.endpoints.len() >= self.run.limits.sizes.first_message_partial_min
            });
        self.compare(&|difference| match difference {
            Difference::Missing(_) => large,
            Difference::Extra(_) => true,
            Difference::Wrong { .. } => false,
        });
    }

    fn compare(&mut self, excused: &dyn Fn(&Difference) -> bool) {
        let Some((rev, expected, place)) = self.step else {
            return;
        };
        self.verdict.count("steps", 1);
        let differences = expected.set().map(|set| set.differences(&self.fold));
        for difference in differences.into_iter().flatten().filter(|it| !excused(it)) {
            let guarantee = match difference {
                Difference::Missing(_) => Guarantee::NoFalseWithdrawal,
                Difference::Extra(_) | Difference::Wrong { .. } => Guarantee::Agreement,
            };
            let what = format!("after the step to {rev}: {difference}");
            self.verdict.violate(guarantee, what, [place]);
        }
    }
}
