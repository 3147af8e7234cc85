//! One snapshot file: being written, kept, or being read.

use lockstep_position::LogId;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::StorageError;
use crate::atomic_file;
use crate::snapshot_format::{ChunkReader, ChunkWriter};

/// A whole, verified snapshot file.
///
/// A cheap handle. It can be read as long as a handle exists, even after the
/// file was replaced by a newer one. A file that was never kept is removed
/// with its last handle.
#[derive(Clone, Debug)]
pub struct SnapshotFile {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    file: File,
    path: Mutex<PathBuf>,
    is_kept: AtomicBool,
    log_id: LogId,
    meta: Vec<u8>,
    data_bytes: u64,
}

impl SnapshotFile {
    /// Opens a kept file and verifies all of it.
    pub(crate) fn open(path: &Path, log_id: LogId) -> Result<Self, StorageError> {
        let file = File::open(path).map_err(StorageError::io("open", path))?;
        let whole = ChunkReader::new(At::start(&file))
            .and_then(|(reader, meta)| Ok((meta, reader.verify()?)));
        let (meta, data_bytes) = whole.map_err(|error| damaged_or_io(path, error))?;
        Ok(Self {
            inner: Arc::new(Inner {
                file,
                path: Mutex::new(path.to_owned()),
                is_kept: AtomicBool::new(true),
                log_id,
                meta,
                data_bytes,
            }),
        })
    }

    /// The last entry that the snapshot covers.
    #[must_use]
    pub fn log_id(&self) -> LogId {
        self.inner.log_id
    }

    /// The owner's meta bytes.
    #[must_use]
    pub fn meta(&self) -> &[u8] {
        &self.inner.meta
    }

    /// The length of the data. Unit: bytes.
    #[must_use]
    pub fn data_bytes(&self) -> u64 {
        self.inner.data_bytes
    }

    /// Reads the data from its beginning, verifying it.
    ///
    /// # Errors
    ///
    /// [`StorageError`] when the header cannot be read any more.
    pub fn reader(&self) -> Result<SnapshotReader, StorageError> {
        let at = At {
            file: self.clone(),
            offset: 0,
        };
        let reader = ChunkReader::new(at).map_err(|error| damaged_or_io(&self.path(), error))?;
        Ok(SnapshotReader(reader.0))
    }

    /// Whether the file has its final name.
    pub(crate) fn is_kept(&self) -> bool {
        self.inner.is_kept.load(Ordering::SeqCst)
    }

    /// Gives the file its final name, durably.
    pub(crate) fn keep(&self, path: &Path) -> Result<(), StorageError> {
        atomic_file::rename(&self.path(), path)?;
        path.clone_into(
            &mut self
                .inner
                .path
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
        self.inner.is_kept.store(true, Ordering::SeqCst);
        Ok(())
    }

    fn path(&self) -> PathBuf {
        let path = self.inner.path.lock();
        path.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if !self.is_kept.load(Ordering::SeqCst) {
            let path = self.path.lock().unwrap_or_else(PoisonError::into_inner);
            // What stays is removed when the folder is opened next.
            let _ = fs::remove_file(&*path);
        }
    }
}

/// Reads the data of a snapshot; an error of kind `InvalidData` is damage.
pub struct SnapshotReader(ChunkReader<At<SnapshotFile>>);

impl Read for SnapshotReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

/// Writes the data of a new snapshot.
pub struct SnapshotWriter {
    chunks: ChunkWriter<BufWriter<File>>,
    unfinished: Unfinished,
    log_id: LogId,
    meta: Vec<u8>,
}

/// Removes a file that is given up.
#[derive(Debug)]
struct Unfinished(Option<PathBuf>);

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // What stays is removed when the folder is opened next.
            let _ = fs::remove_file(path);
        }
    }
}

impl SnapshotWriter {
    /// Starts a file under a temporary name.
    pub(crate) fn create(path: PathBuf, log_id: LogId, meta: &[u8]) -> Result<Self, StorageError> {
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)
            .map_err(StorageError::io("create", &path))?;
        let chunks = ChunkWriter::new(BufWriter::new(file), meta)
            .map_err(StorageError::io("write", &path))?;
        Ok(Self {
            chunks,
            unfinished: Unfinished(Some(path)),
            log_id,
            meta: meta.to_owned(),
        })
    }

    /// Ends the file and makes its content durable. It has no final name yet:
    /// see [`SnapshotFolder::keep`](crate::SnapshotFolder::keep).
    ///
    /// # Errors
    ///
    /// [`StorageError::Io`] when it cannot be written.
    pub fn finish(mut self) -> Result<SnapshotFile, StorageError> {
        let path = self.unfinished.0.clone().unwrap_or_default();
        let io = |source| StorageError::io("write", &path)(source);
        let (buffer, data_bytes) = self.chunks.finish().map_err(io)?;
        let file = buffer
            .into_inner()
            .map_err(|error| io(error.into_error()))?;
        file.sync_all().map_err(StorageError::io("sync", &path))?;
        self.unfinished.0 = None;
        Ok(SnapshotFile {
            inner: Arc::new(Inner {
                file,
                path: Mutex::new(path),
                is_kept: AtomicBool::new(false),
                log_id: self.log_id,
                meta: self.meta,
                data_bytes,
            }),
        })
    }
}

impl Write for SnapshotWriter {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.chunks.write(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.chunks.flush()
    }
}

/// Reads a shared file from a place of its own.
#[derive(Debug)]
struct At<F> {
    file: F,
    offset: u64,
}

impl<'file> At<&'file File> {
    const fn start(file: &'file File) -> Self {
        Self { file, offset: 0 }
    }
}

impl<F: AsFile> Read for At<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let taken = self.file.as_file().read_at(buffer, self.offset)?;
        self.offset = self
            .offset
            .saturating_add(u64::try_from(taken).unwrap_or(u64::MAX));
        Ok(taken)
    }
}

/// Something that has a file.
trait AsFile {
    /// The file.
    fn as_file(&self) -> &File;
}

impl AsFile for &File {
    fn as_file(&self) -> &File {
        self
    }
}

impl AsFile for SnapshotFile {
    fn as_file(&self) -> &File {
        &self.inner.file
    }
}

fn damaged_or_io(path: &Path, error: io::Error) -> StorageError {
    match error.kind() {
        io::ErrorKind::InvalidData => StorageError::damaged(path, error.to_string()),
        io::ErrorKind::UnexpectedEof => StorageError::damaged(path, "it ends too early"),
        _ => StorageError::io("read", path)(error),
    }
}
