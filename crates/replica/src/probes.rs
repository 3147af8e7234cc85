//! What the probes of one replica have shown so far.

use arc_swap::ArcSwapOption;
use lockstep_model::FactKind;
use lockstep_raft::BarrierPassed;
use rustix::time::{ClockId, clock_gettime};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

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
    /// For each kind, the boot clock as of which the leader's watch of it had
    /// proved to deliver; `None` while no leader says.
    source: ArcSwapOption<BTreeMap<FactKind, BootNs>>,
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
            source: ArcSwapOption::empty(),
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
        let is_contradicted = published.is_broken() || published.is_suspect();
        // Consensus goes on below a replica that broke off: its probes prove nothing.
        let is_proven = noted > 0 && !is_contradicted;
        // Behind what was noted: a pause in between makes the age older, not younger.
        let now = boot_now();
        Evidence {
            is_synced: published.newest().is_synced(),
            is_contradicted,
            age: is_proven.then(|| age_of(noted, now)),
            source_age: self.source_ages(now).into_values().max(),
            sees_fresher: seen > 0 && age_of(seen, now) <= SEEN_LIMIT,
        }
    }

    /// Takes in a barrier that passed, whoever asked for it.
    pub(crate) fn passed(&self, passed: &BarrierPassed) {
        self.fresh_as_of
            .fetch_max(passed.asked_at_ns, Ordering::AcqRel);
    }

    /// Takes in what the leader said of its watches when it was asked then.
    pub(crate) fn source_told(&self, asked_at: BootNs, ages: &BTreeMap<FactKind, Duration>) {
        // The leader's clock stood at `asked_at` or later when it worked the ages
        // out, so a proof comes out older here than it was, never younger.
        let as_of = |(kind, age): (&FactKind, &Duration)| {
            let age = BootNs::try_from(age.as_nanos()).unwrap_or(BootNs::MAX);
            (*kind, asked_at.saturating_sub(age))
        };
        let known = (!ages.is_empty()).then(|| Arc::new(ages.iter().map(as_of).collect()));
        self.source.store(known);
    }

    /// The age of each kind's last proof at `now`; empty while no leader says.
    pub(crate) fn source_ages(&self, now: BootNs) -> BTreeMap<FactKind, Duration> {
        let known = self.source.load();
        let age = |(kind, noted): (&FactKind, &BootNs)| (*kind, age_of(*noted, now));
        known
            .iter()
            .flat_map(|known| known.iter().map(age))
            .collect()
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
    fn the_source_is_as_old_as_its_slowest_kind_and_grows_old_by_itself() {
        let second = Duration::from_secs(1);
        let nanos = |seconds: u64| seconds * 1_000_000_000;
        let probes = Probes::new(StalenessPolicy::default());
        let ages = |at| probes.source_ages(nanos(at)).into_values().max();
        assert_eq!(ages(99), None);
        let told = BTreeMap::from([(FactKind::Pod, 4 * second), (FactKind::Node, second)]);
        probes.source_told(nanos(100), &told);
        assert_eq!(ages(100), Some(4 * second));
        assert_eq!(ages(107), Some(11 * second));
        // A leader that does not know: neither does this replica.
        probes.source_told(nanos(108), &BTreeMap::new());
        assert_eq!(ages(108), None);
        // Older than the system: as old as that.
        let told = BTreeMap::from([(FactKind::Pod, 200 * second)]);
        probes.source_told(nanos(109), &told);
        assert_eq!(ages(110), Some(110 * second));
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
