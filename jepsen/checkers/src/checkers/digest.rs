//! C1: two replicas that show digests for one revision show the same, whatever restarts,
//! snapshots and versions lie between; and one place of the log holds one entry.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Digest, Entry, Guarantee, Process, Return, Rev, Run, Seen, Verdict, What};

/// One digest that was shown: of which revision, of what, and its value.
type Shown = (Rev, &'static str, Digest);

pub(super) fn check(run: &Run<'_>, verdict: &mut Verdict) {
    let mut known: BTreeMap<(Rev, &str), (Digest, usize)> = BTreeMap::new();
    let mut entries: BTreeMap<u64, (&Entry, usize)> = BTreeMap::new();
    let mut witnesses: BTreeSet<Process> = BTreeSet::new();
    for (place, event) in run.events() {
        if let What::Seen(Seen::Entry(entry)) = &event.what {
            let first = *entries.entry(entry.index).or_insert((entry, place));
            same_entry(verdict, first, (entry, place));
        }
        for (rev, of, digest) in shown(&event.what).into_iter().flatten() {
            witnesses.insert(event.process);
            let (first, at) = *known.entry((rev, of)).or_insert((digest, place));
            if first != digest {
                let what = format!("{rev} has two digests of its {of}: {first} and {digest}");
                verdict.violate(Guarantee::Agreement, what, [at, place]);
            }
        }
    }
    verdict.count("digests", known.len() as u64);
    verdict.count("entries", entries.len() as u64);
    if witnesses.len() < 2 {
        verdict.doubt("fewer than two observers saw digests");
    }
}

fn shown(what: &What) -> [Option<Shown>; 2] {
    let (rev, sigma, chi) = match what {
        What::Seen(Seen::Digest(it)) => (it.rev, Some(it.sigma), Some(it.chi)),
        What::Seen(Seen::Final(it)) => (it.rev, Some(it.sigma), Some(it.chi)),
        What::Seen(Seen::Entry(it)) => (it.rev, it.sigma, it.chi),
        What::Ok(Return::Read {
            rev: Some(rev),
            sigma,
            ..
        }) => (*rev, *sigma, None),
        What::Seen(_) | What::Ok(_) | What::Invoke(_) | What::Fail(..) | What::Unknown(..) => {
            return [None, None];
        }
    };
    [
        sigma.map(|digest| (rev, "content", digest)),
        chi.map(|digest| (rev, "path", digest)),
    ]
}

fn same_entry(verdict: &mut Verdict, first: (&Entry, usize), now: (&Entry, usize)) {
    let ((one, at), (other, place)) = (first, now);
    if at != place && (one.term, &one.payload, one.rev) != (other.term, &other.payload, other.rev) {
        let what = format!("place {} of the log holds two entries", one.index);
        verdict.violate(Guarantee::Agreement, what, [at, place]);
    }
}
