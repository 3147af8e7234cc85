//! Elements that were added are there once, and no others.

use std::collections::BTreeMap;

use super::finals;
use crate::{Call, Ended, Guarantee, Run, Verdict};

/// How an addition ended, and the event that says so.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Added {
    Surely(usize),
    Perhaps(usize),
    Not(usize),
}

pub(super) fn check(run: &Run<'_>, verdict: &mut Verdict) {
    let mut added: BTreeMap<u64, Added> = BTreeMap::new();
    for operation in run.operations() {
        let Call::Add(element) = operation.call else {
            continue;
        };
        let how = match operation.end {
            Some((place, _, Ended::Ok(_))) => Added::Surely(place),
            Some((place, _, Ended::Fail)) => Added::Not(place),
            Some((place, _, Ended::Unknown)) => Added::Perhaps(place),
            None => Added::Perhaps(operation.place),
        };
        added.insert(*element, how);
    }
    for (replica, (last, place)) in finals(run) {
        let Some(elements) = &last.elements else {
            continue;
        };
        let mut there: BTreeMap<u64, u64> = BTreeMap::new();
        for element in elements {
            *there.entry(*element).or_default() += 1;
        }
        verdict.count("elements", there.len() as u64);
        for (element, times) in &there {
            let what = match added.get(element) {
                Some(Added::Not(_)) => format!("{replica} has {element}, whose addition failed"),
                None => format!("{replica} has {element}, which nobody added"),
                Some(Added::Surely(_) | Added::Perhaps(_)) if *times > 1 => {
                    format!("{replica} has {element} {times} times")
                }
                Some(Added::Surely(_) | Added::Perhaps(_)) => continue,
            };
            verdict.violate(Guarantee::Durable, what, [place]);
        }
        for (element, how) in &added {
            if let (Added::Surely(acked), None) = (how, there.get(element)) {
                let what = format!("{replica} lost {element}, whose addition succeeded");
                verdict.violate(Guarantee::Durable, what, [*acked, place]);
            }
        }
    }
}
