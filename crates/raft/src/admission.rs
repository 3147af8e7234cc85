//! Whom a leader takes in: replicas that lost their data folder, and new ones.
//!
//! A replica without its folder comes back with a new id, because the id lies
//! in the folder. Its old id stays a voter that never answers again, until the
//! leader has exchanged the two. A name that is configured and has no voter is
//! new: the group grows by it.
//!
//! ```text
//! voters {a, b, c}             c is lost; its name answers as d, which is no member
//!   Admit    {a, b, c} + d     d follows
//!   Replace  {a, b, c}{a, b, d} ─▶ {a, b, d}      once d has nearly all of the log
//!
//! voters {a, b, c}             e and f are configured, answer, and are no members
//!   Admit    {a, b, c} + e, then + f
//!   Promote  {a, b, c}{a, b, c, e, f} ─▶ {a, b, c, e, f}
//! ```
//!
//! Why this is safe: who is taken in has promised nothing as a voter, so
//! nothing is forgotten with it, and c is never asked again under its old id.
//! Each step is an entry of the log and takes a quorum of the voters before it;
//! a change of voters passes through both sets at once. So two quorums always
//! share a voter that remembers, and with a majority alive without c each step
//! commits. Who votes for the first time answers at that moment and has nearly
//! all of the log, so no more voters need to be up after the change than before
//! it.
//!
//! Nothing is remembered between two rounds: each is decided from the
//! committed membership and from who answers, so the next leader goes on
//! where the last one stopped.

use lockstep_position::{HistoryId, ReplicaId};
use lockstep_proto::peer::v1 as wire;
use std::collections::{BTreeMap, BTreeSet};

use crate::PeerAddress;
use crate::library::{Member, Membership};
use crate::peer::history_from_wire;

/// Entries that a learner may be behind when it becomes a voter: about one message.
const BEHIND_MAX: u64 = 1_024;

/// What the leader knows about its group.
#[derive(Debug)]
pub(crate) struct Standing<'a> {
    /// The leader itself.
    pub(crate) own: ReplicaId,
    /// The newest membership.
    pub(crate) membership: &'a Membership,
    /// Whether that membership is committed.
    pub(crate) is_committed: bool,
    /// The last index of the leader's log.
    pub(crate) last: u64,
    /// How far each follower's log is known to be the leader's.
    pub(crate) matched: &'a BTreeMap<ReplicaId, u64>,
}

/// Who answers where a configured replica should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heard {
    /// The replica as configured.
    pub(crate) peer: PeerAddress,
    /// The id that answers there now.
    pub(crate) id: ReplicaId,
    /// Whether it belongs to a group in which, as far as it knows, it votes.
    pub(crate) votes: bool,
}

/// What to do in one round: at most one change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// All is well, or it is too early.
    Rest,
    /// Somebody answers who must not be taken in; says who and why.
    Refuse(String),
    /// Ends a change that another leader has begun: these vote from now on.
    Finish(BTreeSet<ReplicaId>),
    /// Takes a replica in as a learner.
    Admit(ReplicaId, Member),
    /// Makes the learner a voter in place of the old ids of its name: these vote from now on.
    Replace(BTreeSet<ReplicaId>),
    /// Makes learners of new names voters: these vote from now on.
    Promote(BTreeSet<ReplicaId>),
    /// Removes a learner that was lost while it caught up.
    Forget(ReplicaId),
}

/// Reads an answer; `None` when it is not the configured replica's, or of another history.
pub(crate) fn heard(
    peer: PeerAddress,
    answer: &wire::HelloResponse,
    ours: Option<HistoryId>,
) -> Option<Heard> {
    let theirs = history_from_wire(&answer.history).ok()?;
    let is_ours = theirs.is_none() || theirs == ours;
    (answer.name == peer.name && is_ours).then(|| Heard {
        peer,
        id: ReplicaId::from_u64(answer.id),
        votes: answer.initialized && !answer.learner,
    })
}

/// Decides on one round.
pub(crate) fn decide(standing: &Standing<'_>, heard: &[Heard]) -> Step {
    if !standing.is_committed {
        return Step::Rest;
    }
    let voters = match standing.membership.get_joint_config().as_slice() {
        [] => return Step::Rest,
        [voters] => voters,
        [.., newer] => return Step::Finish(newer.clone()),
    };
    let mut decided = Step::Rest;
    let mut grown = BTreeSet::new();
    for heard in heard {
        let step = step_for(standing, voters, heard);
        match step {
            Step::Rest => {}
            // Who cannot be taken in must not keep others out.
            Step::Refuse(_) if decided == Step::Rest => decided = step,
            Step::Refuse(_) => {}
            // All at once where possible: an even number of voters tolerates no more than one less.
            Step::Promote(more) => grown.extend(more),
            Step::Finish(_) | Step::Admit(..) | Step::Replace(_) | Step::Forget(_) => return step,
        }
    }
    if grown.is_empty() {
        decided
    } else {
        Step::Promote(grown)
    }
}

fn step_for(standing: &Standing<'_>, voters: &BTreeSet<ReplicaId>, heard: &Heard) -> Step {
    let Heard { peer, id, votes } = heard;
    let PeerAddress { name, address } = peer;
    let members = standing.membership;
    let has_name = |id: &ReplicaId| members.get_node(id).is_some_and(|it| it.name == *name);
    let old: BTreeSet<ReplicaId> = voters.iter().copied().filter(has_name).collect();
    if old.contains(&standing.own) {
        return Step::Rest;
    }
    let mut learners = members.learner_ids();
    if let Some(lost) = learners.find(|learner| has_name(learner) && learner != id) {
        return Step::Forget(lost);
    }
    match members.get_node(id) {
        Some(member) if member.name != *name => Step::Refuse(format!(
            "`{name}` at {address} answers as {id}, which is `{}`",
            member.name
        )),
        Some(_) if voters.contains(id) || !is_caught_up(standing, *id) => Step::Rest,
        Some(_) if old.is_empty() => Step::Promote(voters.iter().copied().chain([*id]).collect()),
        Some(_) => {
            let voters = voters.difference(&old).copied();
            Step::Replace(voters.chain([*id]).collect())
        }
        None if *votes => Step::Refuse(format!(
            "`{name}` at {address} answers as {id}, which has a vote in another group or was \
             replaced: its data folder must be moved away"
        )),
        None => Step::Admit(
            *id,
            Member {
                name: name.clone(),
                address: address.clone(),
            },
        ),
    }
}

fn is_caught_up(standing: &Standing<'_>, id: ReplicaId) -> bool {
    let matched = standing.matched.get(&id);
    matched.is_some_and(|matched| standing.last.saturating_sub(*matched) <= BEHIND_MAX)
}

#[cfg(test)]
mod tests;
