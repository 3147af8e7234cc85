//! Handing the lead to another voter, and waiting until it has it.

use lockstep_position::{ReplicaId, Term};
use openraft::async_runtime::WatchReceiver;
use std::time::Duration;
use tokio::time::timeout;

use crate::{HandOverError, Node, Role};

/// A hand-over that took effect.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct HandedOver {
    /// Who leads now: the one asked for, or another voter that was faster.
    pub leader: ReplicaId,
    /// The term that it leads.
    pub term: Term,
}

impl Node {
    /// Hands the lead to another voter: waits until that one holds all that is
    /// in this log now, tells it to stand for election, and waits until it, or
    /// another one, leads. From then on this replica proposes nothing in its term.
    ///
    /// # Errors
    ///
    /// See [`HandOverError`]: they tell "not tried" from "unknown".
    pub async fn hand_over(
        &self,
        to: ReplicaId,
        limit: Duration,
    ) -> Result<HandedOver, HandOverError> {
        let role = *self.role().borrow();
        let Some(term) = role.leading() else {
            let leader = role.leader();
            return Err(HandOverError::NotLeader { leader });
        };
        let is_voter = self.0.raft.voter_ids().any(|voter| voter == to);
        if !is_voter || to == self.id() {
            return Err(HandOverError::NotAVoter { to });
        }
        let started = tokio::time::Instant::now();
        tokio::select! {
            () = self.0.stop.cancelled() => return Err(HandOverError::Stopped),
            caught_up = timeout(limit, self.caught_up(to)) => {
                caught_up.map_err(|_| HandOverError::Behind { to, limit })?;
            }
        }
        let triggered = self.0.raft.trigger().transfer_leader(to).await;
        triggered.map_err(|_| HandOverError::Stopped)?;
        let left = limit.saturating_sub(started.elapsed());
        tokio::select! {
            () = self.0.stop.cancelled() => Err(HandOverError::Stopped),
            new = timeout(left, self.another_leader(term)) => {
                new.map_err(|_| HandOverError::NotTaken { to, limit })
            }
        }
    }

    /// Waits until a follower holds all that is in this log now, or until there is no telling.
    async fn caught_up(&self, follower: ReplicaId) {
        let last = self.0.folder.log().bounds().last.map(|last| last.index);
        let mut metrics = self.0.raft.metrics();
        loop {
            let matched = {
                let now = metrics.borrow_watched();
                // Who does not lead any more knows nothing of followers.
                let Some(followers) = now.replication.as_ref() else {
                    return;
                };
                followers
                    .get(&follower)
                    .cloned()
                    .flatten()
                    .map(|it| it.index)
            };
            if matched >= last || metrics.changed().await.is_err() {
                return;
            }
        }
    }

    /// Waits until another replica leads a later term.
    async fn another_leader(&self, than: Term) -> HandedOver {
        let mut role = self.role();
        let led = |role: &Role| role.term() > than && role.leader().is_some();
        let Ok(role) = role.wait_for(led).await.map(|role| *role) else {
            return std::future::pending().await;
        };
        let (Some(leader), term) = (role.leader(), role.term()) else {
            return std::future::pending().await;
        };
        HandedOver { leader, term }
    }
}
