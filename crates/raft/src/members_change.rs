//! Carries out what an operator asks for.

use openraft::Precondition;
use openraft::errors::{ClientWriteError, RaftError};
use std::time::Duration;

use crate::PeerAddress;
use crate::error::MembersError;
use crate::group_view::GroupView;
use crate::library::{Library, Raft};
use crate::members::{MembersChange, Plan, plan};

/// How long a majority may take to confirm a change.
const CHANGE_TIMEOUT: Duration = Duration::from_secs(5);

/// Judges a change and makes it; what is true afterwards, one sentence.
pub(crate) async fn change(
    raft: &Raft,
    configured: &[PeerAddress],
    asked: &MembersChange,
) -> Result<String, MembersError> {
    let view = GroupView::of(raft);
    let Plan { change, done } = plan(&view, configured, asked)?;
    let Some(change) = change else {
        return Ok(done);
    };
    tracing::info!(%change, "the members change, as an operator asked");
    let judged = [Precondition::LastMembershipLogId {
        last_membership_log_id: view.at,
    }];
    let changed = raft.change_membership_if(change, false, judged);
    match tokio::time::timeout(CHANGE_TIMEOUT, changed).await {
        Ok(Ok(_)) => Ok(done),
        Ok(Err(error)) => Err(refusal(raft, error)),
        Err(_) => Err(MembersError::OutcomeUnknown),
    }
}

/// A change of voters is two entries: after the first, every failure leaves it
/// open, and the next round of the leader finishes it.
fn refusal(raft: &Raft, error: RaftError<Library, ClientWriteError<Library>>) -> MembersError {
    let view = GroupView::of(raft);
    match error {
        RaftError::Fatal(_) => MembersError::Stopped,
        RaftError::APIError(ClientWriteError::ForwardToLeader(_)) if view.is_committed => {
            MembersError::NotLeader {
                leader: view.leader.map(|leader| view.name_of(leader)),
            }
        }
        RaftError::APIError(ClientWriteError::ChangeMembershipError(_)) => MembersError::Busy,
        RaftError::APIError(
            ClientWriteError::PreconditionFailed(_)
            | ClientWriteError::ForwardToLeader(_)
            | ClientWriteError::LogEntryDiscarded(_),
        ) => MembersError::OutcomeUnknown,
    }
}
