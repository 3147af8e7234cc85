//! Bytes that survive: log, vote, promise, snapshots.
//!
//! Knows what `fsync` means and nothing of Raft's rules or of endpoints. One
//! [`DataFolder`] holds all that one replica keeps:
//!
//! ```text
//! identity        who this is: cluster, replica name, random replica id, history
//! lock            held exclusively while the folder is open
//! log.redb        entries and vote, one durable transaction for each batch
//! promise         how far log and vote once were, to notice an older copy
//! snapshots/*.snap  whole states, checksummed, the newest two
//! given-up        only in a folder that its replica gave up: why
//! set-aside/      what was given up last
//! quarantine.json only where a replica was found to be wrong: what showed it
//! ```

mod atomic_file;
mod error;
mod folder;
mod identity;
mod log;
mod order;
mod promise;
mod record;
mod set_aside;
mod snapshot_file;
mod snapshot_folder;
mod snapshot_format;
mod table;
mod tail;
mod vote;
mod writer;

pub use error::StorageError;
pub use folder::{DataFolder, OpenAs};
pub use log::{LogBounds, LogStore};
pub use order::Done;
pub use record::Record;
pub use snapshot_file::{SnapshotFile, SnapshotReader, SnapshotWriter};
pub use snapshot_folder::SnapshotFolder;
pub use vote::Vote;
