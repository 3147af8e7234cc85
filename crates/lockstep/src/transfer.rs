//! The operator's wish that another replica lead.

use lockstep_admin::TransferError;
use lockstep_proto::admin::v1 as pb;
use lockstep_raft::{HandOverError, NoSuccessor};
use lockstep_replica::Replica;

use crate::{
    leadership::{Leadership, NotHandedOver},
    operator::leader_name,
};

/// Hands the lead to the voter of this name or id, or to the most caught-up one.
pub(crate) async fn transfer(
    replica: &Replica,
    leadership: &Leadership,
    to: Option<&str>,
) -> Result<pb::TransferLeadershipReply, TransferError> {
    let raft = replica.raft();
    let not_leader = |raft| TransferError::NotLeader {
        leader: leader_name(raft),
    };
    if raft.role.leading().is_none() {
        return Err(not_leader(&raft));
    }
    let successors = match to {
        Some(asked) => raft.successor(asked).map(|voter| vec![voter]),
        None => raft.successors(),
    };
    let successors = successors.map_err(nobody)?;
    tracing::info!(
        to = to.unwrap_or("the most caught-up voter"),
        "an operator hands the lead over"
    );
    match leadership.hand_over(&successors).await {
        Ok(handed) => Ok(pb::TransferLeadershipReply {
            from: raft.name.clone(),
            to: raft.name_of(handed.leader),
            term: handed.term.as_u64(),
        }),
        Err(NotHandedOver::UnderWay) => Err(TransferError::UnderWay),
        Err(NotHandedOver::Failed(HandOverError::NotLeader { .. })) => {
            Err(not_leader(&replica.raft()))
        }
        Err(NotHandedOver::Failed(
            error @ (HandOverError::NotAVoter { to }
            | HandOverError::Behind { to, .. }
            | HandOverError::NotTaken { to, .. }),
        )) => {
            let text = format!("{}: replica {error}", raft.name_of(to));
            Err(TransferError::NotNow(text))
        }
        Err(NotHandedOver::Failed(error @ HandOverError::Stopped)) => {
            Err(TransferError::NotNow(error.to_string()))
        }
    }
}

fn nobody(why: NoSuccessor) -> TransferError {
    let text = why.to_string();
    match why {
        NoSuccessor::Unknown { .. } => TransferError::Unknown(text),
        NoSuccessor::NotAVoter { .. } | NoSuccessor::Leads { .. } | NoSuccessor::Alone => {
            TransferError::Refused(text)
        }
        NoSuccessor::Silent { .. } | NoSuccessor::AllSilent { .. } => TransferError::NotNow(text),
    }
}
