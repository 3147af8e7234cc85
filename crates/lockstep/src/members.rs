//! The operator's view of who belongs to the group, and the wish to change it.

use lockstep_admin::ChangeMembersError;
use lockstep_proto::admin::v1 as pb;
use lockstep_raft::{MemberStatus, MembersChange, MembersError, Outsider, RaftStatus, Risk};
use lockstep_replica::Replica;
use pb::change_members_request::Change;
use std::time::Duration;

/// By name: ids are random, and people look for names.
pub(crate) fn members(raft: &RaftStatus) -> Vec<pb::Member> {
    let mut members: Vec<pb::Member> = raft.members.iter().map(member).collect();
    members.sort_by(|one, other| one.name.cmp(&other.name));
    members
}

fn member(member: &MemberStatus) -> pb::Member {
    let ms = |ago: Duration| u64::try_from(ago.as_millis()).unwrap_or(u64::MAX);
    pb::Member {
        replica: member.id.to_string(),
        name: member.name.clone(),
        address: member.address.clone(),
        voter: member.voter,
        matched: member.matched,
        acked_ago_ms: member.acked_ago.map(ms),
        since_unix_ms: member.since_unix_ms,
    }
}

/// Who is configured and no member.
pub(crate) fn outsiders(raft: &RaftStatus) -> Vec<pb::Outsider> {
    let outsider = |outsider: &Outsider| pb::Outsider {
        name: outsider.name.clone(),
        address: outsider.address.clone(),
        why: outsider.why.clone(),
    };
    raft.outside.outsiders.iter().map(outsider).collect()
}

/// Changes who belongs to the group.
pub(crate) async fn change(
    replica: &Replica,
    request: pb::ChangeMembersRequest,
) -> Result<pb::ChangeMembersReply, ChangeMembersError> {
    let change = match request.change {
        None => return Err(ChangeMembersError::Empty),
        Some(Change::Remove(pb::RemoveMembers { members, .. })) if members.is_empty() => {
            return Err(ChangeMembersError::Empty);
        }
        Some(Change::Remove(pb::RemoveMembers { members, force })) => {
            let risk = if force { Risk::Accept } else { Risk::Refuse };
            MembersChange::Remove(members, risk)
        }
        Some(Change::Add(name)) => MembersChange::Add(name),
        Some(Change::Promote(name)) => MembersChange::Promote(name),
    };
    let done = replica.node().change_members(&change).await;
    let done = done.map_err(refusal)?;
    Ok(pb::ChangeMembersReply { done })
}

fn refusal(error: MembersError) -> ChangeMembersError {
    let text = error.to_string();
    match error {
        MembersError::Unknown { .. } => ChangeMembersError::Unknown(text),
        MembersError::NotLeader { .. }
        | MembersError::LastVoter
        | MembersError::Risky { .. }
        | MembersError::Votes { .. } => ChangeMembersError::Refused(text),
        MembersError::NoQuorum { .. }
        | MembersError::Away { .. }
        | MembersError::Behind { .. }
        | MembersError::Stopped => ChangeMembersError::NotNow(text),
        MembersError::Busy => ChangeMembersError::UnderWay(text),
        MembersError::OutcomeUnknown => ChangeMembersError::OutcomeUnknown(text),
    }
}
