//! Changes of the members that an operator asks for.
//!
//! What protects the quorum: a change is judged against who has acknowledged
//! something a moment ago, and refused if the voters that it leaves could not
//! commit it. The same judgement is made whatever the operator insists on; only
//! what costs tolerance, and works otherwise, can be insisted on.

use lockstep_position::ReplicaId;
use openraft::ChangeMembers;
use std::collections::{BTreeMap, BTreeSet};

use crate::PeerAddress;
use crate::admission::BEHIND_MAX;
use crate::error::MembersError;
use crate::group_view::GroupView;
use crate::library::{Member, dismissed_from};

/// A change of the members that an operator asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MembersChange {
    /// Ends the membership of these, all at once; each is a name or an id.
    Remove(Vec<String>, Risk),
    /// Takes a configured name in again that was removed.
    Add(String),
    /// Makes a learner a voter now.
    Promote(String),
}

/// What to do about a change that works and leaves less to lose.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Risk {
    /// Refuse it, and say what it costs.
    Refuse,
    /// Do it.
    Accept,
}

/// The library's change.
pub(crate) type Change = ChangeMembers<ReplicaId, Member>;

/// What is to be done for an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The change; `None` when there is nothing to commit.
    pub(crate) change: Option<Change>,
    /// What is true afterwards, one sentence.
    pub(crate) done: String,
}

/// Judges a change on the newest membership of a leader.
pub(crate) fn plan(
    view: &GroupView,
    configured: &[PeerAddress],
    change: &MembersChange,
) -> Result<Plan, MembersError> {
    if !view.leads {
        return Err(MembersError::NotLeader {
            leader: view.leader.map(|leader| view.name_of(leader)),
        });
    }
    let voters = match view.membership.get_joint_config().as_slice() {
        [voters] if view.is_committed => voters,
        _ => return Err(MembersError::Busy),
    };
    match change {
        MembersChange::Remove(who, risk) => remove(view, voters, who, *risk),
        MembersChange::Add(name) => add(view, voters, configured, name),
        MembersChange::Promote(name) => promote(view, voters, name),
    }
}

// === remove ===

fn remove(
    view: &GroupView,
    voters: &BTreeSet<ReplicaId>,
    who: &[String],
    risk: Risk,
) -> Result<Plan, MembersError> {
    let mut leaving = BTreeSet::new();
    for who in who {
        leaving.extend(members_of(view, who)?);
    }
    let staying: BTreeSet<ReplicaId> = voters.difference(&leaving).copied().collect();
    if staying.is_empty() {
        return Err(MembersError::LastVoter);
    }
    check_quorum(view, &staying)?;
    if risk == Risk::Refuse {
        check_risk(view, voters, &staying)?;
    }
    let names: BTreeSet<String> = leaving.iter().map(|id| view.name_of(*id)).collect();
    let is_left = |id: &ReplicaId| leaving.contains(id);
    let members = view.membership.nodes();
    let (left, stayed): (Vec<_>, Vec<_>) = members.partition(|(id, _)| is_left(id));
    let mut dismissed = dismissed_from(&view.membership);
    for (_, member) in left {
        // Another id of the same name goes on.
        if stayed.iter().all(|(_, other)| other.name != member.name) {
            dismissed.insert(member.name.clone(), member.address.clone());
        }
    }
    let learners: BTreeSet<ReplicaId> = leaving.difference(voters).copied().collect();
    let changes = vec![
        Change::SetNodes(with_dismissed(stayed, &dismissed)),
        Change::RemoveNodes(learners),
        Change::ReplaceAllVoters(staying.clone()),
    ];
    Ok(Plan {
        change: Some(Change::Batch(changes)),
        done: format!("removed {}; {}", quoted(&names), tolerance(staying.len())),
    })
}

/// The members with this name or id.
fn members_of(view: &GroupView, who: &str) -> Result<BTreeSet<ReplicaId>, MembersError> {
    let members = view.membership.nodes();
    let is_meant =
        |(id, member): &(&ReplicaId, &Member)| member.name == who || id.to_string() == who;
    let found: BTreeSet<ReplicaId> = members.filter(is_meant).map(|(id, _)| *id).collect();
    if found.is_empty() {
        let members = view.membership.nodes();
        let names: BTreeSet<String> = members.map(|(_, member)| member.name.clone()).collect();
        return Err(MembersError::Unknown {
            name: who.to_owned(),
            what: "a member",
            allowed: quoted(&names),
        });
    }
    Ok(found)
}

/// A change of voters commits only with a majority of the new ones.
fn check_quorum(view: &GroupView, staying: &BTreeSet<ReplicaId>) -> Result<(), MembersError> {
    let away: BTreeSet<ReplicaId> = staying.difference(&view.present).copied().collect();
    let needed = majority(staying.len());
    let present = staying.len() - away.len();
    if present >= needed {
        return Ok(());
    }
    let names: BTreeSet<String> = away.iter().map(|id| view.name_of(*id)).collect();
    Err(MembersError::NoQuorum {
        left: staying.len(),
        needed,
        present,
        away: quoted(&names),
    })
}

