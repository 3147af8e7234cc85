//! What the log means: the committed entries in order, and what each question's answer was at
//! each revision.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use lockstep_jepsen_model::{
    Asked, Change, Content, Expected, Name, Question, Settings, Text, expect,
};

use crate::{Entry, History, Part, Payload, Rev, Seen, What};

/// One committed entry, as its first observer saw it.
#[derive(Clone, Debug)]
pub struct Committed<'h> {
    /// The entry.
    pub entry: &'h Entry,
    /// The event.
    pub place: usize,
    /// When it was seen. Unit: nanoseconds.
    pub at: u64,
    /// Whether it changed content, by the rules of the log alone.
    pub changed: bool,
}

/// The log, replayed.
#[derive(Debug, Default)]
pub struct Timeline<'h> {
    entries: Vec<Committed<'h>>,
    answers: BTreeMap<&'h Question, Answers>,
    /// In the order in which they follow one another.
    histories: Vec<u128>,
    settings: Option<Arc<Settings>>,
    newest: Option<Rev>,
    gap: Option<u64>,
}

/// The answers to one question.
#[derive(Debug, Default)]
struct Answers {
    /// The service that it asks about, under the present settings.
    service: Option<Name>,
    /// The revisions at which the answer changed.
    changes: Vec<(Rev, Arc<Expected>)>,
}

/// Replays entries one after another.
#[derive(Default)]
struct Replay<'h> {
    content: Content,
    history: u128,
    staged: Option<Staged<'h>>,
    touched: Touched,
}

/// Parts of a change whose last part is still to come.
struct Staged<'h> {
    term: u64,
    next: Part,
    changes: Vec<&'h [Change]>,
}

/// Whose answers may differ after an entry.
#[derive(Default)]
struct Touched {
    all: bool,
    services: BTreeSet<Name>,
    nodes: BTreeSet<Text>,
}

// === impl Timeline ===

impl<'h> Timeline<'h> {
    pub(super) fn of(history: &'h History, questions: BTreeSet<&'h Question>) -> Self {
        let entries = entries(history);
        let mut timeline = Self {
            answers: questions
                .into_iter()
                .map(|it| (it, Answers::default()))
                .collect(),
            gap: gap(&entries),
            ..Self::default()
        };
        let mut replay = Replay::default();
        for mut committed in entries {
            committed.changed = replay.apply(committed.entry);
            timeline.answer(committed.entry.rev, &mut replay);
            timeline.newest = Some(committed.entry.rev);
            timeline.entries.push(committed);
        }
        timeline.settings = replay.content.settings().cloned().map(Arc::new);
        timeline
    }

    /// The entries, by index, each once.
    #[must_use]
    pub fn entries(&self) -> &[Committed<'h>] {
        &self.entries
    }

    /// The newest revision in it.
    #[must_use]
    pub fn newest(&self) -> Option<Rev> {
        self.newest
    }

    /// The first index that is missing between two others, if one is.
    #[must_use]
    pub fn gap(&self) -> Option<u64> {
        self.gap
    }

    /// The settings after the last entry.
    #[must_use]
    pub fn settings(&self) -> Option<&Arc<Settings>> {
        self.settings.as_ref()
    }

    /// What is true of a question at a revision; none if the log does not reach it.
    #[must_use]
    pub fn at(&self, question: &Question, rev: Rev) -> Option<&Arc<Expected>> {
        let wanted = self.order(rev)?;
        if wanted > self.order(self.newest?)? {
            return None;
        }
        let changes = self.answers(question);
        let after = changes.partition_point(|(known, _)| self.order(*known) <= Some(wanted));
        let (_, answer) = changes.get(after.checked_sub(1)?)?;
        Some(answer)
    }

    /// The revisions at which the answer to a question changed, in order, with the answer.
    #[must_use]
    pub fn answers(&self, question: &Question) -> &[(Rev, Arc<Expected>)] {
        let answers = self.answers.get(question);
        answers.map_or(&[], |answers| answers.changes.as_slice())
    }

    /// Where a revision stands among all of the log; none for a history that is not in it.
    #[must_use]
    pub fn order(&self, rev: Rev) -> Option<(usize, u64)> {
        let mut histories = self.histories.iter();
        let history = histories.position(|history| *history == rev.history);
        history.map(|history| (history, rev.number))
    }

