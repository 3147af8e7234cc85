//! Checksums made right, so that what they protect is reached.

use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_64_with_seed};

/// What a promise's slot takes, and how much of it the checksum covers. Unit: bytes.
const SLOT_BYTES: usize = 512;
const PROMISE_BYTES: usize = 8 + 8 + 8 + 16 + 18 + 2 * 17;
/// The most bytes of one chunk of a snapshot.
const CHUNK_BYTES_MAX: usize = 1 << 20;

/// A line and the line of its checksum.
pub(super) fn identity(content: &[u8]) -> Vec<u8> {
    let line = content.split(|it| *it == b'\n').next().unwrap_or_default();
    let checksum = format!("\nxxh3:{:016x}\n", xxh3_64(line));
    [line, checksum.as_bytes()].concat()
}

/// Two slots, each with the checksum of what it holds.
pub(super) fn promise(content: &[u8]) -> Vec<u8> {
    let mut bytes = content.to_vec();
    bytes.resize(2 * SLOT_BYTES, 0);
    for slot in bytes.chunks_mut(SLOT_BYTES) {
        let (body, rest) = slot.split_at_mut(PROMISE_BYTES);
        let checksum = xxh3_64(body).to_le_bytes();
        rest.iter_mut().zip(checksum).for_each(|(to, it)| *to = it);
    }
    bytes
}

/// A header, its meta, and chunks: the lengths are those that the content gives, as far as
/// they make sense, and each checksum is that of what follows.
pub(super) fn snapshot(content: &[u8]) -> Vec<u8> {
    let (head, rest) = content.split_at(content.len().min(12));
    let (_, length) = head.split_at(head.len().min(8));
    let length = length
        .iter()
        .rev()
        .fold(0, |all, it| all << 8 | usize::from(*it));
    let (meta, rest) = rest.split_at(rest.len().min(length));
    let mut file = [head, meta].concat();
    file.extend(xxh3_64(&file).to_le_bytes());
    file.extend(chunks(rest.get(8..).unwrap_or_default()));
    file
}

fn chunks(mut content: &[u8]) -> Vec<u8> {
    let (mut file, mut all, mut length_of_all) = (Vec::new(), Xxh3::new(), 0_u64);
    for ordinal in 0.. {
        let Some((length, rest)) = content.split_first_chunk::<4>() else {
            break;
        };
        file.extend(length);
        let wanted = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let rest = rest.get(8..).unwrap_or_default();
        if wanted == 0 || wanted > CHUNK_BYTES_MAX {
            file.extend(length_of_all.to_le_bytes());
            file.extend(all.digest().to_le_bytes());
            file.extend(rest.get(8..).unwrap_or_default());
            break;
        }
        let (chunk, rest) = rest.split_at(rest.len().min(wanted));
        file.extend(xxh3_64_with_seed(chunk, ordinal).to_le_bytes());
        file.extend(chunk);
        all.update(chunk);
        length_of_all = length_of_all.saturating_add(u64::try_from(chunk.len()).unwrap_or(0));
        content = rest;
    }
    file
}

/// The file with single bytes changed: of each four of the content the first three say where.
pub(super) fn patched(file: &[u8], content: &[u8]) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for patch in content.chunks_exact(4) {
        let (value, place) = patch.split_last().unwrap_or((&0, &[]));
        let place = place.iter().fold(0, |all, it| all << 8 | usize::from(*it));
        let place = place.checked_rem(bytes.len()).unwrap_or(0);
        if let Some(byte) = bytes.get_mut(place) {
            *byte ^= value;
        }
    }
    bytes
}
