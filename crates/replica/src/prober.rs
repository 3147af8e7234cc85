//! Asks the leader again and again where it is: the replica's own freshness,
//! and the proof that two replicas at one revision hold the same.

use lockstep_position::Position;
use lockstep_raft::{BarrierError, BarrierPassed, Node};
use rustix::time::{ClockId, clock_gettime};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::{
    freshness::{BootNs, FRESH_LIMIT, Freshness, FreshnessState, PROBE_INTERVAL},
    label,
    published::Published,
};

/// What the probes have shown.
#[derive(Default)]
pub(crate) struct Probes {
    /// The boot clock at the start of the newest probe that passed; 0 before the first.
    fresh_as_of: AtomicU64,
}

/// Now, on the clock that goes on through suspend.
pub(crate) fn boot_now() -> BootNs {
    let now = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(now.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}

impl Probes {
    /// The freshness of `published` at this moment.
    pub(crate) fn freshness(&self, published: &Published) -> Freshness {
        let noted = self.fresh_as_of.load(Ordering::Acquire);
        let synced = published.newest().is_synced();
        // Consensus goes on below a replica that broke off: its probes prove nothing.
        let proven = noted > 0 && !published.is_broken();
        Freshness::judge(synced, proven.then_some(noted), boot_now())
    }

    /// Takes in a barrier that passed, whoever asked for it.
    pub(crate) fn passed(&self, passed: &BarrierPassed) {
        self.fresh_as_of
            .fetch_max(passed.asked_at_ns, Ordering::AcqRel);
    }
}

/// Probes until the replica ends; a contradiction breaks it off.
pub(crate) async fn probe(node: Node, published: Arc<Published>, probes: Arc<Probes>) {
    let mut ticks = interval(PROBE_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let started = Instant::now();
    let mut told = FreshnessState::Fresh;
    loop {
        ticks.tick().await;
        // A probe that fails changes nothing: the age grows by itself.
        let failed = match node.barrier(PROBE_INTERVAL).await {
            Ok(passed) => {
                probes.passed(&passed);
                if let Some(leader) = label::from_bytes(&passed.read.probe)
                    && let Some(own) = contradiction(&leader, &published)
                {
                    published.break_off(divergence(&leader, &own));
                    return;
                }
                None
            }
            Err(error) => Some(error),
        };
        let now = probes.freshness(&published);
        // One that has just started is stale until its first probe passes: no news.
        if now.age.is_some() || started.elapsed() > FRESH_LIMIT {
            told = tell(told, &now, failed);
        }
    }
}

/// Logs that the replica became stale, with the reason, or fresh again.
fn tell(told: FreshnessState, now: &Freshness, failed: Option<BarrierError>) -> FreshnessState {
    match (told, now.state) {
        (FreshnessState::Fresh, FreshnessState::Stale) => {
            let reason = failed.map(reason).unwrap_or_default();
            tracing::warn!(age = ?now.age, %reason, "stale: answers go on and say so");
        }
        (FreshnessState::Stale, FreshnessState::Fresh) => tracing::info!("fresh again"),
        // Before the first complete state there is nothing to be old.
        (_, FreshnessState::Syncing) => return told,
        (_, FreshnessState::Fresh | FreshnessState::Stale) => {}
    }
    now.state
}

/// The cause, where the error itself only says that there is one.
pub(crate) fn reason(error: BarrierError) -> String {
    match error {
        BarrierError::Read(error) => error.to_string(),
        error @ BarrierError::NotApplied { .. } => error.to_string(),
    }
}

/// This replica's position that cannot be true together with the leader's.
fn contradiction(leader: &Position, published: &Published) -> Option<Position> {
    published
        .recent(leader.revision)
        .into_iter()
        .find(|own| own.contradicts(leader))
}

fn divergence(leader: &Position, own: &Position) -> String {
    format!(
        "agreement is violated: at {revision} of history {history} the leader has state \
         {leader_state} by path {leader_path}, this replica has state {own_state} by path \
         {own_path}; move this replica's data folder away and start it again",
        revision = own.revision,
        history = own.history,
        leader_state = leader.state_digest,
        leader_path = leader.path_digest,
        own_state = own.state_digest,
        own_path = own.path_digest,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_position::{Digest, LogId, Term};
    use lockstep_state::{Batch, Changed, Command, State};

    #[test]
    fn another_digest_at_the_same_revision_is_a_contradiction() {
        let published = Published::default();
        let mut state = State::default();
        let log_id = LogId {
            term: Term::from_u64(1),
            index: 3,
        };
        let node = Command::PutNode("node-a".into(), "zone-a".into());
        state.apply(log_id, Batch::whole(log_id.term, vec![node]));
        published.publish(&state, &Changed::everything());
        let own = *state.position();
        assert_eq!(contradiction(&own, &published), None);
        let other = Position {
            state_digest: Digest::from_u128(1),
            ..own
        };
        assert_eq!(contradiction(&other, &published), Some(own));
    }

    #[test]
    fn a_replica_that_broke_off_is_never_fresh() {
        let (probes, published) = (Probes::default(), Published::default());
        probes.fresh_as_of.store(boot_now(), Ordering::Release);
        assert!(probes.freshness(&published).age.is_some());
        published.break_off("an entry cannot be applied".to_owned());
        assert_eq!(probes.freshness(&published).age, None);
    }

    #[test]
    fn becoming_stale_is_told_once_and_a_replica_without_state_tells_nothing() {
        use FreshnessState::{Fresh, Stale, Syncing};
        let tell = |told, state| {
            let now = Freshness {
                state,
                age: None,
                limit: FRESH_LIMIT,
            };
            super::tell(told, &now, None)
        };
        assert_eq!(tell(Fresh, Syncing), Fresh);
        assert_eq!(tell(Fresh, Stale), Stale);
        assert_eq!(tell(Stale, Stale), Stale);
        assert_eq!(tell(Stale, Fresh), Fresh);
    }

    #[test]
    fn the_boot_clock_goes_on() {
        let first = boot_now();
        assert!(first > 0 && boot_now() >= first);
    }
}
