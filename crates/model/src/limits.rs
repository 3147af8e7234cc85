//! Bounds on values, related to each other at compile time.

/// The most bytes of one entry of the log: a batch, or one part of a large one.
pub const ENTRY_BYTES_MAX: usize = 2 * 1024 * 1024;

/// The most bytes of one message between replicas.
pub const PEER_MESSAGE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The most endpoints of one slice that Kubernetes accepts.
pub const SLICE_ENDPOINTS_MAX: usize = 1000;

/// The most bytes of one joined endpoint in the log whose names are the longest that
/// Kubernetes accepts and whose ports are not listed one by one; an ordinary one has 220.
pub const ENDPOINT_BYTES_MAX: usize = 2000;

/// The most bytes that one joined slice takes in the log. Endpoints beyond it are left out
/// of the slice: nothing else bounds the names of owners and the lists of ports, and a
/// slice that fits into no entry would stop all others.
pub const SLICE_BYTES_MAX: usize = ENTRY_BYTES_MAX - 64 * 1024;

// Without odd lists and names, the largest slice is whole.
const _: () = assert!(SLICE_ENDPOINTS_MAX * ENDPOINT_BYTES_MAX <= SLICE_BYTES_MAX);
// An entry travels whole in one message.
const _: () = assert!(2 * ENTRY_BYTES_MAX < PEER_MESSAGE_BYTES_MAX);
