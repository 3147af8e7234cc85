//! The replica as streams see it.

use futures::{FutureExt, future::BoxFuture};
use lockstep_model::Text;
use lockstep_raft::Node;
use lockstep_resolution::{About, Freshness, Topic, View, Wakes};
use lockstep_state::State;
use std::{sync::Arc, time::Duration};

use crate::{
    freshness::{self, BootNs, FreshnessState},
    prober::{Probes, boot_now},
    published::Published,
};

/// How long a stream waits at its start for word from the leader.
const BARRIER_LIMIT: Duration = Duration::from_millis(500);

/// The read side of one replica. Cheap to clone.
#[derive(Clone)]
pub struct ReplicaView {
    node: Node,
    published: Arc<Published>,
    probes: Arc<Probes>,
    name: Text,
}

impl ReplicaView {
    pub(crate) fn new(
        node: Node,
        published: Arc<Published>,
        probes: Arc<Probes>,
        name: Text,
    ) -> Self {
        Self {
            node,
            published,
            probes,
            name,
        }
    }
}

// === impl View for ReplicaView ===

impl View for ReplicaView {
    fn newest(&self) -> Arc<State> {
        self.published.newest()
    }

    fn subscribe(&self, topics: Vec<Topic>) -> Wakes {
        let ear = self.published.bell().listen(topics);
        Wakes::new(futures::stream::unfold(ear, |mut ear| async move {
            ear.changed().await.is_ok().then_some(((), ear))
        }))
    }

    fn barrier(&self) -> BoxFuture<'_, Freshness> {
        self.node
            .barrier(BARRIER_LIMIT)
            .map(|passed| match passed {
                Ok(passed) if !self.published.is_broken() => {
                    self.probes.passed(&passed);
                    claim(passed.asked_at_ns, boot_now())
                }
                Ok(_) | Err(_) => Freshness::Stale,
            })
            .boxed()
    }

    fn about(&self) -> About {
        About {
            replica: self.node.id(),
            name: self.name.clone(),
        }
    }
}

/// What a barrier that was asked for at `asked_at` shows now: a process may
/// have been paused between the question and this moment.
fn claim(asked_at: BootNs, now: BootNs) -> Freshness {
    match freshness::Freshness::judge(true, Some(asked_at), now).state {
        FreshnessState::Fresh => Freshness::Fresh,
        FreshnessState::Stale | FreshnessState::Syncing => Freshness::Stale,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_lay_about_while_the_process_was_paused_is_stale() {
        let second: BootNs = 1_000_000_000;
        assert_eq!(claim(second, 4 * second), Freshness::Fresh);
        assert_eq!(claim(second, 4 * second + 1), Freshness::Stale);
    }
}
