//! C9b: registers are linearizable, whatever revisions say: for each there is an order of its
//! operations that time allows and in which each read sees the write before it.
//!
//! Wing and Gong's search with Lowe's memory. An operation whose outcome nobody knows may stand
//! anywhere after its invocation, or nowhere. What takes too many steps stays unknown.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Call, Ended, Guarantee, OperationSpan, ReadMode, Return, Run, Verdict};

/// One operation on one register; begin and end are places in the history.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RegisterOperation {
    /// The event that begins it.
    pub begin: usize,
    /// The event that ends it; none if nobody knows whether it took effect.
    pub end: Option<usize>,
    /// What it does.
    pub act: Act,
}

/// What an operation does to a register.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// It sees a value, or that there is none.
    Read(Option<u64>),
    /// It sets a value.
    Write(u64),
    /// It replaces one value by another.
    Cas(u64, u64),
}

/// What the search found.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Linear {
    /// There is an order.
    Yes,
    /// There is none: this operation, by its place in the input, never fits.
    No(usize),
    /// The search was given up.
    GaveUp,
}

pub(super) fn check(run: &Run<'_>, verdict: &mut Verdict) {
    let mut registers: BTreeMap<u64, Vec<RegisterOperation>> = BTreeMap::new();
    for span in run.operations() {
        if let Some((key, operation)) = read(&span) {
            registers.entry(key).or_default().push(operation);
        }
    }
    let sizes = &run.limits.sizes;
    for (key, operations) in &registers {
        verdict.count("operations", operations.len() as u64);
        if operations.len() > sizes.linear_operations_max {
            verdict.doubt(format!(
                "register {key} has {} operations",
                operations.len()
            ));
            continue;
        }
        match linearize(operations, sizes.linear_steps_max) {
            Linear::Yes => verdict.count("registers", 1),
            Linear::GaveUp => verdict.doubt(format!("register {key} takes too many steps")),
            Linear::No(stuck) => {
                let operation = operations.get(stuck);
                let what = operation.map(|it| {
                    format!(
                        "register {key} is not linearizable: no place for {:?}",
                        it.act
                    )
                });
                let evidence = operation.map(|it| [Some(it.begin), it.end]);
                let evidence = evidence.into_iter().flatten().flatten();
                verdict.violate(Guarantee::Monotonic, what.unwrap_or_default(), evidence);
            }
        }
    }
    if registers.is_empty() {
        verdict.doubt("no register was used");
    }
}

fn read(span: &OperationSpan<'_>) -> Option<(u64, RegisterOperation)> {
    let (key, act) = match (span.call, &span.end) {
        // A failed operation has no effect, and an unknown read shows nothing.
        (_, Some((_, _, Ended::Fail))) => return None,
        (
            Call::Read {
                key,
                mode: ReadMode::Linearizable,
            },
            Some((_, _, Ended::Ok(Return::Read { value, .. }))),
        ) => (*key, Act::Read(*value)),
        (Call::Write { key, value }, _) => (*key, Act::Write(*value)),
        (Call::Cas { key, from, to }, _) => (*key, Act::Cas(*from, *to)),
        (Call::Read { .. } | Call::TruthWrite(_) | Call::Open(_) | Call::Add(_), _) => return None,
    };
    let end = match &span.end {
        Some((place, _, Ended::Ok(_))) => Some(*place),
        Some((_, _, Ended::Fail | Ended::Unknown)) | None => None,
    };
    let operation = RegisterOperation {
        begin: span.place,
        end,
        act,
    };
    Some((key, operation))
}

/// Searches an order for the operations on one register that begins empty.
#[must_use]
pub fn linearize(operations: &[RegisterOperation], steps_max: u64) -> Linear {
    let mut search = Search::new(operations);
    for _ in 0..steps_max {
        if let Some(found) = search.step() {
            return found;
        }
    }
    Linear::GaveUp
}

