//! Compares what a client of ours saw with a recording, as the corpus's README says.
//!
//! ```text
//! recorded log ──▶ standing after each step ─┐
//!                                            ├─ equal? ─no─▶ what we decided, what is expected
//! our log ───────▶ standing after each step ─┘                instead of the recorded: right?
//! ```
//!
//! An answer that is only *right* counts as such; one that is equal to the recording where
//! another one was expected is different.

mod decided;
mod judge;
mod standing;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{self, Display, Formatter},
};

use crate::corpus::{Entry, Instance, Method, Recording, Rule, Scenario, When};

pub use decided::{Answer, Decided, Decision};
pub use standing::{Standing, standings};

/// What is true of one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The client held what the recorded one held, after every step.
    Equal,
    /// At least once it held what is right and the recorded one did not; else equal.
    RightWhereRecordingWrong(String),
    /// At least once it held neither; in words, with the difference.
    Different(String),
}

/// What a client of ours saw: for each stream, what came in each step while it was open.
pub type Seen = BTreeMap<String, Vec<Entry>>;

/// Judges every recorded stream of a scenario, in one configuration.
#[must_use]
pub fn compare(
    scenario: &Scenario,
    instance: Instance,
    seen: &Seen,
    decided: &Decided,
) -> BTreeMap<String, Verdict> {
    let Some(recording) = scenario.recordings.get(&instance) else {
        return BTreeMap::new();
    };
    let verdict = |(name, stream): (&String, &crate::corpus::Stream)| {
        let Some(ours) = seen.get(name) else {
            let text = "the stream was not opened".to_owned();
            return (name.clone(), Verdict::Different(text));
        };
        let runs = recording.runs(name);
        let verdicts = runs.iter().map(|log| {
            let question = Question {
                method: stream.method,
                path: &stream.path,
                log,
                rules: rules(scenario, instance, name),
                same_question: same_question(scenario, recording, instance, name),
                note: scenario.expected.as_ref().map_or("", |it| it.note.as_str()),
                decisions: decided.of(&scenario.name, name, instance),
                has_crashed: recording.has_crashed(),
            };
            question.judge(ours)
        });
        (name.clone(), best(verdicts))
    };
    recording.streams.iter().map(verdict).collect()
}

fn rules<'a>(scenario: &'a Scenario, instance: Instance, stream: &str) -> Vec<&'a Rule> {
    let streams = scenario.expected.as_ref().map(|it| &it.streams);
    let rules = streams.and_then(|it| it.get(stream)).into_iter().flatten();
    let ours = |rule: &&Rule| rule.instance.is_none_or(|it| it == instance);
    rules.filter(ours).collect()
}

/// What is expected of other streams that ask the same: right here too.
fn same_question<'a>(
    scenario: &'a Scenario,
    recording: &Recording,
    instance: Instance,
    name: &str,
) -> Vec<Vec<&'a Rule>> {
    let asked = |name: &str| recording.streams.get(name).map(|it| (it.method, &it.path));
    let others = recording.streams.keys();
    let others = others.filter(|other| *other != name && asked(other) == asked(name));
    others
        .map(|other| rules(scenario, instance, other))
        .collect()
}

/// Several recordings of a stream differ by timing only: any of them will do.
fn best(verdicts: impl Iterator<Item = Verdict>) -> Verdict {
    let rank = |verdict: &Verdict| match verdict {
        Verdict::Equal => 0,
        Verdict::RightWhereRecordingWrong(_) => 1,
        Verdict::Different(_) => 2,
    };
    let none = || Verdict::Different("the stream was not recorded".to_owned());
    verdicts.min_by_key(rank).unwrap_or_else(none)
}

/// One stream of one recording.
pub(crate) struct Question<'a> {
    pub(crate) method: Method,
    pub(crate) path: &'a str,
    pub(crate) log: &'a [Entry],
    pub(crate) rules: Vec<&'a Rule>,
    pub(crate) same_question: Vec<Vec<&'a Rule>>,
    pub(crate) note: &'a str,
    pub(crate) decisions: Vec<&'a Decision>,
    pub(crate) has_crashed: bool,
}

impl Question<'_> {
    /// Judges step by step; the first difference ends it.
    fn judge(&self, ours: &[Entry]) -> Verdict {
        let recorded = standings(self.method, self.log);
        let ours = standings(self.method, ours);
        let last = recorded.keys().next_back().copied().unwrap_or(0);
        let mut reason: Option<String> = None;
        for (&step, recorded) in &recorded {
            let Some((_, ours)) = ours.range(..=step).next_back() else {
                let text = format!("after step {step}: the stream was not open");
                return Verdict::Different(text);
            };
            match self.at(step, last, recorded, ours) {
                Ok(None) => {}
                Ok(Some(why)) => drop(reason.get_or_insert(why)),
                Err(text) => return Verdict::Different(format!("after step {step}: {text}")),
            }
        }
        reason.map_or(Verdict::Equal, Verdict::RightWhereRecordingWrong)
    }

    /// Whether we are right after one step; with the reason if the recorded is not.
    fn at(
        &self,
        step: u32,
        last: u32,
        recorded: &Standing,
        ours: &Standing,
    ) -> Result<Option<String>, String> {
        if let Some(decision) = self.decisions.iter().find(|it| it.steps.contains(&step)) {
            return decision.judge(ours).map(|()| Some(decision.reason.clone()));
        }
        let is_first = self
            .log
            .first()
            .is_some_and(|entry| entry.after_step == step);
        let is_due = |when: When| match when {
            When::Opened => is_first,
            When::After(number) => number == step,
            When::Final => step == last,
        };
        let equal = recorded.equals(ours, self.method);
        let due = group(&self.rules, is_due);
        if !due.is_empty() {
            self.satisfies(&due, recorded, ours)?;
            return Ok(equal.err().map(|_| self.note.to_owned()));
        }
        let Err(difference) = equal else {
            return Ok(None);
        };
        let is_right = self
            .alternatives(step)
            .iter()
            .any(|rules| self.satisfies(rules, recorded, ours).is_ok());
        if is_right {
            return Ok(Some(self.note.to_owned()));
        }
        if self.has_crashed && recorded.is_unavailable() && ours.is_open() {
            return Ok(Some("the recorded process died".to_owned()));
        }
        Err(difference)
    }

    /// What may be held instead of the recorded where nothing is due: what was due before,
    /// or what is right at the end; of this stream, or of one that asks the same.
    fn alternatives(&self, step: u32) -> Vec<Vec<&Rule>> {
        let mut groups = Vec::new();
        for rules in std::iter::once(&self.rules).chain(&self.same_question) {
            let times: BTreeSet<When> = rules.iter().map(|rule| rule.when).collect();
            let is_past = |when: &When| match when {
                When::Opened | When::Final => true,
                When::After(number) => *number <= step,
            };
            let times = times.into_iter().filter(is_past);
            groups.extend(times.map(|time| group(rules, |when| when == time)));
        }
        groups
    }
}

fn group<'a>(rules: &[&'a Rule], is_wanted: impl Fn(When) -> bool) -> Vec<&'a Rule> {
    let rules = rules.iter().copied();
    rules.filter(|rule| is_wanted(rule.when)).collect()
}

impl Display for Verdict {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Equal => write!(f, "equal"),
            Self::RightWhereRecordingWrong(reason) => {
                write!(f, "right where the recording is wrong: {reason}")
            }
            Self::Different(text) => write!(f, "different: {text}"),
        }
    }
}

#[cfg(test)]
mod tests;
