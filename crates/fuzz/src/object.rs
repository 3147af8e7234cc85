//! Kubernetes objects of every kind, one JSON text a line, joined into a mesh.

use lockstep_kubernetes::convert::{Converted, from_json};
use lockstep_model::{ENTRY_BYTES_MAX, FactKind};
use lockstep_state::{Command, codec};
use std::sync::Arc;

use crate::mesh;

/// What an API server stores is not larger. Unit: bytes.
const OBJECT_BYTES_MAX: usize = 3 * 512 * 1024;

/// Reads each line as an object of every kind, and joins all that came of it.
///
/// # Panics
///
/// A line reads in two ways, or a promise of the mesh is broken.
pub fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let kinds = FactKind::ALL;
    let read = text
        .lines()
        .flat_map(|line| kinds.iter().filter_map(|kind| converted(*kind, line)));
    mesh::check(read.map(|it| (it.key, it.fact)).collect());
}

/// What an object of one kind says, if it says anything; what it says fits into the log.
pub(crate) fn converted(kind: FactKind, text: &str) -> Option<Converted> {
    let read = from_json(kind, text);
    assert_eq!(read, from_json(kind, text), "{kind}");
    match read {
        Ok(converted) => {
            assert_eq!(converted.key.kind, kind);
            let mut skipped = converted.skipped.iter().map(ToString::to_string);
            assert!(skipped.all(|it| !it.is_empty()));
            let fact = Arc::new(converted.fact.clone());
            let size = codec::size(&Command::Remember(converted.key.clone(), fact));
            assert!(
                size <= ENTRY_BYTES_MAX || text.len() > OBJECT_BYTES_MAX,
                "{size} bytes"
            );
            Some(converted)
        }
        Err(unusable) => {
            assert!(!unusable.to_string().is_empty());
            None
        }
    }
}
