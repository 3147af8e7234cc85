//! The replica as streams see it.

use futures::{FutureExt, future::BoxFuture};
use lockstep_model::Text;
use lockstep_raft::Node;
use lockstep_resolution::{About, Freshness, Topic, View, Wakes};
use lockstep_state::State;
use std::{sync::Arc, time::Duration};

use crate::{prober::Probes, published::Published};

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
                Ok(passed) => {
                    self.probes.passed(&passed);
                    Freshness::Fresh
                }
                Err(_) => Freshness::Stale,
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
