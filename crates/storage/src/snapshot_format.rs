//! The format of a snapshot file.
//!
//! ```text
//! header   magic 8 | meta length u32 | meta | xxh3 u64 of all before it
//! chunk    length u32 (1..=1 MiB) | xxh3 u64 of the bytes, seeded with the chunk's number | bytes
//! ...
//! trailer  0 u32 | length of all data u64 | xxh3 u64 of all data
//! ```
//!
//! Numbers are little endian. Nothing may follow the trailer. The meta bytes
//! and the data belong to the store's owner; the store looks into neither.

use std::io::{self, Read, Write};
use xxhash_rust::xxh3::{Xxh3, xxh3_64, xxh3_64_with_seed};

const MAGIC: [u8; 8] = *b"LSSNAP01";
/// The most bytes in one chunk.
pub(crate) const CHUNK_BYTES_MAX: usize = 1 << 20;
/// The most meta bytes.
const META_BYTES_MAX: usize = 1 << 20;

/// Cuts data into checksummed chunks.
pub(crate) struct ChunkWriter<W> {
    out: W,
    chunk: Vec<u8>,
    ordinal: u64,
    data_bytes: u64,
    checksum: Box<Xxh3>,
}

impl<W: Write> ChunkWriter<W> {
    /// Writes the header.
    pub(crate) fn new(mut out: W, meta: &[u8]) -> io::Result<Self> {
        let length = u32::try_from(meta.len())
            .ok()
            .filter(|_| meta.len() <= META_BYTES_MAX)
            .ok_or_else(|| invalid("the meta bytes are longer than 1 MiB"))?;
        let header = [&MAGIC, length.to_le_bytes().as_slice(), meta].concat();
        out.write_all(&header)?;
        out.write_all(&xxh3_64(&header).to_le_bytes())?;
        Ok(Self {
            out,
            chunk: Vec::with_capacity(CHUNK_BYTES_MAX),
            ordinal: 0,
            data_bytes: 0,
            checksum: Box::new(Xxh3::new()),
        })
    }

    /// Writes the last chunk and the trailer.
    pub(crate) fn finish(mut self) -> io::Result<(W, u64)> {
        self.write_chunk()?;
        self.out.write_all(&0_u32.to_le_bytes())?;
        self.out.write_all(&self.data_bytes.to_le_bytes())?;
        self.out.write_all(&self.checksum.digest().to_le_bytes())?;
        self.out.flush()?;
        Ok((self.out, self.data_bytes))
    }

    fn write_chunk(&mut self) -> io::Result<()> {
        if self.chunk.is_empty() {
            return Ok(());
        }
        let length = u32::try_from(self.chunk.len()).map_err(io::Error::other)?;
        let checksum = xxh3_64_with_seed(&self.chunk, self.ordinal);
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(&checksum.to_le_bytes())?;
        self.out.write_all(&self.chunk)?;
        self.checksum.update(&self.chunk);
        self.ordinal = self.ordinal.saturating_add(1);
        self.data_bytes = self.data_bytes.saturating_add(u64::from(length));
        self.chunk.clear();
        Ok(())
    }
}

impl<W: Write> Write for ChunkWriter<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let room = CHUNK_BYTES_MAX.saturating_sub(self.chunk.len());
        let taken = data.get(..room).unwrap_or(data);
        self.chunk.extend_from_slice(taken);
        if self.chunk.len() >= CHUNK_BYTES_MAX {
            self.write_chunk()?;
        }
        Ok(taken.len())
    }

    /// Chunks are written when they are full.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Verifies chunks while they are read.
pub(crate) struct ChunkReader<R> {
    input: R,
    chunk: Vec<u8>,
    offset: usize,
    ordinal: u64,
    data_bytes: u64,
    checksum: Box<Xxh3>,
    is_done: bool,
}

impl<R: Read> ChunkReader<R> {
    /// Reads and verifies the header; returns the meta bytes too.
    pub(crate) fn new(mut input: R) -> io::Result<(Self, Vec<u8>)> {
        let mut head = [0; 12];
        input.read_exact(&mut head)?;
        let (magic, length) = head.split_at(8);
        if magic != MAGIC {
            return Err(invalid("it is not a snapshot of this format"));
        }
        let length = length.try_into().map_or(0, u32::from_le_bytes);
        let length = usize::try_from(length)
            .ok()
            .filter(|length| *length <= META_BYTES_MAX)
            .ok_or_else(|| invalid("its header is longer than 1 MiB"))?;
        let mut meta = vec![0; length];
        input.read_exact(&mut meta)?;
        let checksum = read_u64(&mut input)?;
        if checksum != xxh3_64(&[&head, meta.as_slice()].concat()) {
            return Err(invalid("the checksum of its header does not match"));
        }
        let reader = Self {
            input,
            chunk: Vec::new(),
            offset: 0,
            ordinal: 0,
            data_bytes: 0,
            checksum: Box::new(Xxh3::new()),
            is_done: false,
        };
        Ok((reader, meta))
    }

