//! A vote is never forgotten: under one persistent id terms do not go back, and one term has one
//! vote. A replica that lost its disk comes back under another id.

use std::collections::BTreeMap;

use crate::{Guarantee, Run, Seen, Verdict, Vote};

pub(super) fn check(run: &Run<'_>, verdict: &mut Verdict) {
    let mut known: BTreeMap<u64, (&Vote, usize)> = BTreeMap::new();
    let mut leaders: BTreeMap<u64, (crate::Replica, usize)> = BTreeMap::new();
    for (place, _, seen) in run.seen() {
        match seen {
            Seen::Vote(vote) => {
                verdict.count("votes", 1);
                let (last, at) = *known.entry(vote.id).or_insert((vote, place));
                if let Some(what) = forgotten(last, vote) {
                    verdict.violate(Guarantee::Durable, what, [at, place]);
                }
                known.insert(vote.id, (vote, place));
            }
            Seen::Role(role) if role.role == crate::RoleKind::Leader => {
                let (first, at) = *leaders.entry(role.term).or_insert((role.replica, place));
                if first != role.replica {
                    let what = format!("{first} and {} both led term {}", role.replica, role.term);
                    verdict.violate(Guarantee::OneVoice, what, [at, place]);
                }
            }
            _ => {}
        }
    }
    verdict.count("leaders", leaders.len() as u64);
}

fn forgotten(last: &Vote, now: &Vote) -> Option<String> {
    let replica = now.replica;
    if now.term < last.term {
        return Some(format!(
            "{replica} forgot that it voted in term {}: it is in term {}",
            last.term, now.term
        ));
    }
    let before = last.voted_for.filter(|_| now.term == last.term)?;
    (now.voted_for != Some(before)).then(|| match now.voted_for {
        Some(other) => format!(
            "{replica} voted for {before} and for {other} in term {}",
            now.term
        ),
        None => format!(
            "{replica} forgot its vote for {before} in term {}",
            now.term
        ),
    })
}
