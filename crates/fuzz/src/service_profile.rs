//! A ServiceProfile in a mesh that has the service it may be about.

use lockstep_model::FactKind;

use crate::{mesh, object::converted, scene};

/// Reads the text as a ServiceProfile and adds it to the mesh.
///
/// # Panics
///
/// The text reads in two ways, or a promise of the mesh is broken.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Some(profile) = converted(FactKind::ServiceProfile, &text) {
        mesh::check_arrival(scene::facts(), profile.key, profile.fact);
    }
}
