//! The signals that end the process, and how long its clients may take to notice.

use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// How long a client may keep a connection open after the stop.
const GRACE: Duration = Duration::from_secs(2);

/// Waits for SIGINT or SIGTERM.
pub(crate) async fn requested() {
    let Ok(mut terminate) = signal(SignalKind::terminate()) else {
        // Without a handler the signal itself ends the process.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}

/// Waits until clients have had their time: one that keeps its connection open
/// must not keep the replica from stopping.
pub(crate) async fn grace(stop: CancellationToken) {
    stop.cancelled().await;
    tokio::time::sleep(GRACE).await;
}
