//! The time of day, for people to read. Nothing is decided by it.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now. Unit: milliseconds since 1970; 0 when the clock is before that.
pub(crate) fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
