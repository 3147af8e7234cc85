//! Asks the leader again and again where it is: the replica's own freshness,
//! and the proof that two replicas at one revision hold the same.

use lockstep_position::Position;
use lockstep_raft::{BarrierPassed, Node};
use rustix::time::{ClockId, clock_gettime};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use tokio::time::{MissedTickBehavior, interval};

use crate::{
    freshness::{BootNs, Freshness, PROBE_INTERVAL},
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
        Freshness::judge(synced, (noted > 0).then_some(noted), boot_now())
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
    loop {
        ticks.tick().await;
        // A probe that fails changes nothing: the age grows by itself.
        let Ok(passed) = node.barrier(PROBE_INTERVAL).await else {
            continue;
        };
        probes.passed(&passed);
        if let Some(leader) = label::from_bytes(&passed.read.probe)
            && let Some(own) = contradiction(&leader, &published)
        {
            published.break_off(divergence(&leader, &own));
            return;
        }
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
    fn the_boot_clock_goes_on() {
        let first = boot_now();
        assert!(first > 0 && boot_now() >= first);
    }
}
