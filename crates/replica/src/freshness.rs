//! How old what this replica serves may be: a pure state machine.
//!
//! A probe notes the boot clock, then asks the leader for a confirmed index,
//! then waits until that index is applied. When it is, the replica held at the
//! noted time everything that was committed: no clock of another machine is
//! involved, and a pause between the two can only make the answer older. The
//! leader's answer also says how long ago each kind of its watches proved that
//! it delivers, which is the second leg of the age.
//!
//! ```text
//!            complete state          age <= limit         source age > its limit
//!  Syncing ────────────────▶ Stale ────────────▶ Fresh ◀──────────────────▶ SourceStale
//!                            ▲   ▲ age > limit    │
//!         no peer is fresher │   └────────────────┘         from any: Quarantined,
//!                            ▼                              while digests contradict
//!                         Yielding
//! ```

use std::time::Duration;

/// A time of the boot clock, which goes on through suspend. Unit: nanoseconds since boot.
pub(crate) type BootNs = u64;

/// The age past which a replica says that it is stale.
pub(crate) const FRESH_LIMIT: Duration = Duration::from_secs(3);

/// The age of the source's last proof past which answers say that it is stale.
pub(crate) const SOURCE_LIMIT: Duration = Duration::from_secs(30);

/// How often a replica probes.
pub(crate) const PROBE_INTERVAL: Duration = Duration::from_millis(500);

// One lost probe must not make a replica stale.
const _: () = assert!(FRESH_LIMIT.as_millis() >= 4 * PROBE_INTERVAL.as_millis());

/// What is known of a replica at one moment.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Evidence {
    /// Whether its state was ever complete.
    pub(crate) is_synced: bool,
    /// Whether its state contradicts the group's, or cannot go on.
    pub(crate) is_contradicted: bool,
    /// The age of its copy, at most; `None` before the first probe passed.
    pub(crate) age: Option<Duration>,
    /// The age of the source's last proof, of the kind that waits longest;
    /// `None` while no leader says.
    pub(crate) source_age: Option<Duration>,
    /// Whether another replica says that it is fresh.
    pub(crate) sees_fresher: bool,
}

/// What a replica can say of its age.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Freshness {
    /// The state that follows from the ages.
    pub state: FreshnessState,
    /// The age of the copy, at most; `None` before the first probe passed.
    pub age: Option<Duration>,
    /// The limit past which the copy is stale.
    pub limit: Duration,
    /// Time since the source last proved that it delivers, at most and of the
    /// kind that waits longest; `None` while that is not known.
    pub source_age: Option<Duration>,
    /// The limit past which the source is stale.
    pub source_limit: Duration,
}

/// Where a replica stands; see [`conduct`](crate::conduct) for what follows.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FreshnessState {
    /// Its state was never complete: it answers nothing.
    Syncing,
    /// Everything committed up to the limit ago is applied, and the leader's watches deliver.
    Fresh,
    /// Its copy is fresh, but the leader's watches may be silent. All replicas are equal in that.
    SourceStale,
    /// It cannot show that it is fresh, and sees nobody who can.
    Stale,
    /// It cannot show that it is fresh, and another replica can.
    Yielding,
    /// Its state contradicts the group's: wrong is worse than old.
    Quarantined,
}

impl FreshnessState {
    /// Every state, in the order of the table.
    pub const ALL: [Self; 6] = [
        Self::Syncing,
        Self::Fresh,
        Self::SourceStale,
        Self::Stale,
        Self::Yielding,
        Self::Quarantined,
    ];

    /// The state as one word, on all surfaces.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Syncing => "syncing",
            Self::Fresh => "fresh",
            Self::SourceStale => "source-stale",
            Self::Stale => "stale",
            Self::Yielding => "yielding",
            Self::Quarantined => "quarantined",
        }
    }

    /// What the state means, as a fragment for people.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Syncing => "this replica has not synced with the cluster yet",
            Self::Fresh => "all that was committed is applied",
            Self::SourceStale => "the leader's watches of the source may be silent",
            Self::Stale => "no leader has confirmed within the limit how far the group is",
            Self::Yielding => "this replica is stale and another one is fresh",
            Self::Quarantined => "this replica's state contradicts the group's",
        }
    }

    fn judge(evidence: &Evidence) -> Self {
        let within = |age: Option<Duration>, limit| age.is_some_and(|age| age <= limit);
        if evidence.is_contradicted {
            return Self::Quarantined;
        }
        if !evidence.is_synced {
            return Self::Syncing;
        }
        let source_is_late = evidence.source_age.is_some_and(|age| age > SOURCE_LIMIT);
        match (within(evidence.age, FRESH_LIMIT), evidence.sees_fresher) {
            (true, _) if source_is_late => Self::SourceStale,
            (true, _) => Self::Fresh,
            (false, false) => Self::Stale,
            (false, true) => Self::Yielding,
        }
    }
}

impl Freshness {
    /// Judges what is known at one moment: when bytes are handed over, not when
    /// a timer last fired. A process that was paused is stale the moment it goes on.
    #[must_use]
    pub(crate) fn judge(evidence: &Evidence) -> Self {
        Self {
            state: FreshnessState::judge(evidence),
            age: evidence.age,
            limit: FRESH_LIMIT,
            source_age: evidence.source_age,
            source_limit: SOURCE_LIMIT,
        }
    }

    /// Whether what it serves may lack what was committed longer ago than the limit.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        match self.state {
            FreshnessState::Fresh | FreshnessState::SourceStale => false,
            FreshnessState::Syncing
            | FreshnessState::Stale
            | FreshnessState::Yielding
            | FreshnessState::Quarantined => true,
        }
    }

    /// Whether the source was silent for longer than its limit, as far as this replica knows.
    #[must_use]
    pub fn is_source_stale(&self) -> bool {
        self.source_age.is_some_and(|age| age > self.source_limit)
    }
}

/// The age at `now` of what was noted then. A clock that seems to go back is age zero.
pub(crate) fn age_of(noted: BootNs, now: BootNs) -> Duration {
    Duration::from_nanos(now.saturating_sub(noted))
}

#[cfg(test)]
mod tests;