/// Where the search is: a path of operations in the order tried.
struct Search<'o> {
    /// First those that took effect, by their begin, then those of which nobody knows; each
    /// with its place in the input.
    operations: Vec<(usize, &'o RegisterOperation)>,
    /// How many took effect.
    certain: usize,
    placed: BTreeSet<usize>,
    /// The first that took effect and has no place.
    missing: usize,
    value: Option<u64>,
    /// The operations placed, each with the value before it and the candidates not tried yet.
    path: Vec<(usize, Option<u64>, Vec<usize>)>,
    /// The candidates at the end of the path.
    open: Vec<usize>,
    known: BTreeSet<(Vec<usize>, Option<u64>)>,
    /// The furthest that `missing` ever came.
    furthest: usize,
}

// === impl Search ===

impl<'o> Search<'o> {
    fn new(operations: &'o [RegisterOperation]) -> Self {
        let mut operations: Vec<_> = operations.iter().enumerate().collect();
        operations.sort_by_key(|(_, operation)| (operation.end.is_none(), operation.begin));
        let certain = operations.partition_point(|(_, operation)| operation.end.is_some());
        let mut search = Self {
            operations,
            certain,
            placed: BTreeSet::new(),
            missing: 0,
            value: None,
            path: Vec::new(),
            open: Vec::new(),
            known: BTreeSet::new(),
            furthest: 0,
        };
        search.open = search.candidates();
        search
    }

    /// One step: a candidate is placed, or the last one taken back.
    fn step(&mut self) -> Option<Linear> {
        if self.missing == self.certain {
            return Some(Linear::Yes);
        }
        match self.open.pop() {
            Some(next) => self.place(next),
            None => {
                let Some((last, value, open)) = self.path.pop() else {
                    let stuck = self.operations.get(self.furthest);
                    return Some(Linear::No(stuck.map_or(0, |(place, _)| *place)));
                };
                self.take_back(last);
                self.value = value;
                self.open = open;
            }
        }
        None
    }

    fn place(&mut self, next: usize) {
        let operation = self.operations.get(next);
        let Some(value) = operation.and_then(|(_, it)| after(it.act, self.value)) else {
            return;
        };
        self.placed.insert(next);
        while self.missing < self.certain && self.placed.contains(&self.missing) {
            self.missing += 1;
        }
        if !self.known.insert((self.key(), value)) {
            self.take_back(next);
            return;
        }
        self.furthest = self.furthest.max(self.missing);
        let before = std::mem::take(&mut self.open);
        self.open = self.candidates();
        self.path.push((next, self.value, before));
        self.value = value;
    }

    fn take_back(&mut self, last: usize) {
        self.placed.remove(&last);
        self.missing = self.missing.min(last);
    }

    /// What may come next: whatever began before the first end that is still to come. The last
    /// one is tried first: what ends first, and what is certain before what is not.
    fn candidates(&self) -> Vec<usize> {
        let open = |at: &usize| !self.placed.contains(at);
        let mut end = usize::MAX;
        let mut candidates = Vec::new();
        for at in (self.missing..self.certain).filter(open) {
            let Some((_, operation)) = self.operations.get(at) else {
                break;
            };
            if operation.begin > end {
                break;
            }
            end = end.min(operation.end.unwrap_or(usize::MAX));
            candidates.push(at);
        }
        candidates.extend((self.certain..self.operations.len()).filter(open));
        let ends = |at: &usize| self.operations.get(*at).and_then(|(_, it)| it.end);
        let begins = |at: &usize| self.operations.get(*at).map_or(end, |(_, it)| it.begin);
        candidates.retain(|at| begins(at) < end);
        candidates.sort_by_key(|at| std::cmp::Reverse(ends(at).unwrap_or(usize::MAX)));
        candidates
    }

    /// Which operations are placed, in short: all before the first that is missing are.
    fn key(&self) -> Vec<usize> {
        let beyond = self.placed.range(self.missing..).copied();
        std::iter::once(self.missing).chain(beyond).collect()
    }
}

/// The value after an operation, if it fits the value before it.
fn after(act: Act, value: Option<u64>) -> Option<Option<u64>> {
    match act {
        Act::Read(seen) => (seen == value).then_some(value),
        Act::Write(new) => Some(Some(new)),
        Act::Cas(from, to) => (value == Some(from)).then_some(Some(to)),
    }
}
