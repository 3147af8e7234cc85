//! What a node is told when it starts, with the relations between the numbers.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::net::TcpListener;

/// Everything that a node is told when it starts.
#[derive(Debug)]
pub struct Config {
    /// Name of the cluster; peers of another name are refused. 1 to 63 bytes.
    pub cluster: String,
    /// This replica's configured name, one of `peers`, such as `replica-1`.
    pub name: String,
    /// The data folder; made on first use.
    pub data: PathBuf,
    /// Where peers reach this replica.
    pub listen: Listen,
    /// All replicas, this one included, in the same order everywhere: the
    /// first one bootstraps the group.
    pub peers: Vec<PeerAddress>,
    /// How patient the group is.
    pub timing: Timing,
    /// When the log is cut.
    pub compaction: Compaction,
    /// What may be how large.
    pub limits: Limits,
}

/// Where a node listens for its peers.
#[derive(Debug)]
pub enum Listen {
    /// Binds this address.
    Address(SocketAddr),
    /// Uses a socket that is already bound, so that its port can be 0 and known.
    Bound(TcpListener),
}

/// One replica as configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerAddress {
    /// The replica's configured name; unique in the group.
    pub name: String,
    /// `host:port`; the host is resolved at each dial.
    pub address: String,
}

/// How patient the group is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How often a leader makes itself heard. Default 100 ms.
    pub heartbeat: Duration,
    /// The shortest silence after which a follower stands for election. Default 300 ms.
    pub election_min: Duration,
    /// The longest such silence. Default 600 ms.
    pub election_max: Duration,
}

const HEARTBEAT_MS: u64 = 100;
const ELECTION_MS_MIN: u64 = 300;
const ELECTION_MS_MAX: u64 = 600;

// Two lost heartbeats in a row must not cost an election.
const _: () = assert!(ELECTION_MS_MIN >= 3 * HEARTBEAT_MS);
// Candidates must be spread widely enough not to tie again and again.
const _: () = assert!(ELECTION_MS_MAX >= 2 * ELECTION_MS_MIN);

impl Default for Timing {
    fn default() -> Self {
        Self {
            heartbeat: Duration::from_millis(HEARTBEAT_MS),
            election_min: Duration::from_millis(ELECTION_MS_MIN),
            election_max: Duration::from_millis(ELECTION_MS_MAX),
        }
    }
}

/// When the log is cut.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Compaction {
    /// Entries applied since the last snapshot after which the next is taken. Default 10,000.
    pub snapshot_after_entries: u64,
    /// Entries kept behind a snapshot, for followers that are a little late. Default 1,000.
    pub keep_entries: u64,
}

impl Default for Compaction {
    fn default() -> Self {
        Self {
            snapshot_after_entries: 10_000,
            keep_entries: 1_000,
        }
    }
}

/// What may be how large. Unit: bytes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest payload that may be proposed. Default 1 MiB.
    pub entry_bytes_max: usize,
    /// The largest message between peers. Default 4 MiB.
    pub message_bytes_max: usize,
    /// The size of one piece of a snapshot in transit. Default 512 KiB.
    pub snapshot_chunk_bytes: usize,
}

const ENTRY_BYTES_MAX: usize = 1 << 20;
const MESSAGE_BYTES_MAX: usize = 4 << 20;
const SNAPSHOT_CHUNK_BYTES: usize = 512 << 10;
/// Room in a message for everything that is not payload.
pub(crate) const MESSAGE_OVERHEAD_BYTES: usize = 64 << 10;

// A message must be able to carry the largest entry, or replication would stop at it for ever.
const _: () = assert!(MESSAGE_BYTES_MAX >= 2 * (ENTRY_BYTES_MAX + MESSAGE_OVERHEAD_BYTES));
const _: () = assert!(MESSAGE_BYTES_MAX >= SNAPSHOT_CHUNK_BYTES + MESSAGE_OVERHEAD_BYTES);

impl Default for Limits {
    fn default() -> Self {
        Self {
            entry_bytes_max: ENTRY_BYTES_MAX,
            message_bytes_max: MESSAGE_BYTES_MAX,
            snapshot_chunk_bytes: SNAPSHOT_CHUNK_BYTES,
        }
    }
}
