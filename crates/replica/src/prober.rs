//! Asks the leader again and again where it is: the replica's own freshness,
//! and the proof that two replicas at one revision hold the same.

use lockstep_position::Position;
use lockstep_raft::{BarrierError, Node};
use std::sync::Arc;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::{
    conduct,
    freshness::{FRESH_LIMIT, PROBE_INTERVAL},
    label::LeaderStanding,
    probes::Probes,
    published::Published,
    telling::Telling,
};

/// Probes until the replica ends; a contradiction breaks it off.
pub(crate) async fn probe(node: Node, published: Arc<Published>, probes: Arc<Probes>) {
    let mut ticks = interval(PROBE_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let started = Instant::now();
    let mut telling = Telling::default();
    loop {
        ticks.tick().await;
        // A probe that fails changes nothing: the age grows by itself.
        let failed = match node.barrier(PROBE_INTERVAL).await {
            Ok(passed) => {
                probes.passed(&passed);
                if let Some(leader) = LeaderStanding::from_bytes(&passed.read.probe) {
                    probes.source_told(passed.asked_at_ns, &leader.source);
                    if let Some(own) = contradiction(&leader.position, &published) {
                        published.break_off(divergence(&leader.position, &own));
                        return;
                    }
                }
                String::new()
            }
            Err(error) => reason(error),
        };
        let now = probes.freshness(&published);
        published.steer(conduct(now.state, probes.policy()).open_streams);
        let has_begun = now.age.is_some() || started.elapsed() > FRESH_LIMIT;
        if let Some(change) = telling.hear(now.state, has_begun) {
            probes.note_entry(change.to);
            change.tell(&now, &failed);
        }
    }
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
}
