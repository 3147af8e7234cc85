//! The replica as streams see it.

use futures::{FutureExt, future::BoxFuture};
use lockstep_model::Text;
use lockstep_raft::Node;
use lockstep_resolution::{
    About, Admission, Barrier, Claim, Ending, Freshness as Copy, Topic, View, Wakes,
};
use lockstep_state::State;
use std::{sync::Arc, time::Duration};

use crate::{
    Freshness, NewStreams, StalenessPolicy, conduct,
    ending::{ending, random_stay},
    probes::Probes,
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

    fn barrier(&self) -> BoxFuture<'_, Barrier> {
        self.node
            .barrier(BARRIER_LIMIT)
            .map(|passed| match passed {
                Ok(passed) => {
                    self.probes.passed(&passed);
                    Barrier::Passed
                }
                Err(_) => Barrier::Missed,
            })
            .boxed()
    }

    fn claim(&self) -> Claim {
        claim(
            &self.probes.freshness(&self.published),
            self.probes.policy(),
        )
    }

    fn ending(&self) -> BoxFuture<'static, Ending> {
        ending(self.published.course(), random_stay()).boxed()
    }

    fn about(&self) -> About {
        About {
            replica: self.node.id(),
            name: self.name.clone(),
        }
    }
}

fn claim(freshness: &Freshness, policy: StalenessPolicy) -> Claim {
    let fresh = |is_stale: bool| if is_stale { Copy::Stale } else { Copy::Fresh };
    let admission = match conduct(freshness.state, policy).new_streams {
        NewStreams::Serve => Admission::Open,
        NewStreams::Refuse => Admission::Closed(freshness.state.meaning()),
    };
    Claim {
        copy: fresh(freshness.is_stale()),
        source: fresh(freshness.is_source_stale()),
        age: freshness.age,
        admission,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::freshness::{Evidence, FRESH_LIMIT, SOURCE_LIMIT};

    fn claimed(evidence: Evidence, policy: StalenessPolicy) -> Claim {
        let synced = Evidence {
            is_synced: true,
            ..evidence
        };
        claim(&Freshness::judge(&synced), policy)
    }

    #[test]
    fn a_claim_says_of_copy_and_source_what_is_known_and_admits_by_the_policy() {
        let old = |limit: Duration| Some(2 * limit);
        let stale = Evidence {
            age: old(FRESH_LIMIT),
            source_age: old(SOURCE_LIMIT),
            ..Evidence::default()
        };
        let serving = claimed(stale, StalenessPolicy::Serve);
        let expected = Claim {
            copy: Copy::Stale,
            source: Copy::Stale,
            age: old(FRESH_LIMIT),
            admission: Admission::Open,
        };
        assert_eq!(serving, expected);
        let why = "no leader has confirmed within the limit how far the group is";
        let refusing = Claim {
            admission: Admission::Closed(why),
            ..expected
        };
        assert_eq!(claimed(stale, StalenessPolicy::Refuse), refusing);
        let fresh = Evidence {
            age: Some(Duration::ZERO),
            ..Evidence::default()
        };
        let expected = Claim {
            copy: Copy::Fresh,
            source: Copy::Fresh,
            age: Some(Duration::ZERO),
            admission: Admission::Open,
        };
        assert_eq!(claimed(fresh, StalenessPolicy::Refuse), expected);
    }
}
