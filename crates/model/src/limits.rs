//! Bounds on values, related to each other at compile time.

/// The most bytes of one entry of the log: a batch, or one part of a large one.
pub const ENTRY_BYTES_MAX: usize = 2 * 1024 * 1024;

/// The most bytes of one message between replicas.
pub const PEER_MESSAGE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The most endpoints of one slice that Kubernetes accepts.
pub const SLICE_ENDPOINTS_MAX: usize = 1000;

/// A generous bound on one joined endpoint in the log.
pub const ENDPOINT_BYTES_MAX: usize = 2000;

// A slice is never split, so the largest one must fit into an entry.
const _: () = assert!(SLICE_ENDPOINTS_MAX * ENDPOINT_BYTES_MAX < ENTRY_BYTES_MAX);
// An entry travels whole in one message.
const _: () = assert!(2 * ENTRY_BYTES_MAX < PEER_MESSAGE_BYTES_MAX);
