//! Tells others what part this replica plays.

use lockstep_position::{ReplicaId, Term};
use openraft::ServerState;
use openraft::async_runtime::WatchReceiver;
use openraft::vote::RaftLeaderId;
use tokio::sync::watch;

use crate::Role;
use crate::library::Raft;

/// The part that the replica plays now.
fn role_of(raft: &Raft) -> Role {
    let metrics = raft.server_metrics();
    let now = metrics.borrow_watched();
    let term = Term::from_u64(now.vote.leader_id.term());
    role(now.state, term, now.current_leader, *raft.node_id())
}

/// Publishes each change until the core has stopped.
pub(crate) async fn run(raft: Raft, role: watch::Sender<Role>) {
    let mut metrics = raft.server_metrics();
    loop {
        let now = role_of(&raft);
        role.send_if_modified(|role| {
            // The core says term 0 until it has told of itself for the first time.
            now.term() >= role.term() && std::mem::replace(role, now) != now
        });
        if metrics.changed().await.is_err() {
            return;
        }
    }
}

/// Who has stopped leads nothing and follows nobody.
pub(crate) fn resign(role: &watch::Sender<Role>) {
    role.send_if_modified(|role| {
        let resigned = Role::Learner {
            leader: None,
            term: role.term(),
        };
        std::mem::replace(role, resigned) != resigned
    });
}

fn role(state: ServerState, term: Term, leader: Option<ReplicaId>, own: ReplicaId) -> Role {
    match state {
        ServerState::Leader => Role::Leader { term },
        ServerState::Follower | ServerState::Candidate => Role::Follower {
            // A leader that steps down is not its own leader.
            leader: leader.filter(|leader| *leader != own),
            term,
        },
        ServerState::Learner | ServerState::Shutdown => Role::Learner {
            leader: leader.filter(|leader| *leader != own),
            term,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_follows_itself() {
        let (own, term) = (ReplicaId::from_u64(1), Term::from_u64(4));
        assert_eq!(
            role(ServerState::Leader, term, Some(own), own),
            Role::Leader { term }
        );
        assert_eq!(
            role(ServerState::Candidate, term, Some(own), own),
            Role::Follower { leader: None, term }
        );
        let leader = Some(ReplicaId::from_u64(2));
        assert_eq!(
            role(ServerState::Learner, term, leader, own),
            Role::Learner { leader, term }
        );
    }
}