    fn answer(&mut self, rev: Rev, replay: &mut Replay<'h>) {
        if self.histories.last() != Some(&rev.history) {
            self.histories.push(rev.history);
        }
        let mut touched = std::mem::take(&mut replay.touched);
        touched.all |= self.newest.is_none();
        if !touched.is_any() {
            return;
        }
        for (question, answers) in &mut self.answers {
            if touched.all {
                answers.service = service(question, &replay.content);
            }
            if !touched.concerns(question, answers) {
                continue;
            }
            let answer = expect(&replay.content, question);
            let changes = &mut answers.changes;
            if changes.last().is_none_or(|(_, last)| **last != answer) {
                changes.push((rev, Arc::new(answer)));
            }
        }
    }
}

/// The service that a question asks about.
fn service(question: &Question, content: &Content) -> Option<Name> {
    let domain = &content.settings()?.cluster_domain;
    let asked = Asked::parse(&question.authority, domain);
    asked.ok().map(|asked| asked.service)
}

fn entries(history: &History) -> Vec<Committed<'_>> {
    let mut known: BTreeMap<u64, Committed<'_>> = BTreeMap::new();
    for (place, event) in history.events().iter().enumerate() {
        if let What::Seen(Seen::Entry(entry)) = &event.what {
            known.entry(entry.index).or_insert(Committed {
                entry,
                place,
                at: event.at,
                changed: false,
            });
        }
    }
    known.into_values().collect()
}

fn gap(entries: &[Committed<'_>]) -> Option<u64> {
    let pairs = entries.windows(2);
    let mut gaps = pairs.filter_map(|pair| match pair {
        [one, next] if next.entry.index != one.entry.index + 1 => Some(one.entry.index + 1),
        _ => None,
    });
    gaps.next()
}

// === impl Replay ===

impl<'h> Replay<'h> {
    /// Applies an entry as the rules of the log say; whether content is different then.
    fn apply(&mut self, entry: &'h Entry) -> bool {
        if self.history != 0 && self.history != entry.rev.history {
            // Another history begins with content of its own.
            self.content = Content::default();
            self.touched.all = true;
        }
        self.history = entry.rev.history;
        let Payload::Batch {
            term,
            part,
            changes,
            source: _,
        } = &entry.payload
        else {
            return false;
        };
        // The batch of a deposed leader is refused.
        if *term != entry.term {
            return false;
        }
        let Some(changes) = self.stage(*term, *part, changes) else {
            return false;
        };
        let mut changed = false;
        for change in changes.into_iter().flatten() {
            self.touched.note(change, &self.content);
            changed |= self.content.apply(change);
        }
        changed
    }

    /// The changes to make now: none while parts are missing, or for a part out of order.
    fn stage(&mut self, term: u64, part: Part, changes: &'h [Change]) -> Option<Vec<&'h [Change]>> {
        let mut staged = match (self.staged.take(), part.number) {
            (Some(staged), _) if staged.next == part && staged.term == term => staged,
            (_, 0) => Staged {
                term,
                next: part,
                changes: Vec::new(),
            },
            (_, _) => return None,
        };
        staged.changes.push(changes);
        if part.is_last() {
            return Some(staged.changes);
        }
        staged.next.number = part.number + 1;
        self.staged = Some(staged);
        None
    }
}

// === impl Touched ===

impl Touched {
    fn is_any(&self) -> bool {
        self.all || !self.services.is_empty() || !self.nodes.is_empty()
    }

    /// Notes whom a change concerns; a slice may leave one service for another.
    fn note(&mut self, change: &Change, before: &Content) {
        match change {
            Change::Settings(_) => self.all = true,
            Change::Service(name, _) => drop(self.services.insert(name.clone())),
            Change::Slice(name, slice) => {
                let old = before.slice(name).map(|slice| &slice.service);
                let new = slice.as_ref().map(|slice| &slice.service);
                self.services.extend(old.into_iter().chain(new).cloned());
            }
            Change::Zone(node, _) => drop(self.nodes.insert(node.clone())),
            Change::Other(..) => {}
        }
    }

    fn concerns(&self, question: &Question, answers: &Answers) -> bool {
        let service = answers.service.as_ref();
        self.all
            || self.nodes.contains(&question.node)
            || service.is_some_and(|service| self.services.contains(service))
    }
}
