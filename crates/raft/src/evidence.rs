//! What a node gives to, and keeps of, an inquiry into its own state.

use bytes::Bytes;
use lockstep_position::LogId;
use lockstep_storage::StorageError;
use std::path::PathBuf;
use std::sync::Arc;

use crate::Node;
use crate::entry_codec::from_record;
use crate::library::{EntryPayload, Payload};

/// How much of the log is read for it. Unit: bytes.
const ENTRIES_BYTES_MAX: usize = 4 << 20;

/// One entry of this replica's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptEntry {
    /// Which entry.
    pub log_id: LogId,
    /// What it says to the machine; `None` if it is consensus' own.
    pub payload: Option<Bytes>,
}

impl Node {
    /// The `count` entries of this replica's log that end with index `upto`,
    /// fewer if they are large or were cut. Waits for the disk.
    ///
    /// # Errors
    ///
    /// [`StorageError`] when they cannot be read.
    pub async fn entries_until(
        &self,
        upto: u64,
        count: u64,
    ) -> Result<Vec<KeptEntry>, StorageError> {
        let end = upto.saturating_add(1);
        self.on_folder(move |folder| {
            let from = end.saturating_sub(count);
            let records = folder.log().read(from..end, ENTRIES_BYTES_MAX)?;
            let kept = records.into_iter().map(|record| KeptEntry {
                log_id: record.log_id,
                payload: match from_record(record).map(|entry| entry.payload) {
                    Ok(EntryPayload::Normal(Payload(payload))) => Some(payload),
                    Ok(EntryPayload::Blank | EntryPayload::Membership(_)) | Err(_) => None,
                },
            });
            Ok(kept.collect())
        })
        .await
    }

    /// Keeps what shows that this replica is wrong in its data folder, durably;
    /// returns the file.
    ///
    /// # Errors
    ///
    /// [`StorageError`] when it cannot be written.
    pub async fn keep_evidence(&self, text: String) -> Result<PathBuf, StorageError> {
        self.on_folder(move |folder| folder.keep_evidence(&text))
            .await
    }

    /// Whether evidence against this replica is kept that was not settled.
    #[must_use]
    pub fn has_evidence(&self) -> bool {
        self.0.folder.has_evidence()
    }

    /// Notes durably that this replica was found to be right after all.
    ///
    /// # Errors
    ///
    /// [`StorageError`] when that cannot be written.
    pub async fn settle_evidence(&self) -> Result<(), StorageError> {
        self.on_folder(lockstep_storage::DataFolder::settle_evidence)
            .await
    }

    /// Notes durably that the data folder is not to be used again: started next,
    /// this replica comes back empty, under a new id, and joins its group.
    ///
    /// # Errors
    ///
    /// [`StorageError`] when that cannot be written.
    pub async fn give_up(&self, why: String) -> Result<(), StorageError> {
        self.on_folder(move |folder| folder.give_up(&why)).await
    }

    /// Does something that waits for the disk.
    async fn on_folder<T: Send + 'static>(
        &self,
        work: impl FnOnce(&lockstep_storage::DataFolder) -> Result<T, StorageError> + Send + 'static,
    ) -> Result<T, StorageError> {
        let folder = Arc::clone(&self.0.folder);
        let path = folder.path().to_owned();
        tokio::task::spawn_blocking(move || work(&folder))
            .await
            // The runtime is being shut down.
            .unwrap_or(Err(StorageError::Closed { path }))
    }
}