fn check_risk(
    view: &GroupView,
    voters: &BTreeSet<ReplicaId>,
    staying: &BTreeSet<ReplicaId>,
) -> Result<(), MembersError> {
    if staying.len() == voters.len() {
        return Ok(());
    }
    if staying.len() == 1 {
        return Err(MembersError::Risky {
            what: "one voter would be left, and everything the group has committed on its disk \
                   alone",
        });
    }
    let spare = |voters: &BTreeSet<ReplicaId>| {
        let present = voters.intersection(&view.present).count();
        present.saturating_sub(majority(voters.len()))
    };
    if spare(staying) == 0 && spare(voters) > 0 {
        return Err(MembersError::Risky {
            what: "the group would stop when the next voter fails, and would not now",
        });
    }
    Ok(())
}

// === add ===

fn add(
    view: &GroupView,
    voters: &BTreeSet<ReplicaId>,
    configured: &[PeerAddress],
    name: &str,
) -> Result<Plan, MembersError> {
    let mut members = view.membership.nodes();
    let done = match members.find(|(_, member)| member.name == name) {
        Some((id, _)) if voters.contains(id) => {
            let name = name.to_owned();
            return Err(MembersError::Votes { name });
        }
        Some((id, _)) => {
            let behind = view.behind(*id);
            format!("`{name}` follows, {behind} entries behind, and votes when it has caught up")
        }
        None => match configured.iter().find(|peer| peer.name == name) {
            Some(PeerAddress { address, .. }) => {
                format!("`{name}` is taken in as soon as it answers at {address}")
            }
            None => {
                let names = configured.iter().map(|peer| peer.name.clone());
                return Err(MembersError::Unknown {
                    name: name.to_owned(),
                    what: "one of the leader's --peers",
                    allowed: quoted(&names.collect()),
                });
            }
        },
    };
    let change = release(view, &BTreeSet::from([name.to_owned()]));
    Ok(Plan { change, done })
}

/// Forgets that names were dismissed; `None` if none of them was.
pub(crate) fn release(view: &GroupView, names: &BTreeSet<String>) -> Option<Change> {
    let all = dismissed_from(&view.membership);
    let mut dismissed = all.clone();
    dismissed.retain(|name, _| !names.contains(name));
    let members = view.membership.nodes().collect();
    (dismissed != all).then(|| Change::SetNodes(with_dismissed(members, &dismissed)))
}

// === promote ===

fn promote(
    view: &GroupView,
    voters: &BTreeSet<ReplicaId>,
    name: &str,
) -> Result<Plan, MembersError> {
    let name = name.to_owned();
    let named = members_of(view, &name)?;
    let learners: BTreeSet<ReplicaId> = named.difference(voters).copied().collect();
    let Some(learner) = learners.first().copied() else {
        return Err(MembersError::Votes { name });
    };
    let behind = view.behind(learner);
    if !view.present.contains(&learner) {
        return Err(MembersError::Away { name });
    }
    if behind > BEHIND_MAX {
        return Err(MembersError::Behind {
            name,
            behind,
            allowed: BEHIND_MAX,
        });
    }
    let lost = voters
        .iter()
        .filter(|id| view.name_of(**id) == view.name_of(learner));
    let lost: BTreeSet<ReplicaId> = lost.copied().collect();
    let votes: BTreeSet<ReplicaId> = voters.difference(&lost).copied().chain([learner]).collect();
    check_quorum(view, &votes)?;
    let done = format!(
        "`{}` votes; {}",
        view.name_of(learner),
        tolerance(votes.len())
    );
    Ok(Plan {
        change: Some(Change::ReplaceAllVoters(votes)),
        done,
    })
}

// === words and numbers ===

fn with_dismissed(
    members: Vec<(&ReplicaId, &Member)>,
    dismissed: &BTreeMap<String, String>,
) -> BTreeMap<ReplicaId, Member> {
    let members = members.into_iter().map(|(id, member)| {
        let dismissed = dismissed.clone();
        let member = Member {
            dismissed,
            ..member.clone()
        };
        (*id, member)
    });
    members.collect()
}

/// How many of `voters` are needed to commit.
const fn majority(voters: usize) -> usize {
    voters / 2 + 1
}

fn tolerance(voters: usize) -> String {
    match (voters, voters - majority(voters)) {
        (1, _) => "1 voter is left, and none may fail".to_owned(),
        (_, 0) => format!("{voters} voters, none of which may fail"),
        (_, spare) => format!("{voters} voters, {spare} of which may fail"),
    }
}

fn quoted(names: &BTreeSet<String>) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests;
