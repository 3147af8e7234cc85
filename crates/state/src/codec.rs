//! Values as durable bytes: the one place that names the encoding.
//!
//! Every encoded value starts with one byte of version. Bytes of a version
//! that this program does not know are refused, never guessed at. Golden files
//! under `tests/golden/` hold every version ever released, and the one that
//! will be; version 1 was never released.

use bincode::config::{Configuration, Limit, LittleEndian, Varint, standard};
use serde::{Serialize, de::DeserializeOwned};

use crate::{Batch, image::ITEM_BYTES_MAX};

/// The version of batches that this program writes.
pub const BATCH_VERSION: u8 = 2;

/// Why bytes are no value.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum DecodeError {
    /// Nothing there.
    #[error("no bytes: a value starts with its version")]
    Empty,
    /// Written by a program that this one does not know.
    #[error("version {found} of {what}, this program reads version {known}")]
    Version {
        /// What was to be decoded.
        what: &'static str,
        /// The version found.
        found: u8,
        /// The version this program reads.
        known: u8,
    },
    /// The bytes do not spell a value.
    #[error("{what} is damaged: {reason}")]
    Damaged {
        /// What was to be decoded.
        what: &'static str,
        /// What the decoder said.
        reason: String,
    },
}

/// The most that a value may take when it is decoded: a longer length means damage, and
/// memory for it cannot even be asked for. The decoder counts up to eight bytes for each
/// one that it reads. Unit: bytes.
const DECODED_BYTES_MAX: usize = 8 * ITEM_BYTES_MAX;

/// The configuration of everything encoded here.
const FORMAT: Configuration<LittleEndian, Varint, Limit<DECODED_BYTES_MAX>> =
    standard().with_limit::<DECODED_BYTES_MAX>();

/// Encodes a batch.
#[must_use]
pub fn encode_batch(batch: &Batch) -> Vec<u8> {
    let mut bytes = vec![BATCH_VERSION];
    bytes.extend(canonical(batch));
    bytes
}

/// Decodes a batch.
///
/// # Errors
///
/// [`DecodeError`] says what is wrong; bytes after the batch are an error too.
pub fn decode_batch(bytes: &[u8]) -> Result<Batch, DecodeError> {
    let body = body(bytes, "batch", BATCH_VERSION)?;
    decode(body, "batch")
}

/// How many bytes a value takes.
#[must_use]
pub fn size(value: &impl Serialize) -> usize {
    canonical(value).len()
}

/// The bytes of a value: equal values have equal bytes, everywhere.
pub(crate) fn canonical(value: &impl Serialize) -> Vec<u8> {
    // Writing to memory fails for no value made of the model's types: they have
    // no sequence of unknown length. An empty result would be found by its digest.
    bincode::serde::encode_to_vec(value, FORMAT).unwrap_or_default()
}

/// Decodes a value that fills `bytes`.
pub(crate) fn decode<T: DeserializeOwned>(
    bytes: &[u8],
    what: &'static str,
) -> Result<T, DecodeError> {
    let damaged = |reason: String| DecodeError::Damaged { what, reason };
    let (value, read) = bincode::serde::decode_from_slice(bytes, FORMAT)
        .map_err(|error| damaged(error.to_string()))?;
    if read == bytes.len() {
        Ok(value)
    } else {
        Err(damaged(format!(
            "{} bytes follow its end",
            bytes.len() - read
        )))
    }
}

fn body<'bytes>(
    bytes: &'bytes [u8],
    what: &'static str,
    known: u8,
) -> Result<&'bytes [u8], DecodeError> {
    match bytes.split_first() {
        None => Err(DecodeError::Empty),
        Some((&found, body)) if found == known => Ok(body),
        Some((&found, _)) => Err(DecodeError::Version { what, found, known }),
    }
}
