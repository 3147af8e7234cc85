//! The table of states, row by row, and its borders.

use super::*;
use FreshnessState::{Fresh, Quarantined, SourceStale, Stale, Syncing, Yielding};

const FRESH: Evidence = Evidence {
    is_synced: true,
    is_contradicted: false,
    age: Some(Duration::ZERO),
    source_age: None,
    sees_fresher: false,
};

fn state(evidence: Evidence) -> FreshnessState {
    Freshness::judge(&evidence).state
}

/// Every combination of what can be known, with ages on both sides of their limits.
fn all() -> Vec<Evidence> {
    let bools = [false, true];
    let around = |limit: Duration| [None, Some(limit), Some(limit + Duration::from_nanos(1))];
    let mut all = Vec::new();
    for is_synced in bools {
        for is_contradicted in bools {
            for sees_fresher in bools {
                for age in around(FRESH_LIMIT) {
                    for source_age in around(SOURCE_LIMIT) {
                        all.push(Evidence {
                            is_synced,
                            is_contradicted,
                            age,
                            source_age,
                            sees_fresher,
                        });
                    }
                }
            }
        }
    }
    all
}

#[test]
fn a_contradiction_outweighs_everything_and_an_incomplete_state_all_but_that() {
    for evidence in all() {
        let expected = match (evidence.is_contradicted, evidence.is_synced) {
            (true, _) => Some(Quarantined),
            (false, false) => Some(Syncing),
            (false, true) => None,
        };
        let judged = state(evidence);
        match expected {
            Some(expected) => assert_eq!(judged, expected, "{evidence:?}"),
            None => assert!(![Quarantined, Syncing].contains(&judged), "{evidence:?}"),
        }
    }
}

#[test]
fn a_probe_makes_fresh_and_time_makes_stale() {
    let aged = |age| state(Evidence { age, ..FRESH });
    let past = FRESH_LIMIT + Duration::from_nanos(1);
    assert_eq!(aged(None), Stale);
    assert_eq!(aged(Some(FRESH_LIMIT)), Fresh);
    assert_eq!(aged(Some(past)), Stale);
}

#[test]
fn only_a_stale_replica_yields_to_a_fresher_one() {
    for evidence in all() {
        let without = state(Evidence {
            sees_fresher: false,
            ..evidence
        });
        let with = state(Evidence {
            sees_fresher: true,
            ..evidence
        });
        match without {
            Stale => assert_eq!(with, Yielding, "{evidence:?}"),
            other => assert_eq!(with, other, "{evidence:?}"),
        }
    }
}

#[test]
fn a_silent_source_marks_a_fresh_replica_and_an_unknown_one_does_not() {
    let aged = |source_age| {
        state(Evidence {
            source_age,
            ..FRESH
        })
    };
    let past = SOURCE_LIMIT + Duration::from_nanos(1);
    assert_eq!(aged(None), Fresh);
    assert_eq!(aged(Some(SOURCE_LIMIT)), Fresh);
    assert_eq!(aged(Some(past)), SourceStale);
    let stale = Freshness::judge(&Evidence {
        age: None,
        source_age: Some(past),
        ..FRESH
    });
    // Both marks at once: its copy is old, and so is the source behind it.
    assert_eq!((stale.state, stale.is_source_stale()), (Stale, true));
}

#[test]
fn what_is_claimed_to_be_fresh_is_within_the_limit_whatever_else_is_known() {
    for evidence in all() {
        let freshness = Freshness::judge(&evidence);
        if !freshness.is_stale() {
            assert!(evidence.age.is_some_and(|age| age <= FRESH_LIMIT));
            assert!(evidence.is_synced && !evidence.is_contradicted);
        }
    }
}

#[test]
fn a_clock_that_seems_to_go_back_is_age_zero() {
    assert_eq!(age_of(9, 3), Duration::ZERO);
    assert_eq!(age_of(3, 9), Duration::from_nanos(6));
}
