//! The signals that end the process.

use tokio::signal::unix::{SignalKind, signal};

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
