//! An EndpointSlice in a mesh that has what it may refer to.

use lockstep_model::FactKind;

use crate::{mesh, object::converted, scene};

/// Reads the text as an EndpointSlice and adds it to the mesh.
///
/// # Panics
///
/// The text reads in two ways, or a promise of the mesh is broken.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Some(slice) = converted(FactKind::EndpointSlice, &text) {
        mesh::check_arrival(scene::facts(), slice.key, slice.fact);
    }
}
