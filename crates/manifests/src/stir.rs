//! Notices that something in a folder was touched.

use notify::{
    EventKind, RecommendedWatcher, RecursiveMode, Watcher,
    event::{AccessKind, AccessMode},
};
use std::path::Path;
use tokio::sync::mpsc;

/// Tells that a folder was touched since it was last asked. Stops when dropped.
#[derive(Debug)]
pub(crate) struct Stir {
    touched: mpsc::Receiver<()>,
    _watcher: RecommendedWatcher,
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
        let mut watcher = notify::recommended_watcher(move |event| {
            if is_touch(&event) {
                // Full means that a token is waiting already.
                let _ = sender.try_send(());
            }
        })?;
        watcher.watch(folder, RecursiveMode::NonRecursive)?;
        Ok(Self {
            touched,
            _watcher: watcher,
        })
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
