//! C9a: the order of revisions is an order in which everything could have happened.
//!
//! Every answer names its revision, so the system itself claims an order: by revision, a write
//! before the reads of it, then by invocation. The claim is wrong if an operation that it places
//! earlier was invoked after one that it places later had returned.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Call, Digest, Ended, Guarantee, ReadMode, Return, Rev, Run, Seen, Verdict, What};

/// One operation as far as its order matters.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Witness {
    /// The revision: of a write the one that it made, of a read the one that it read.
    pub number: u64,
    /// Whether it reads; at one revision writes come first.
    pub reads: bool,
    /// When it was invoked.
    pub invoked: u64,
    /// When it returned; not before it was invoked.
    pub returned: u64,
    /// The event that ends it.
    pub place: usize,
}

/// Finds two operations whose claimed order time forbids: the first is placed earlier and was
/// invoked after the second had returned. Sorts the operations.
///
/// Cost: one sort and one scan.
#[must_use]
pub fn contradiction(operations: &mut [Witness]) -> Option<(Witness, Witness)> {
    operations.sort_unstable();
    let mut latest: Option<Witness> = None;
    for operation in operations {
        match latest {
            Some(earlier) if operation.returned < earlier.invoked => {
                return Some((earlier, *operation));
            }
            Some(earlier) if earlier.invoked >= operation.invoked => {}
            Some(_) | None => latest = Some(*operation),
        }
    }
    None
}

pub(super) fn check(run: &Run<'_>, verdict: &mut Verdict) {
    let operations = run.operations();
    let mut by_history: BTreeMap<u128, Vec<Witness>> = BTreeMap::new();
    let sigmas = sigmas(run);
    for operation in &operations {
        let Some((place, returned, Ended::Ok(ok))) = operation.end else {
            continue;
        };
        let Some(rev) = rev_of(operation.call, ok) else {
            continue;
        };
        content(verdict, &sigmas, ok, place);
        by_history.entry(rev.history).or_default().push(Witness {
            number: rev.number,
            reads: matches!(ok, Return::Read { .. }),
            invoked: operation.from,
            returned,
            place,
        });
    }
    for (_, mut operations) in by_history {
        verdict.count("operations", operations.len() as u64);
        if let Some((earlier, later)) = contradiction(&mut operations) {
            let what = format!(
                "an operation at r{} was invoked after one at r{} had returned",
                earlier.number, later.number
            );
            verdict.violate(Guarantee::Monotonic, what, [later.place, earlier.place]);
        }
    }
    values(&operations, verdict);
    if !verdict.counts.contains_key("operations") {
        verdict.doubt("no operation names its revision");
    }
}

/// The revision of an operation that must be linearizable.
fn rev_of(call: &Call, ok: &Return) -> Option<Rev> {
    match (call, ok) {
        (
            Call::Read {
                mode: ReadMode::Local,
                ..
            },
            _,
        ) => None,
        (
            _,
            Return::Read { rev, .. }
            | Return::Write { rev }
            | Return::Cas { rev }
            | Return::Add { rev },
        ) => *rev,
        (_, Return::TruthWrite(_) | Return::Open(_)) => None,
    }
}

/// The digests of content that replicas showed.
fn sigmas(run: &Run<'_>) -> BTreeMap<Rev, (Digest, usize)> {
    let shown = run.events().filter_map(|(place, event)| match &event.what {
        What::Seen(Seen::Digest(it)) => Some((it.rev, (it.sigma, place))),
        What::Seen(_) | What::Ok(_) | What::Invoke(_) | What::Fail(..) | What::Unknown(..) => None,
    });
    shown.collect()
}

/// What a read saw is the content of its revision.
fn content(
    verdict: &mut Verdict,
    sigmas: &BTreeMap<Rev, (Digest, usize)>,
    ok: &Return,
    place: usize,
) {
    let Return::Read {
        rev: Some(rev),
        sigma: Some(sigma),
        ..
    } = ok
    else {
        return;
    };
    if let Some((known, at)) = sigmas.get(rev).filter(|(known, _)| known != sigma) {
        let what = format!("a read at {rev} saw content {sigma}, a replica has {known}");
        verdict.violate(Guarantee::Agreement, what, [*at, place]);
    }
}

/// A read at a revision sees a newest write up to it, or one whose outcome nobody knows.
fn values(operations: &[crate::OperationSpan<'_>], verdict: &mut Verdict) {
    let mut writes: BTreeMap<u64, BTreeMap<Rev, BTreeSet<u64>>> = BTreeMap::new();
    let mut unknown: BTreeSet<(u64, u64)> = BTreeSet::new();
    for operation in operations {
        let (key, value) = match operation.call {
            Call::Write { key, value } => (*key, *value),
            Call::Cas { key, to, .. } => (*key, *to),
            Call::Read { .. } | Call::TruthWrite(_) | Call::Open(_) | Call::Add(_) => continue,
        };
        match operation.end {
            Some((
                _,
                _,
                Ended::Ok(Return::Write { rev: Some(rev) } | Return::Cas { rev: Some(rev) }),
            )) => {
                let of_key = writes.entry(key).or_default();
                of_key.entry(*rev).or_default().insert(value);
            }
            Some((_, _, Ended::Fail)) => {}
            Some((_, _, Ended::Ok(_) | Ended::Unknown)) | None => {
                unknown.insert((key, value));
            }
        }
    }
    for operation in operations {
        let Call::Read { key, .. } = operation.call else {
            continue;
        };
        let Some((
            place,
            _,
            Ended::Ok(Return::Read {
                value,
                rev: Some(rev),
                ..
            }),
        )) = operation.end
        else {
            continue;
        };
        let newest = writes.get(key).and_then(|of_key| {
            let mut up_to = of_key.range(..=*rev).rev();
            up_to
                .find(|(written, _)| written.history == rev.history)
                .map(|(_, values)| values)
        });
        let right = match (newest, value) {
            (Some(values), Some(value)) => values.contains(value),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        let perhaps = value.is_some_and(|value| unknown.contains(&(*key, value)));
        if !right && !perhaps {
            let what =
                format!("a read of register {key} at {rev} saw {value:?}, not its last write");
            verdict.violate(Guarantee::Monotonic, what, [operation.place, place]);
        }
    }
}
