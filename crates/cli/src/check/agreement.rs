//! Whether the pasts that replicas report can all be true.

use lockstep_position::{Digest, HistoryId, Position, Revision};
use std::collections::{BTreeMap, BTreeSet};

/// One replica's recent positions, in any order.
#[derive(Clone, Debug)]
pub(super) struct Past {
    pub(super) name: String,
    pub(super) positions: Vec<Position>,
}

/// What the comparison of all pasts found, one sentence each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Agreement {
    /// Two claims that cannot both be true.
    pub(super) disagreements: Vec<String>,
    /// Replicas with no revision in common.
    pub(super) incomparable: Vec<String>,
}

/// Both digests of a state.
type Digests = (Digest, Digest);

/// Compares all claims about the same revision of the same history.
pub(super) fn compare(pasts: &[Past]) -> Agreement {
    let mut claims: BTreeMap<(HistoryId, Revision), BTreeMap<Digests, BTreeSet<&str>>> =
        BTreeMap::new();
    for past in pasts {
        for position in &past.positions {
            let digests = (position.state_digest, position.path_digest);
            let claim = claims
                .entry((position.history, position.revision))
                .or_default();
            claim.entry(digests).or_default().insert(&past.name);
        }
    }
    let broken = claims.iter().filter(|(_, claim)| claim.len() > 1);
    Agreement {
        disagreements: broken
            .map(|((_, revision), claim)| disagreement(*revision, claim))
            .collect(),
        incomparable: incomparable(pasts),
    }
}

/// `r41: state 0a…, path 0b… on replica-1, replica-2; state …`, digests in full.
fn disagreement(revision: Revision, claim: &BTreeMap<Digests, BTreeSet<&str>>) -> String {
    let sides = claim.iter().map(|((state, path), names)| {
        let names = names.iter().copied().collect::<Vec<_>>().join(", ");
        format!("state {state}, path {path} on {names}")
    });
    format!("{revision}: {}", sides.collect::<Vec<_>>().join("; "))
}

/// Every replica must share a revision with the first, or nothing was compared.
fn incomparable(pasts: &[Past]) -> Vec<String> {
    let Some((first, others)) = pasts.split_first() else {
        return Vec::new();
    };
    let places = |past: &Past| -> BTreeSet<_> {
        past.positions
            .iter()
            .map(|position| (position.history, position.revision))
            .collect()
    };
    let known = places(first);
    let strangers = others
        .iter()
        .filter(|other| known.is_disjoint(&places(other)));
    strangers.map(|other| stranger(first, other)).collect()
}

fn stranger(first: &Past, other: &Past) -> String {
    format!(
        "{} ({}) and {} ({}) have no revision in common to compare",
        first.name,
        range(&first.positions),
        other.name,
        range(&other.positions),
    )
}

fn range(positions: &[Position]) -> String {
    let revisions = positions.iter().map(|position| position.revision);
    let histories: BTreeSet<_> = positions.iter().map(|position| position.history).collect();
    let of = histories
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ");
    match revisions.clone().min().zip(revisions.max()) {
        None => "nothing yet".to_owned(),
        Some((oldest, newest)) => format!("{oldest} to {newest} of history {of}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(history: u128, revision: u64, state: u128, path: u128) -> Position {
        Position {
            history: HistoryId::from_u128(history),
            revision: Revision::from_u64(revision),
            state_digest: Digest::from_u128(state),
            path_digest: Digest::from_u128(path),
            applied: None,
        }
    }

    fn past(number: u8, positions: &[Position]) -> Past {
        Past {
            name: format!("replica-{number}"),
            positions: positions.to_vec(),
        }
    }

    #[test]
    fn pasts_of_different_length_agree_where_they_overlap() {
        let (three, four, five) = (
            position(1, 3, 3, 3),
            position(1, 4, 4, 4),
            position(1, 5, 5, 5),
        );
        let pasts = [
            past(1, &[three, four, five]),
            past(2, &[four]),
            past(3, &[four, five, five]),
        ];
        assert_eq!(compare(&pasts), Agreement::default());
    }

    #[test]
    fn each_revision_with_two_states_is_named_with_both_sides() {
        let pasts = [
            past(1, &[position(1, 3, 3, 3), position(1, 4, 4, 4)]),
            past(2, &[position(1, 3, 3, 3), position(1, 4, 4, 4)]),
            past(3, &[position(1, 3, 3, 3), position(1, 4, 4, 5)]),
        ];
        let four = "00000000000000000000000000000004";
        let five = "00000000000000000000000000000005";
        let expected = format!(
            "r4: state {four}, path {four} on replica-1, replica-2; state {four}, path {five} on \
             replica-3"
        );
        assert_eq!(compare(&pasts).disagreements, [expected]);
    }

    #[test]
    fn what_cannot_be_compared_is_said() {
        let pasts = [
            past(1, &[position(1, 3, 3, 3)]),
            past(2, &[position(2, 3, 9, 9)]),
            past(3, &[]),
        ];
        let (one, two) = (
            "00000000000000000000000000000001",
            "00000000000000000000000000000002",
        );
        let expected = Agreement {
            disagreements: Vec::new(),
            incomparable: vec![
                format!(
                    "replica-1 (r3 to r3 of history {one}) and replica-2 (r3 to r3 of history \
                     {two}) have no revision in common to compare"
                ),
                format!(
                    "replica-1 (r3 to r3 of history {one}) and replica-3 (nothing yet) have no \
                     revision in common to compare"
                ),
            ],
        };
        assert_eq!(compare(&pasts), expected);
    }

    #[test]
    fn nobody_disagrees_with_nobody() {
        assert_eq!(compare(&[]), Agreement::default());
    }
}
