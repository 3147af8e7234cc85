//! How old what this replica serves may be: a pure state machine.
//!
//! A probe notes the boot clock, then asks the leader for a confirmed index,
//! then waits until that index is applied. When it is, the replica held at the
//! noted time everything that was committed: no clock of another machine is
//! involved, and a pause between the two can only make the answer older.

use std::time::Duration;

/// A time of the boot clock, which goes on through suspend. Unit: nanoseconds since boot.
pub(crate) type BootNs = u64;

/// The age past which a replica says that it is stale.
pub(crate) const FRESH_LIMIT: Duration = Duration::from_secs(3);

/// How often a replica probes.
pub(crate) const PROBE_INTERVAL: Duration = Duration::from_millis(500);

// One lost probe must not make a replica stale.
const _: () = assert!(FRESH_LIMIT.as_millis() >= 4 * PROBE_INTERVAL.as_millis());

/// What a replica can say of its age.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Freshness {
    /// The state that follows from the age.
    pub state: FreshnessState,
    /// The age, at most; `None` before the first probe passed.
    pub age: Option<Duration>,
    /// The limit past which the replica is stale.
    pub limit: Duration,
}

/// Whether a replica may answer, and whether what it answers may be old.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FreshnessState {
    /// Its state was never complete: it answers nothing.
    Syncing,
    /// Everything committed up to the limit ago is applied.
    Fresh,
    /// It cannot show that it is fresh.
    Stale,
}

impl Freshness {
    /// Judges the age at `now`, when bytes are handed over, not when a timer
    /// last fired: a process that was paused is stale the moment it goes on.
    #[must_use]
    pub(crate) fn judge(synced: bool, fresh_as_of: Option<BootNs>, now: BootNs) -> Self {
        let age = fresh_as_of.map(|then| Duration::from_nanos(now.saturating_sub(then)));
        let state = match (synced, age) {
            (false, _) => FreshnessState::Syncing,
            (true, Some(age)) if age <= FRESH_LIMIT => FreshnessState::Fresh,
            (true, Some(_) | None) => FreshnessState::Stale,
        };
        Self {
            state,
            age,
            limit: FRESH_LIMIT,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: BootNs = 1_000_000_000;

    fn state(synced: bool, fresh_as_of: Option<BootNs>, now: BootNs) -> FreshnessState {
        Freshness::judge(synced, fresh_as_of, now).state
    }

    #[test]
    fn without_a_complete_state_no_age_helps() {
        assert_eq!(state(false, Some(5), 5), FreshnessState::Syncing);
    }

    #[test]
    fn a_probe_makes_fresh_and_time_makes_stale() {
        assert_eq!(state(true, None, SECOND), FreshnessState::Stale);
        assert_eq!(state(true, Some(SECOND), 4 * SECOND), FreshnessState::Fresh);
        assert_eq!(
            state(true, Some(SECOND), 4 * SECOND + 1),
            FreshnessState::Stale
        );
    }

    #[test]
    fn a_clock_that_seems_to_go_back_is_age_zero() {
        let freshness = Freshness::judge(true, Some(9), 3);
        assert_eq!(freshness.age, Some(Duration::ZERO));
    }
}
