//! A snapshot in transit: a head, checksummed chunks, an end.

use bytes::Bytes;
use futures::{Stream, StreamExt};
use lockstep_proto::peer::v1 as wire;
use lockstep_proto::peer::v1::snapshot_part::Part;
use lockstep_storage::{SnapshotFile, SnapshotFolder, SnapshotWriter, StorageError};
use prost::Message;
use std::io::{Read, Write};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Status;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::entry_codec::{meta_from_wire, meta_to_wire};
use crate::library::{Snapshot, SnapshotMeta, log_id_of};

/// Chunks read ahead of the network.
const CHUNKS_AHEAD: usize = 2;
/// How long the next part may take to arrive.
const PART_TIMEOUT: Duration = Duration::from_secs(10);

// === sending ===

/// The parts of a snapshot, read while they are sent.
pub(super) fn parts_of(
    route: wire::Route,
    ballot: wire::Ballot,
    snapshot: Snapshot,
    chunk_bytes: usize,
) -> impl Stream<Item = wire::SnapshotPart> + Send + 'static {
    let head = Part::Head(wire::SnapshotHead {
        route: Some(route),
        ballot: Some(ballot),
        meta: Some(meta_to_wire(&snapshot.meta)),
    });
    let (sender, receiver) = mpsc::channel(CHUNKS_AHEAD);
    let file = snapshot.snapshot;
    // Ends when the file does, or when the call is dropped.
    tokio::task::spawn_blocking(move || {
        if let Err(error) = read_into(&file, chunk_bytes, &sender) {
            // The receiver misses the end and refuses what it has.
            tracing::error!(%error, "a snapshot could not be read while sending it");
        }
    });
    futures::stream::once(std::future::ready(head))
        .chain(ReceiverStream::new(receiver))
        .map(|part| wire::SnapshotPart { part: Some(part) })
}

fn read_into(
    file: &SnapshotFile,
    chunk_bytes: usize,
    sender: &mpsc::Sender<Part>,
) -> std::io::Result<()> {
    let mut reader = file.reader().map_err(std::io::Error::other)?;
    let limit = u64::try_from(chunk_bytes).unwrap_or(u64::MAX);
    for ordinal in 0.. {
        let mut data = Vec::with_capacity(chunk_bytes);
        reader.by_ref().take(limit).read_to_end(&mut data)?;
        if data.is_empty() {
            break;
        }
        let chunk = wire::SnapshotChunk {
            checksum: xxh3_64_with_seed(&data, ordinal),
            data: Bytes::from(data),
        };
        if sender.blocking_send(Part::Chunk(chunk)).is_err() {
            return Ok(());
        }
    }
    let end = wire::SnapshotEnd {
        data_bytes: file.data_bytes(),
    };
    // Nobody waits for it any more: nothing to tell.
    let _ = sender.blocking_send(Part::End(end));
    Ok(())
}

// === receiving ===

/// Takes the next part, within its time.
pub(super) async fn next_part<S>(parts: &mut S) -> Result<Part, Status>
where
    S: Stream<Item = Result<wire::SnapshotPart, Status>> + Unpin,
{
    let part = tokio::time::timeout(PART_TIMEOUT, parts.next())
        .await
        .map_err(|_| Status::deadline_exceeded("the next part of the snapshot did not arrive"))?
        .ok_or_else(|| Status::data_loss("the snapshot ended early"))??;
    part.part
        .ok_or_else(|| Status::invalid_argument("`part` is missing"))
}

/// Receives the chunks of a snapshot into a file and verifies them.
pub(super) async fn receive<S>(
    meta: wire::SnapshotMeta,
    parts: &mut S,
    snapshots: &SnapshotFolder,
    chunk_bytes_max: usize,
) -> Result<Snapshot, Status>
where
    S: Stream<Item = Result<wire::SnapshotPart, Status>> + Unpin,
{
    let encoded = meta.encode_to_vec();
    let meta: SnapshotMeta =
        meta_from_wire(meta).map_err(|error| Status::invalid_argument(error.to_string()))?;
    let last = meta
        .last_log_id
        .as_ref()
        .map(log_id_of)
        .ok_or_else(|| Status::invalid_argument("`last` is missing"))?;
    let folder = snapshots.clone();
    let mut writer = blocking(move || folder.writer(last, &encoded)).await?;
    let mut ordinal = 0;
    let end = loop {
        match next_part(parts).await? {
            Part::Head(_) => return Err(Status::invalid_argument("a second `head`")),
            Part::Chunk(chunk) => {
                check_chunk(&chunk, ordinal, chunk_bytes_max)?;
                writer = write(writer, chunk.data).await?;
                ordinal += 1;
            }
            Part::End(end) => break end,
        }
    };
    let snapshot = blocking(move || writer.finish()).await?;
    if snapshot.data_bytes() != end.data_bytes {
        return Err(Status::data_loss(
            "the snapshot is not as long as announced",
        ));
    }
    Ok(Snapshot { meta, snapshot })
}

fn check_chunk(
    chunk: &wire::SnapshotChunk,
    ordinal: u64,
    chunk_bytes_max: usize,
) -> Result<(), Status> {
    let size = chunk.data.len();
    if size > chunk_bytes_max {
        return Err(Status::invalid_argument(format!(
            "chunk of {size} bytes exceeds the limit of {chunk_bytes_max} bytes"
        )));
    }
    if chunk.checksum != xxh3_64_with_seed(&chunk.data, ordinal) {
        return Err(Status::data_loss(format!(
            "the checksum of chunk {ordinal} does not match"
        )));
    }
    Ok(())
}

async fn write(mut writer: SnapshotWriter, data: Bytes) -> Result<SnapshotWriter, Status> {
    let written = tokio::task::spawn_blocking(move || {
        writer.write_all(&data)?;
        std::io::Result::Ok(writer)
    });
    written
        .await
        .map_err(|error| Status::internal(error.to_string()))?
        .map_err(|error| Status::resource_exhausted(error.to_string()))
}

async fn blocking<T: Send + 'static>(
    operation: impl FnOnce() -> Result<T, StorageError> + Send + 'static,
) -> Result<T, Status> {
    tokio::task::spawn_blocking(operation)
        .await
        .map_err(|error| Status::internal(error.to_string()))?
        .map_err(|error| Status::resource_exhausted(error.to_string()))
}
