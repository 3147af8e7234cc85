//! A batch as the bytes of a log entry.

use lockstep_position::{LogId, Term};
use lockstep_state::{State, codec};

use crate::mesh;

/// A batch that an earlier build wrote.
const GOLDEN: &[u8] = include_bytes!("../../state/tests/golden/batch-v2.bin");

/// Reads the bytes as a batch and applies it, to an empty state and to one that holds something.
///
/// # Panics
///
/// What was read reads otherwise when it is written, two replicas come to two states, or a
/// state that came of it cannot be written or answered from.
pub fn run(data: &[u8]) {
    let read = codec::decode_batch(data);
    let Ok(batch) = read else {
        return;
    };
    let written = codec::encode_batch(&batch);
    assert_eq!(codec::decode_batch(&written).as_ref(), Ok(&batch));
    for before in [State::default(), golden_state()] {
        for term in [batch.term, Term::from_u64(batch.term.as_u64() ^ 1)] {
            let at = |index| LogId { term, index };
            let (mut state, mut other) = (before.clone(), before.clone());
            let applied = state.apply(at(2), batch.clone());
            assert_eq!(other.apply(at(2), batch.clone()), applied);
            assert_eq!(mesh::written(&other), mesh::written(&state));
            mesh::check_state(&state);
            // Once more, in case it waits for parts.
            state.apply(at(3), batch.clone());
            mesh::check_state(&state);
        }
    }
}

/// What the golden batch makes of an empty state.
pub(crate) fn golden_state() -> State {
    let mut state = State::default();
    let batch = codec::decode_batch(GOLDEN);
    assert!(batch.is_ok(), "the golden batch reads");
    if let Ok(batch) = batch {
        let term = batch.term;
        state.apply(LogId { term, index: 1 }, batch);
    }
    state
}
