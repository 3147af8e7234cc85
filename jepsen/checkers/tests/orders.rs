//! C9 against naive judges on small random histories: the witness against the definition pair by
//! pair, the search against all orders.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

use lockstep_jepsen_checkers::*;
use proptest::{collection::vec, prelude::*};

fn witnesses() -> impl Strategy<Value = Vec<Witness>> {
    let one = (0..6_u64, any::<bool>(), 0..30_u64, 0..12_u64);
    vec(one, 0..9).prop_map(|all| {
        let numbered = all.into_iter().enumerate();
        let witness = |(place, (number, reads, invoked, lasts))| Witness {
            number,
            reads,
            invoked,
            returned: invoked + lasts,
            place,
        };
        numbered.map(witness).collect()
    })
}

/// The order that an answer claims.
fn claimed(witness: &Witness) -> (u64, bool, u64) {
    (witness.number, witness.reads, witness.invoked)
}

/// Any two operations of which time forbids the claimed order.
fn contradicts(earlier: &Witness, later: &Witness) -> bool {
    claimed(earlier) < claimed(later) && later.returned < earlier.invoked
}

/// Operations on one register: process by process, in a random interleaving of their begins and
/// ends; those that never end took effect or not.
fn operations() -> impl Strategy<Value = Vec<RegisterOperation>> {
    let act = prop_oneof![
        proptest::option::of(0..3_u64).prop_map(Act::Read),
        (0..3_u64).prop_map(Act::Write),
        (0..3_u64, 0..3_u64).prop_map(|(from, to)| Act::Cas(from, to)),
    ];
    let times = (0..12_usize, 1..8_usize, any::<bool>());
    vec((act, times), 0..6).prop_map(|all| {
        let numbered = all.into_iter().enumerate();
        let operation = |(place, (act, (begin, lasts, ends)))| {
            // Places are unique: begins are even, ends odd, and the operation breaks ties.
            let begin = (begin * 2) * 8 + place;
            let end = ((begin / 16 + lasts) * 2 + 1) * 8 + place;
            let certain = ends || matches!(act, Act::Read(_));
            RegisterOperation {
                begin,
                end: certain.then_some(end),
                act,
            }
        };
        numbered.map(operation).collect()
    })
}

fn applied(act: Act, value: Option<u64>) -> Option<Option<u64>> {
    match act {
        Act::Read(seen) if seen == value => Some(value),
        Act::Write(new) => Some(Some(new)),
        Act::Cas(from, to) if Some(from) == value => Some(Some(to)),
        Act::Read(_) | Act::Cas(..) => None,
    }
}

/// Tries every order of every choice of the uncertain operations.
fn naive(rest: &[RegisterOperation], value: Option<u64>) -> bool {
    if rest.iter().all(|operation| operation.end.is_none()) {
        return true;
    }
    rest.iter().enumerate().any(|(at, next)| {
        let others: Vec<_> = rest
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != at)
            .map(|(_, operation)| *operation)
            .collect();
        let first = others
            .iter()
            .all(|other| other.end.is_none_or(|end| end > next.begin));
        first && applied(next.act, value).is_some_and(|value| naive(&others, value))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_witness_finds_a_contradiction_exactly_if_there_is_one(mut all in witnesses()) {
        let naive = all.iter().any(|one| all.iter().any(|other| contradicts(one, other)));
        match contradiction(&mut all) {
            Some((earlier, later)) => prop_assert!(contradicts(&earlier, &later)),
            None => prop_assert!(!naive),
        }
    }

    #[test]
    fn the_search_agrees_with_all_orders(all in operations()) {
        let found = linearize(&all, 1_000_000);
        let wanted = naive(&all, None);
        prop_assert_eq!(found == Linear::Yes, wanted, "{:?}", found);
        prop_assert!(found != Linear::GaveUp);
    }
}
