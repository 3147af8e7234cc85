//! The files of a data folder: identity, promise, snapshot, log.

mod pristine;
mod seal;

use lockstep_storage::{DataFolder, OpenAs, StorageError};
use std::{
    fs,
    io::{self, Read},
    path::Path,
};
use tempfile::TempDir;

use pristine::{File, pristine};

/// Who the folder belongs to.
const WHO: OpenAs<'static> = OpenAs {
    cluster: "prod",
    name: "replica-1",
};

/// Puts the bytes into one file of a small folder, opens it and reads all of it. The first byte
/// says which file, and whether checksums are made right.
///
/// # Panics
///
/// What opens cannot be read or closed, or opens otherwise the next time.
pub fn run(data: &[u8]) {
    let Some((how, content)) = data.split_first() else {
        return;
    };
    let folder = empty();
    assert!(folder.is_ok(), "{folder:?}");
    let Ok(folder) = folder else {
        return;
    };
    let damaged = match how % 4 {
        0 => File::Identity,
        1 => File::Promise,
        2 => File::Snapshot,
        _ => File::Log,
    };
    let is_sealed = how & 0x80 == 0;
    for (path, file, bytes) in pristine() {
        let bytes = match damaged {
            _ if *file != damaged => bytes.clone(),
            File::Identity if is_sealed => seal::identity(content),
            File::Promise if is_sealed => seal::promise(content),
            File::Snapshot if is_sealed => seal::snapshot(content),
            File::Log => seal::patched(bytes, content),
            File::Identity | File::Promise | File::Snapshot | File::Other => content.to_vec(),
        };
        put(&folder.path().join(path), &bytes);
    }
    let first = contents(folder.path());
    if let Ok(first) = first {
        let again = contents(folder.path()).map_err(|error| error.to_string());
        assert_eq!(again, Ok(first));
    }
}

/// A folder in memory where the system has such: nothing here must outlive a power cut.
fn empty() -> io::Result<TempDir> {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())
}

fn put(path: &Path, bytes: &[u8]) {
    let parent = path.parent().map_or(Ok(()), fs::create_dir_all);
    let written = parent.and_then(|()| fs::write(path, bytes));
    assert!(written.is_ok(), "{}: {written:?}", path.display());
}

/// All that a folder holds, as text.
fn contents(path: &Path) -> Result<String, StorageError> {
    let folder = DataFolder::open(path, WHO)?;
    let log = folder.log();
    let mut text = format!("{:?} {:?}", folder.id(), folder.history());
    text += &format!(" {:?} {:?}", log.bounds(), log.vote());
    text += &format!(" {:?}", log.read(0..u64::MAX, usize::MAX)?);
    if let Some(file) = folder.snapshots().newest() {
        let mut data = Vec::new();
        let read = file.reader()?.read_to_end(&mut data);
        assert!(read.is_ok(), "a verified snapshot: {read:?}");
        text += &format!(" {:?} {:?} {data:?}", file.log_id(), file.meta());
    }
    folder.close()?;
    Ok(text)
}
