//! Messages of peers, and the labels that travel with answers.

use lockstep_proto::{admin, peer::v1 as wire};
use lockstep_raft::{reread_ballot, reread_entry, reread_snapshot_meta};
use lockstep_replica::{label_of, read_label};
use prost::Message;

/// Reads the bytes as a message of every kind, each as the replica that gets it does.
///
/// # Panics
///
/// What was read reads otherwise when it is written.
pub fn run(data: &[u8]) {
    reread::<wire::HelloRequest>(data);
    reread::<wire::HelloResponse>(data);
    reread::<wire::ReadIndexRequest>(data);
    reread::<wire::ReadIndexResponse>(data);
    reread::<wire::TransferLeaderResponse>(data);
    reread::<wire::NoticeRequest>(data);
    reread::<wire::AppendResponse>(data);
    append(data);
    votes(data);
    snapshots(data);
    labels(data);
}

/// A message that reads back as itself.
fn reread<M: Message + Default + PartialEq + std::fmt::Debug>(data: &[u8]) -> Option<M> {
    let message = M::decode(data).ok()?;
    let written = message.encode_to_vec();
    assert_eq!(M::decode(written.as_slice()).as_ref(), Ok(&message));
    Some(message)
}

fn append(data: &[u8]) {
    let Some(request) = reread::<wire::AppendRequest>(data) else {
        return;
    };
    ballot(request.ballot);
    for entry in request.entries {
        if let Ok(once) = reread_entry(entry) {
            assert_eq!(reread_entry(once.clone()), Ok(once));
        }
    }
}

fn votes(data: &[u8]) {
    let request = reread::<wire::VoteRequest>(data);
    let response = reread::<wire::VoteResponse>(data);
    let transfer = reread::<wire::TransferLeaderRequest>(data);
    let snapshot = reread::<wire::SnapshotResponse>(data);
    let ballots = [
        request.and_then(|it| it.ballot),
        response.and_then(|it| it.ballot),
        transfer.and_then(|it| it.ballot),
        snapshot.and_then(|it| it.ballot),
    ];
    ballots.into_iter().for_each(ballot);
}

fn ballot(ballot: Option<wire::Ballot>) {
    let read = reread_ballot(ballot);
    assert_eq!(read.ok(), ballot);
}

fn snapshots(data: &[u8]) {
    use wire::snapshot_part::Part;
    let in_part = match reread::<wire::SnapshotPart>(data).and_then(|it| it.part) {
        Some(Part::Head(head)) => {
            ballot(head.ballot);
            head.meta
        }
        Some(Part::Chunk(_) | Part::End(_)) | None => None,
    };
    // As it stands in the header of a snapshot file.
    let in_file = reread::<wire::SnapshotMeta>(data);
    for meta in [in_part, in_file].into_iter().flatten() {
        if let Ok(once) = reread_snapshot_meta(meta) {
            assert_eq!(reread_snapshot_meta(once.clone()), Ok(once));
        }
    }
}

fn labels(data: &[u8]) {
    let label = reread::<admin::v1::Position>(data);
    if let Some(position) = label.as_ref().and_then(read_label) {
        assert_eq!(read_label(&label_of(&position)), Some(position));
    }
}
