//! Hashes of items: the terms of the state digest.

use lockstep_position::Digest;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_128;

use crate::codec;

/// The kinds of content item. The numbers are part of the digest: never reuse one.
#[derive(Copy, Clone)]
pub(crate) enum ItemKind {
    Settings = 1,
    Service = 2,
    Slice = 3,
    Pod = 4,
    Node = 5,
    ServiceProfile = 6,
    ExternalWorkload = 7,
}

/// The hash of one item under its key.
pub(crate) fn item(kind: ItemKind, key: &impl Serialize, value: &impl Serialize) -> Digest {
    let bytes = codec::canonical(&(kind as u8, key, value));
    Digest::from_u128(xxh3_128(&bytes))
}

/// The path digest after a change of the state from `before` to `after`.
pub(crate) fn path(previous: Digest, before: Digest, after: Digest) -> Digest {
    let mut bytes = [0; 48];
    for (place, digest) in bytes.chunks_exact_mut(16).zip([previous, before, after]) {
        place.copy_from_slice(&digest.as_u128().to_be_bytes());
    }
    Digest::from_u128(xxh3_128(&bytes))
}