    /// Reads to the end and returns the length of the data: the file is whole.
    pub(crate) fn verify(mut self) -> io::Result<u64> {
        while !self.is_done {
            self.next_chunk()?;
        }
        Ok(self.data_bytes)
    }

    fn next_chunk(&mut self) -> io::Result<()> {
        self.offset = 0;
        self.chunk.clear();
        let length = usize::try_from(read_u32(&mut self.input)?).unwrap_or(usize::MAX);
        if length == 0 {
            return self.read_trailer();
        }
        if length > CHUNK_BYTES_MAX {
            return Err(invalid("a chunk is longer than 1 MiB"));
        }
        let checksum = read_u64(&mut self.input)?;
        self.chunk.resize(length, 0);
        self.input.read_exact(&mut self.chunk)?;
        if checksum != xxh3_64_with_seed(&self.chunk, self.ordinal) {
            let what = format!("the checksum of chunk {} does not match", self.ordinal);
            return Err(invalid(&what));
        }
        self.checksum.update(&self.chunk);
        self.ordinal = self.ordinal.saturating_add(1);
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        self.data_bytes = self.data_bytes.saturating_add(length);
        Ok(())
    }

    fn read_trailer(&mut self) -> io::Result<()> {
        let data_bytes = read_u64(&mut self.input)?;
        let checksum = read_u64(&mut self.input)?;
        if data_bytes != self.data_bytes || checksum != self.checksum.digest() {
            return Err(invalid("its length or checksum does not match"));
        }
        if self.input.read(&mut [0])? != 0 {
            return Err(invalid("bytes follow its end"));
        }
        self.is_done = true;
        Ok(())
    }
}

impl<R: Read> Read for ChunkReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.offset == self.chunk.len() && !self.is_done {
            self.next_chunk()?;
        }
        let mut left = self.chunk.get(self.offset..).unwrap_or_default();
        let taken = left.read(buffer)?;
        self.offset = self.offset.saturating_add(taken);
        Ok(taken)
    }
}

fn read_u32(input: &mut impl Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    input.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

fn read_u64(input: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    input.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(meta: &[u8], data: &[u8]) -> Vec<u8> {
        let mut writer = ChunkWriter::new(Vec::new(), meta).unwrap();
        writer.write_all(data).unwrap();
        writer.finish().unwrap().0
    }

    fn read(file: &[u8]) -> io::Result<(Vec<u8>, Vec<u8>)> {
        let (mut reader, meta) = ChunkReader::new(file)?;
        let mut data = Vec::new();
        reader.read_to_end(&mut data)?;
        Ok((meta, data))
    }

    #[test]
    fn more_than_a_chunk_reads_back() {
        let data: Vec<u8> = (0..=250).cycle().take(CHUNK_BYTES_MAX * 2 + 77).collect();
        let file = written(b"meta", &data);
        assert_eq!(read(&file).unwrap(), (b"meta".to_vec(), data));
    }

    #[test]
    fn a_chunk_in_the_wrong_place_is_noticed() {
        let data = [vec![1; CHUNK_BYTES_MAX], vec![2; CHUNK_BYTES_MAX]].concat();
        let file = written(b"", &data);
        let (header, chunk) = (20, CHUNK_BYTES_MAX + 12);
        let swapped = [
            &file[..header],
            &file[header + chunk..header + 2 * chunk],
            &file[header..header + chunk],
            &file[header + 2 * chunk..],
        ]
        .concat();
        let error = read(&swapped).unwrap_err().to_string();
        assert_eq!(error, "the checksum of chunk 0 does not match");
    }

    #[test]
    fn a_longer_file_is_refused() {
        let mut file = written(b"m", b"data");
        file.push(0);
        assert_eq!(read(&file).unwrap_err().to_string(), "bytes follow its end");
    }

    proptest! {
        #[test]
        fn no_flip_and_no_cut_goes_unnoticed(data: Vec<u8>, at: prop::sample::Index, bit in 0..8_u8) {
            let file = written(b"meta", &data);
            let place = at.index(file.len());
            let mut flipped = file.clone();
            flipped[place] ^= 1_u8 << bit;
            prop_assert!(read(&flipped).is_err());
            prop_assert!(read(&file[..place]).is_err());
        }
    }
}
