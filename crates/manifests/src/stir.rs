//! Notices that something in a folder was touched.

use notify::{
    EventKind, RecommendedWatcher, RecursiveMode, Watcher,
    event::{AccessKind, AccessMode},
};
use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::sync::mpsc;

/// Tells that a folder was touched since it was last asked. Stops when dropped.
#[derive(Debug)]
pub(crate) struct Stir {
    touched: mpsc::Receiver<()>,
    folder: Option<FolderId>,
    /// Set when the folder itself was removed; the next one may get its number.
    is_gone: Arc<AtomicBool>,
    _watcher: RecommendedWatcher,
}

/// What the system knows a folder by: device and number. A folder that was removed and made again
/// has the same path and another id, and nobody tells a watcher of the first about the second.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct FolderId(u64, u64);

impl FolderId {
    /// The id of the folder at a path; `None` if there is none now.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        Some(Self(metadata.dev(), metadata.ino()))
    }
}

impl Stir {
    /// Begins to watch the folder itself, not those below it.
    ///
    /// # Errors
    ///
    /// What the system says: too many watches, for example.
    pub(crate) fn watch(folder: &Path) -> notify::Result<Self> {
        // One token is enough: everything is read again, however often it was touched.
        let (sender, touched) = mpsc::channel(1);
        let is_gone = Arc::new(AtomicBool::new(false));
        let (gone, path) = (is_gone.clone(), folder.to_owned());
        let mut watcher = notify::recommended_watcher(move |event| {
            if is_removal(&event, &path) {
                gone.store(true, Ordering::Release);
            }
            if is_touch(&event) {
                // Full means that a token is waiting already.
                let _ = sender.try_send(());
            }
        })?;
        // Before the watch: of a folder that is replaced in between, too much is noticed.
        let id = FolderId::at(folder);
        watcher.watch(folder, RecursiveMode::NonRecursive)?;
        Ok(Self {
            touched,
            folder: id,
            is_gone,
            _watcher: watcher,
        })
    }

    /// Whether another folder is in the place of the one that is watched.
    pub(crate) fn is_replaced(&self, path: &Path) -> bool {
        let now = FolderId::at(path);
        now.is_some() && (now != self.folder || self.is_gone.load(Ordering::Acquire))
    }

    /// Waits until the folder is touched.
    ///
    /// # Cancellation
    ///
    /// Safe: a touch that was not waited for is told next time.
    pub(crate) async fn touched(&mut self) {
        if self.touched.recv().await.is_none() {
            // The watcher is gone, and with it every further touch.
            std::future::pending::<()>().await;
        }
    }
}

fn is_removal(event: &notify::Result<notify::Event>, path: &Path) -> bool {
    event
        .as_ref()
        .is_ok_and(|event| event.kind.is_remove() && event.paths.iter().any(|gone| gone == path))
}

/// Reading is no touch, or our own would never end. A failure is one: something may have
/// been missed.
fn is_touch(event: &notify::Result<notify::Event>) -> bool {
    match event {
        Ok(event) => match event.kind {
            EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
            EventKind::Access(_) => event.need_rescan(),
            EventKind::Any
            | EventKind::Create(_)
            | EventKind::Modify(_)
            | EventKind::Remove(_)
            | EventKind::Other => true,
        },
        Err(_) => true,
    }
}
