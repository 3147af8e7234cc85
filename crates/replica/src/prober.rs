//! Asks the leader again and again where it is: the replica's own freshness,
//! and the proof that two replicas at one revision hold the same.

use lockstep_raft::{BarrierError, Node};
use std::sync::Arc;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::{
    conduct,
    dispute::Word,
    freshness::{FRESH_LIMIT, PROBE_INTERVAL},
    hearing::Inquest,
    label::LeaderStanding,
    probes::Probes,
    published::Published,
    quarantine::Quarantine,
    telling::Telling,
};

/// Probes until the replica is found to be wrong.
pub(crate) async fn probe(
    node: Node,
    published: Arc<Published>,
    probes: Arc<Probes>,
) -> Quarantine {
    let mut ticks = interval(PROBE_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let started = Instant::now();
    let mut telling = Telling::default();
    let mut inquest = Inquest::default();
    loop {
        ticks.tick().await;
        // A probe that fails changes nothing: the age grows by itself.
        let failed = match node.barrier(PROBE_INTERVAL).await {
            Ok(passed) => {
                probes.passed(&passed);
                if let Some(leader) = LeaderStanding::from_bytes(&passed.read.probe) {
                    probes.source_told(passed.asked_at_ns, &leader.source);
                    let word = Word {
                        replica: passed.read.leader,
                        position: leader.position,
                    };
                    if let Some(found) = inquest.hold(&node, &published, word).await {
                        return found;
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
