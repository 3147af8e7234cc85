//! The lead of one replica: what its ingest may do with it, and how it is given to another.

use lockstep_ingest::Lead;
use lockstep_position::{ReplicaId, Term};
use lockstep_raft::{HandOverError, HandedOver, NoSuccessor, Role};
use lockstep_replica::Replica;
use std::{future::Future, time::Duration};
use tokio::sync::watch;

/// How long one voter may take to catch up and to win its election. Far above
/// a few milliseconds on a healthy group and an election on a busy one.
const ATTEMPT_LIMIT: Duration = Duration::from_millis(1500);

/// How many voters are tried: with the lead in the air, elections do the rest.
const ATTEMPTS_MAX: usize = 2;

/// The lead of one replica. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Leadership {
    replica: Replica,
    /// The term whose lead is being handed over.
    leaving: watch::Sender<Option<Term>>,
}

/// Why nobody else leads.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotHandedOver {
    /// Another hand-over is under way.
    #[error("the lead is being handed over already")]
    UnderWay,
    /// The last voter that was tried did not take it.
    #[error(transparent)]
    Failed(#[from] HandOverError),
}

impl Leadership {
    pub(crate) fn of(replica: &Replica) -> Self {
        Self {
            replica: replica.clone(),
            leaving: watch::Sender::new(None),
        }
    }

    /// Hands the lead to the first of these voters that takes it.
    pub(crate) async fn hand_over(
        &self,
        voters: &[ReplicaId],
    ) -> Result<HandedOver, NotHandedOver> {
        let role = *self.replica.role().borrow();
        let leader = role.leader();
        let term = role.leading().ok_or(HandOverError::NotLeader { leader })?;
        // The ingest rests meanwhile, so that there is nothing to catch up with.
        let _rest = Rest::begin(&self.leaving, term).ok_or(NotHandedOver::UnderWay)?;
        let mut last = HandOverError::NotLeader { leader };
        for to in voters.iter().take(ATTEMPTS_MAX) {
            match self.replica.node().hand_over(*to, ATTEMPT_LIMIT).await {
                Ok(handed) => return Ok(handed),
                Err(error @ (HandOverError::Behind { .. } | HandOverError::NotTaken { .. })) => {
                    tracing::warn!(%to, %error, "the lead was not taken");
                    last = error;
                }
                Err(error) => {
                    last = error;
                    break;
                }
            }
        }
        // A voter that was late may have won while the next one was asked.
        let role = *self.replica.role().borrow();
        match (role.leader(), role.term()) {
            (Some(leader), now) if now > term => Ok(HandedOver { leader, term: now }),
            (Some(_) | None, _) => Err(last.into()),
        }
    }

    /// Hands the lead over, if this replica has it, because it is about to stop.
    pub(crate) async fn give_up(&self) {
        loop {
            let raft = self.replica.raft();
            if raft.role.leading().is_none() {
                return;
            }
            let voters = match raft.successors() {
                Ok(voters) => voters,
                Err(NoSuccessor::Alone) => return,
                Err(why) => return tracing::warn!(%why, "stopping without a hand-over"),
            };
            match self.hand_over(&voters).await {
                Ok(HandedOver { leader, term }) => {
                    let to = raft.name_of(leader);
                    return tracing::info!(%to, %term, "the lead was handed over");
                }
                Err(NotHandedOver::UnderWay) => {
                    // An operator was faster; perhaps that is all that was needed.
                    let mut leaving = self.leaving.subscribe();
                    let _ = leaving.wait_for(Option::is_none).await;
                }
                Err(NotHandedOver::Failed(why)) => {
                    return tracing::warn!(%why, "the lead was not handed over, elections decide");
                }
            }
        }
    }

    /// The term that the ingest may work in; the future keeps it up to date
    /// until the replica ends.
    pub(crate) fn lead(
        &self,
    ) -> (
        watch::Receiver<Lead>,
        impl Future<Output = ()> + Send + 'static,
    ) {
        let (mut role, mut leaving) = (self.replica.role(), self.leaving.subscribe());
        let (lead, leading) = watch::channel(lead_of(*role.borrow(), *leaving.borrow()));
        let follow = async move {
            loop {
                tokio::select! {
                    changed = role.changed() => if changed.is_err() { return },
                    changed = leaving.changed() => if changed.is_err() { return },
                }
                let now = lead_of(*role.borrow_and_update(), *leaving.borrow_and_update());
                lead.send_if_modified(|lead| std::mem::replace(lead, now) != now);
            }
        };
        (leading, follow)
    }
}

/// The lead of a term that is being handed over is none.
fn lead_of(role: Role, leaving: Option<Term>) -> Lead {
    role.leading().filter(|term| Some(*term) != leaving)
}

/// Held while a lead is handed over.
struct Rest<'a>(&'a watch::Sender<Option<Term>>);

impl<'a> Rest<'a> {
    /// `None` if another one is held.
    fn begin(leaving: &'a watch::Sender<Option<Term>>, term: Term) -> Option<Self> {
        let begun = leaving.send_if_modified(|leaving| {
            let is_free = leaving.is_none();
            if is_free {
                *leaving = Some(term);
            }
            is_free
        });
        begun.then_some(Self(leaving))
    }
}

impl Drop for Rest<'_> {
    fn drop(&mut self) {
        self.0.send_replace(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ingest_rests_in_the_term_that_is_handed_over_and_in_no_other() {
        let (old, new) = (Term::from_u64(3), Term::from_u64(5));
        let led = |term| Role::Leader { term };
        assert_eq!(lead_of(led(old), None), Some(old));
        assert_eq!(lead_of(led(old), Some(old)), None);
        assert_eq!(lead_of(led(new), Some(old)), Some(new));
        let leader = Some(ReplicaId::from_u64(1));
        assert_eq!(lead_of(Role::Follower { leader, term: new }, None), None);
    }

    #[test]
    fn there_is_one_hand_over_at_a_time() {
        let leaving = watch::Sender::new(None);
        let term = Term::from_u64(3);
        let first = Rest::begin(&leaving, term);
        assert!(first.is_some());
        assert!(Rest::begin(&leaving, term).is_none());
        drop(first);
        assert!(Rest::begin(&leaving, term).is_some());
    }
}
