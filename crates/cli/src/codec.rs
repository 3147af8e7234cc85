//! Messages of the destination API, with the revision that a replica adds to each.
//!
//! The revision is an extra field, number 1000, that the API's own types do not have and drop.
//! So the bytes are read twice: as the message, and for that field alone.

use lockstep_position::Revision;
use prost::Message;
use prost::bytes::{Buf, Bytes};
use std::marker::PhantomData;
use tonic::Status;
use tonic::codec::{Codec, DecodeBuf, Decoder};
use tonic_prost::ProstEncoder;

/// A message, and the revision it tells about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Labelled<M> {
    pub(crate) message: M,
    /// Absent when the server does not label its messages.
    pub(crate) revision: Option<Revision>,
}

/// The codec of calls that send `T` and receive labelled `M`s.
#[derive(Debug)]
pub(crate) struct LabelledCodec<T, M>(PhantomData<(T, M)>);

#[derive(Debug)]
pub(crate) struct LabelledDecoder<M>(PhantomData<M>);

/// All that is read of a message for its label; every other field is skipped.
#[derive(Clone, PartialEq, Message)]
struct RevisionLabel {
    #[prost(uint64, optional, tag = "1000")]
    revision: Option<u64>,
}

/// The revision in the bytes of a message. A label of another shape counts as none: a server of
/// another kind may use the number for something else.
fn revision_field(bytes: Bytes) -> Option<Revision> {
    RevisionLabel::decode(bytes)
        .ok()?
        .revision
        .map(Revision::from_u64)
}

// === impl LabelledCodec ===

impl<T, M> Default for LabelledCodec<T, M> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T, M> Codec for LabelledCodec<T, M>
where
    T: Message + Send + 'static,
    M: Message + Default + Send + 'static,
{
    type Encode = T;
    type Decode = Labelled<M>;
    type Encoder = ProstEncoder<T>;
    type Decoder = LabelledDecoder<M>;

    fn encoder(&mut self) -> Self::Encoder {
        ProstEncoder::default()
    }

    fn decoder(&mut self) -> Self::Decoder {
        LabelledDecoder(PhantomData)
    }
}

// === impl LabelledDecoder ===

impl<M: Message + Default> Decoder for LabelledDecoder<M> {
    type Item = Labelled<M>;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Self::Item>, Status> {
        let bytes = buffer.copy_to_bytes(buffer.remaining());
        let message = M::decode(bytes.clone())
            .map_err(|error| Status::internal(format!("message cannot be decoded: {error}")))?;
        Ok(Some(Labelled {
            message,
            revision: revision_field(bytes),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkerd2_proxy_api::destination::{NoEndpoints, Update, update};

    fn update_bytes() -> Vec<u8> {
        let exists = update::Update::NoEndpoints(NoEndpoints { exists: true });
        Update {
            update: Some(exists),
        }
        .encode_to_vec()
    }

    #[test]
    fn the_revision_is_found_before_and_after_the_message() {
        let label = RevisionLabel {
            revision: Some(300),
        }
        .encode_to_vec();
        assert_eq!(label, [0xc0, 0x3e, 0xac, 0x02], "field 1000, a varint");
        for bytes in [
            [label.clone(), update_bytes()].concat(),
            [update_bytes(), label].concat(),
        ] {
            assert_eq!(revision_field(bytes.into()), Some(Revision::from_u64(300)));
        }
    }

    #[test]
    fn a_message_without_it_has_none() {
        assert_eq!(revision_field(update_bytes().into()), None);
        assert_eq!(revision_field(Bytes::new()), None);
    }

    #[test]
    fn a_label_of_another_shape_counts_as_none() {
        let text_in_field_1000 = vec![0xc2, 0x3e, 0x01, b'x'];
        let cut_short = vec![0xc0, 0x3e, 0xac];
        for bytes in [text_in_field_1000, cut_short] {
            assert_eq!(revision_field(bytes.into()), None);
        }
    }

    #[test]
    fn every_other_field_is_skipped_whatever_its_type() {
        let fixed64 = [0x09, 1, 2, 3, 4, 5, 6, 7, 8].as_slice();
        let fixed32 = [0x0d, 1, 2, 3, 4].as_slice();
        let group = [0x0b, 0x08, 0x01, 0x0c].as_slice();
        let label = [0xc0, 0x3e, 0x07].as_slice();
        let bytes = [fixed64, fixed32, group, label].concat();
        assert_eq!(revision_field(bytes.into()), Some(Revision::from_u64(7)));
    }
}
