//! The library's state machine trait over the port [`Machine`], with snapshots as files.

use futures::{Stream, StreamExt};
use lockstep_position::LogId;
use lockstep_proto::peer::v1 as wire;
use lockstep_storage::{SnapshotFile, SnapshotFolder};
use openraft::storage::{EntryResponder, RaftSnapshotBuilder, RaftStateMachine};
use prost::Message;
use std::io;
use std::sync::Mutex;
use std::sync::PoisonError;
use tokio::sync::watch;

use crate::entry_codec::{meta_from_wire, meta_to_wire};
use crate::library::{
    EntryPayload, Library, RawLogId, Snapshot, SnapshotMeta, StoredMembership, log_id_of,
};
use crate::log_store::io_error;
use crate::{Image, Machine};

/// The machine, and what the library wants remembered beside it.
pub(crate) struct MachineStore {
    /// `None` only while another thread decodes an image into it.
    machine: Option<Box<dyn Machine>>,
    snapshots: SnapshotFolder,
    last: Option<RawLogId>,
    membership: StoredMembership,
    applied: watch::Sender<Option<LogId>>,
}

impl MachineStore {
    /// An empty machine; the library restores it from the newest snapshot and the log.
    pub(crate) fn new(
        machine: Box<dyn Machine>,
        snapshots: SnapshotFolder,
        applied: watch::Sender<Option<LogId>>,
    ) -> Self {
        Self {
            machine: Some(machine),
            snapshots,
            last: None,
            membership: StoredMembership::default(),
            applied,
        }
    }

    fn machine(&mut self) -> io::Result<&mut dyn Machine> {
        match &mut self.machine {
            Some(machine) => Ok(machine.as_mut()),
            None => Err(io::Error::other(
                "the state machine failed while installing",
            )),
        }
    }

    fn apply_one(&mut self, raw: RawLogId, payload: EntryPayload) -> io::Result<Vec<u8>> {
        let log_id = log_id_of(&raw);
        let machine = self.machine()?;
        let outcome = match payload {
            EntryPayload::Normal(payload) => machine.apply(log_id, &payload.0),
            EntryPayload::Blank => {
                machine.skip(log_id);
                Vec::new()
            }
            EntryPayload::Membership(membership) => {
                machine.skip(log_id);
                self.membership = StoredMembership::new(Some(raw), membership);
                Vec::new()
            }
        };
        self.last = Some(raw);
        Ok(outcome)
    }

    fn publish(&mut self) -> io::Result<()> {
        self.machine()?.publish();
        self.applied.send_replace(self.last.as_ref().map(log_id_of));
        Ok(())
    }

    fn meta(&self) -> SnapshotMeta {
        SnapshotMeta {
            last_log_id: self.last,
            last_membership: self.membership.clone(),
        }
    }
}

impl RaftStateMachine<Library> for MachineStore {
    type SnapshotData = SnapshotFile;
    type SnapshotBuilder = SnapshotBuilder;

    async fn applied_state(&mut self) -> io::Result<(Option<RawLogId>, StoredMembership)> {
        Ok((self.last, self.membership.clone()))
    }

    async fn apply<S>(&mut self, mut entries: S) -> io::Result<()>
    where
        S: Stream<Item = io::Result<EntryResponder<Library>>> + Unpin + Send,
    {
        let mut outcomes = Vec::new();
        let mut result = Ok(());
        while let Some(item) = entries.next().await {
            let applied = item.and_then(|(entry, responder)| {
                let outcome = self.apply_one(entry.log_id, entry.payload)?;
                Ok((responder, outcome))
            });
            match applied {
                Ok((Some(responder), outcome)) => outcomes.push((responder, outcome)),
                Ok((None, _)) => {}
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        // Before anybody hears of it: who proposed must find it here.
        self.publish()?;
        for (responder, outcome) in outcomes {
            responder.send(outcome);
        }
        result
    }

    async fn try_create_snapshot_builder(&mut self, force: bool) -> Option<SnapshotBuilder> {
        if self.last.is_none() && !force {
            return None;
        }
        Some(self.get_snapshot_builder().await)
    }

    async fn get_snapshot_builder(&mut self) -> SnapshotBuilder {
        SnapshotBuilder {
            image: Mutex::new(self.machine.as_ref().map(|machine| machine.image())),
            meta: self.meta(),
            snapshots: self.snapshots.clone(),
        }
    }

    async fn install_snapshot(
        &mut self,
        meta: &SnapshotMeta,
        snapshot: SnapshotFile,
    ) -> io::Result<()> {
        let mut machine = self
            .machine
            .take()
            .ok_or_else(|| io::Error::other("the state machine failed while installing"))?;
        let snapshots = self.snapshots.clone();
        let expected = meta.last_log_id.as_ref().map(log_id_of);
        // Decoding takes long, and must not hold up heartbeats.
        let (machine, installed) = tokio::task::spawn_blocking(move || {
            let installed = install(machine.as_mut(), &snapshots, &snapshot, expected);
            (machine, installed)
        })
        .await?;
        self.machine = Some(machine);
        installed?;
        self.last = meta.last_log_id;
        self.membership = meta.last_membership.clone();
        self.publish()
    }

    async fn get_current_snapshot(&mut self) -> io::Result<Option<Snapshot>> {
        let Some(snapshot) = self.snapshots.newest() else {
            return Ok(None);
        };
        let meta = wire::SnapshotMeta::decode(snapshot.meta())?;
        let meta = meta_from_wire(meta).map_err(io::Error::other)?;
        Ok(Some(Snapshot { meta, snapshot }))
    }
}

/// Decodes first and keeps the file only then, so that no file is ever the
/// newest that cannot be decoded.
fn install(
    machine: &mut dyn Machine,
    snapshots: &SnapshotFolder,
    snapshot: &SnapshotFile,
    expected: Option<LogId>,
) -> io::Result<()> {
    let mut reader = snapshot.reader().map_err(io_error)?;
    let covered = machine.install(&mut reader).map_err(io::Error::other)?;
    if covered != expected {
        let what = format!("the image covers {covered:?} but the snapshot {expected:?}");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    snapshots.keep(snapshot).map_err(io_error)
}

/// Writes a frozen image to a file.
pub(crate) struct SnapshotBuilder {
    /// Behind a lock only because the library wants to share the builder.
    image: Mutex<Option<Box<dyn Image>>>,
    meta: SnapshotMeta,
    snapshots: SnapshotFolder,
}

impl RaftSnapshotBuilder<Library> for SnapshotBuilder {
    type SnapshotData = SnapshotFile;

    async fn build_snapshot(&mut self) -> io::Result<Snapshot> {
        let image = self
            .image
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let last = self.meta.last_log_id.as_ref().map(log_id_of);
        let (Some(image), Some(last)) = (image, last) else {
            return Err(io::Error::other("there is nothing to take a snapshot of"));
        };
        let meta = meta_to_wire(&self.meta).encode_to_vec();
        let snapshots = self.snapshots.clone();
        let snapshot = tokio::task::spawn_blocking(move || {
            let mut writer = snapshots.writer(last, &meta).map_err(io_error)?;
            image.write(&mut writer)?;
            let snapshot = writer.finish().map_err(io_error)?;
            snapshots.keep(&snapshot).map_err(io_error)?;
            io::Result::Ok(snapshot)
        })
        .await??;
        Ok(Snapshot {
            meta: self.meta.clone(),
            snapshot,
        })
    }
}
