//! What the probes of one replica have shown so far.

use lockstep_raft::BarrierPassed;
use rustix::time::{ClockId, clock_gettime};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{
    Freshness, FreshnessState, StalenessPolicy,
    fresher::SEEN_LIMIT,
    freshness::{BootNs, Evidence, age_of},
    published::Published,
};

/// What the probes have shown, and the policy for what follows.
pub(crate) struct Probes {
    /// The boot clock at the start of the newest probe that passed; 0 before the first.
    fresh_as_of: AtomicU64,
    /// The boot clock when peers were asked of whom one was fresher; 0 before the first time.
    fresher_seen: AtomicU64,
    /// How often each state was entered, in the order of [`FreshnessState::ALL`].
    entered: [AtomicU64; FreshnessState::ALL.len()],
    policy: StalenessPolicy,
}

/// Now, on the clock that goes on through suspend.
pub(crate) fn boot_now() -> BootNs {
    let now = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(now.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

impl Probes {
    pub(crate) fn new(policy: StalenessPolicy) -> Self {
        Self {
            fresh_as_of: AtomicU64::default(),
            fresher_seen: AtomicU64::default(),
            entered: std::array::from_fn(|_| AtomicU64::default()),
            policy,
        }
    }

    pub(crate) fn policy(&self) -> StalenessPolicy {
        self.policy
    }

    /// The freshness of `published` at this moment.
    pub(crate) fn freshness(&self, published: &Published) -> Freshness {
        Freshness::judge(&self.evidence(published))
    }

    fn evidence(&self, published: &Published) -> Evidence {
        let noted = self.fresh_as_of.load(Ordering::Acquire);
        let seen = self.fresher_seen.load(Ordering::Acquire);
        let is_contradicted = published.is_broken();
        // Consensus goes on below a replica that broke off: its probes prove nothing.
        let is_proven = noted > 0 && !is_contradicted;
        // Behind what was noted: a pause in between makes the age older, not younger.
        let now = boot_now();
        Evidence {
            is_synced: published.newest().is_synced(),
            is_contradicted,
            age: is_proven.then(|| age_of(noted, now)),
            source_age: None,
            sees_fresher: seen > 0 && age_of(seen, now) <= SEEN_LIMIT,
        }
    }

    /// Takes in a barrier that passed, whoever asked for it.
    pub(crate) fn passed(&self, passed: &BarrierPassed) {
        self.fresh_as_of
            .fetch_max(passed.asked_at_ns, Ordering::AcqRel);
    }

    /// Takes in that one of the peers that were asked then is fresher.
    pub(crate) fn saw_fresher(&self, asked_at: BootNs) {
        self.fresher_seen.fetch_max(asked_at, Ordering::AcqRel);
    }

    /// Counts that a state was entered.
    pub(crate) fn note_entry(&self, state: FreshnessState) {
        let all = FreshnessState::ALL.iter().zip(&self.entered);
        for (_, entries) in all.filter(|(it, _)| **it == state) {
            entries.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How often each state was entered.
    pub(crate) fn entries(&self) -> [(FreshnessState, u64); FreshnessState::ALL.len()] {
        let mut entries = FreshnessState::ALL.map(|state| (state, 0));
        for ((_, count), entered) in entries.iter_mut().zip(&self.entered) {
            *count = entered.load(Ordering::Relaxed);
        }
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replica_that_broke_off_is_never_fresh() {
        let probes = Probes::new(StalenessPolicy::default());
        let published = Published::default();
        probes.fresh_as_of.store(boot_now(), Ordering::Release);
        assert!(probes.freshness(&published).age.is_some());
        published.break_off("an entry cannot be applied".to_owned());
        let freshness = probes.freshness(&published);
        assert_eq!(freshness.age, None);
        assert_eq!(freshness.state, FreshnessState::Quarantined);
    }

    #[test]
    fn a_fresher_peer_counts_for_a_while() {
        let probes = Probes::new(StalenessPolicy::default());
        let published = Published::default();
        let sees = |probes: &Probes| probes.evidence(&published).sees_fresher;
        assert!(!sees(&probes));
        let limit = u64::try_from(SEEN_LIMIT.as_nanos()).unwrap();
        probes.saw_fresher(boot_now().saturating_sub(limit + 1));
        assert!(!sees(&probes));
        probes.saw_fresher(boot_now());
        assert!(sees(&probes));
    }

    #[test]
    fn entries_are_counted_by_state() {
        let probes = Probes::new(StalenessPolicy::default());
        probes.note_entry(FreshnessState::Stale);
        probes.note_entry(FreshnessState::Stale);
        let counts = probes.entries().map(|(_, count)| count);
        assert_eq!(counts, [0, 0, 0, 2, 0, 0]);
    }

    #[test]
    fn the_boot_clock_goes_on() {
        let first = boot_now();
        assert!(first > 0 && boot_now() >= first);
    }
}
