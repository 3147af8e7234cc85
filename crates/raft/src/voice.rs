//! What a replica's owner says to other replicas, in bytes that consensus does not read.

use futures::future::join_all;
use lockstep_position::ReplicaId;
use lockstep_proto::peer::v1 as wire;
use openraft::async_runtime::WatchReceiver;
use std::sync::Arc;
use std::time::Duration;

use crate::library::Member;
use crate::node::Inner;
use crate::peer::Lane;
use crate::{Node, Probe};

/// Answers a question of another replica about this one; called when it is asked.
pub type Standing = Arc<dyn Fn(&[u8]) -> Vec<u8> + Send + Sync>;

/// What a replica's owner says to other replicas.
#[derive(Clone)]
pub struct Voice {
    /// Said with the answer to a read, by the leader.
    pub probe: Probe,
    /// Said to whoever asks, by every replica.
    pub standing: Standing,
}

impl Voice {
    /// A voice that says nothing.
    #[must_use]
    pub fn silent() -> Self {
        Self {
            probe: Arc::new(Vec::new),
            standing: Arc::new(|_| Vec::new()),
        }
    }
}

impl Node {
    /// Asks every other member the same question about itself, all at the same
    /// time, each for at most `limit`. Whoever does not answer is left out.
    pub async fn ask_members(
        &self,
        question: Vec<u8>,
        limit: Duration,
    ) -> Vec<(ReplicaId, Vec<u8>)> {
        let metrics = self.0.raft.server_metrics();
        let membership = metrics.borrow_watched().membership_config.clone();
        let others = membership.nodes().filter(|(id, _)| **id != self.id());
        let question = bytes::Bytes::from(question);
        let asked = others.map(|(id, member)| {
            let asked = ask(&self.0, *id, member, question.clone());
            async move {
                let answer = tokio::time::timeout(limit, asked).await.ok()??;
                Some((*id, answer))
            }
        });
        join_all(asked).await.into_iter().flatten().collect()
    }
}

async fn ask(
    node: &Inner,
    id: ReplicaId,
    member: &Member,
    question: bytes::Bytes,
) -> Option<Vec<u8>> {
    let address = node.peers.address_of(member);
    let mut client = node.peers.client(address, Lane::Quick)?;
    let request = wire::StandingRequest {
        route: Some(node.peers.route_to(Some(id))),
        question,
    };
    let answer = client.standing(request).await.ok()?;
    Some(answer.into_inner().answer.into())
}
