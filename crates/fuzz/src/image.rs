//! A whole state as the bytes of a snapshot.

use lockstep_state::State;

use crate::mesh;

/// Reads the bytes as the image of a state.
///
/// # Panics
///
/// What was read cannot be written, reads otherwise then, or cannot be answered from.
pub fn run(data: &[u8]) {
    match State::from_image(&mut &*data) {
        Ok(state) => mesh::check_state(&state),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
