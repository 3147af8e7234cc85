//! Messages as gRPC frames: a flag, a length, and the message's bytes.

use bytes::{BufMut, Bytes, BytesMut};
use lockstep_position::Revision;
use prost::{
    Message,
    encoding::{WireType, encode_key, encode_varint},
};

/// The number of the field that carries the revision of a message, for clients
/// that ask for it. No message of the proxy API uses it, and readers skip it.
pub const REVISION_FIELD: u32 = 1000;

/// The flag and the length before a message; bytes.
const PREFIX_BYTES: usize = 5;

/// Whether the messages of a stream say which revision they come from.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Labelling {
    /// As proxies expect them.
    Plain,
    /// With the revision in [`REVISION_FIELD`].
    Revisions,
}

/// One message as a frame. `None` for a message of 4 GiB, which has no frame.
pub(crate) fn frame(message: &impl Message) -> Option<Bytes> {
    let body_bytes = message.encoded_len();
    let mut frame = begun(body_bytes)?;
    message.encode(&mut frame).ok()?;
    Some(frame.freeze())
}

/// A frame as one stream wants it.
pub(crate) fn labelled(frame: Bytes, labelling: Labelling, revision: Revision) -> Bytes {
    match labelling {
        Labelling::Plain => frame,
        Labelling::Revisions => with_revision(&frame, revision).unwrap_or(frame),
    }
}

/// The frame with one more field at the end of its message.
fn with_revision(frame: &Bytes, revision: Revision) -> Option<Bytes> {
    let message = frame.get(PREFIX_BYTES..)?;
    let mut label = Vec::new();
    encode_key(REVISION_FIELD, WireType::Varint, &mut label);
    encode_varint(revision.as_u64(), &mut label);
    let mut labelled = begun(message.len() + label.len())?;
    labelled.put_slice(message);
    labelled.put_slice(&label);
    Some(labelled.freeze())
}

/// The flag and the length of a message, with room for it.
fn begun(body_bytes: usize) -> Option<BytesMut> {
    let mut frame = BytesMut::with_capacity(PREFIX_BYTES + body_bytes);
    // Not compressed.
    frame.put_u8(0);
    frame.put_u32(u32::try_from(body_bytes).ok()?);
    Some(frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkerd2_proxy_api::destination::{NoEndpoints, Update, update};

    fn message() -> Update {
        Update {
            update: Some(update::Update::NoEndpoints(NoEndpoints { exists: true })),
        }
    }

    #[test]
    fn a_frame_is_a_flag_a_length_and_the_message() {
        let frame = frame(&message()).unwrap();
        let frame = labelled(frame, Labelling::Plain, Revision::from_u64(1));
        assert_eq!(&frame[..], [0, 0, 0, 0, 4, 0x1a, 2, 8, 1]);
    }

    #[test]
    fn a_label_is_a_field_that_readers_skip() {
        for (revision, label) in [(1, &[0xc0, 0x3e, 1][..]), (300, &[0xc0, 0x3e, 0xac, 0x02])] {
            let revision = Revision::from_u64(revision);
            let frame = frame(&message()).unwrap();
            let frame = labelled(frame, Labelling::Revisions, revision);
            let (prefix, body) = frame.split_at(PREFIX_BYTES);
            assert_eq!(usize::from(prefix[4]), body.len());
            assert_eq!(body, [&[0x1a, 2, 8, 1], label].concat());
            assert_eq!(Update::decode(body).unwrap(), message());
        }
    }
}
