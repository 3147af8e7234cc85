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
//! Not taken in is a name that an operator removed: it is *dismissed* and stays
//! out, configured or not, until it is added again, or until it is neither
//! configured nor answers, so that a later configuration means it anew. An id
//! that was a voter's and is none any more never returns, nor one whose folder
//! was rolled back, which shows in its denying what it had acknowledged: its
//! replica is told to put its folder aside, and comes back empty under a new id.
//!
//! Nothing is remembered between two rounds: each is decided from the
//! committed membership and from who answers, so the next leader goes on
//! where the last one stopped. Only the pace of replacements is a leader's own.

pub(crate) mod pace;

use lockstep_position::{HistoryId, LogId, ReplicaId};
use lockstep_proto::peer::v1 as wire;
use std::collections::{BTreeMap, BTreeSet};

use crate::PeerAddress;
use crate::library::{Member, Membership, dismissed_from};
use crate::peer::history_from_wire;

/// Entries that a learner may be behind when it becomes a voter: about one message.
pub(crate) const BEHIND_MAX: u64 = 1_024;

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
    /// Members that have lost what they had acknowledged to the leader, up to this entry.
    pub(crate) lost: BTreeMap<ReplicaId, LogId>,
    /// Names that were replaced too often lately.
    pub(crate) resting: BTreeSet<String>,
    /// Dismissed names that are not configured and do not answer.
    pub(crate) gone: BTreeSet<String>,
    /// The time of day. Unit: milliseconds since 1970.
    pub(crate) unix_ms: u64,
}

/// Who answers where a configured replica should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Heard {
    /// The replica as configured.
    pub(crate) peer: PeerAddress,
    /// The id that answers there now.
    pub(crate) id: ReplicaId,
    /// What it was, as far as it knows.
    pub(crate) past: Past,
}

/// What a replica was before, as far as it knows.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Past {
    /// It has no vote: a new one, or a learner.
    NoVote,
    /// It votes in a group of this history, or was removed from it.
    Votes,
    /// The same of a group that has no history yet, which may be another one.
    VotesElsewhere,
}

/// What to do in one round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decision {
    /// At most one change.
    pub(crate) step: Step,
    /// Who answers and stays out.
    pub(crate) refused: Vec<Refusal>,
}

/// One change of the members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// All is well, or it is too early.
    Rest,
    /// Ends a change that another leader has begun: these vote from now on.
    Finish(BTreeSet<ReplicaId>),
    /// Takes a replica in as a learner.
    Admit(ReplicaId, Member),
    /// Makes the learner of a name a voter in place of the old ids: these vote from now on.
    Replace(String, BTreeSet<ReplicaId>),
    /// Makes learners of new names voters: these vote from now on.
    Promote(BTreeSet<ReplicaId>),
    /// Removes a learner that was lost while it caught up.
    Forget(ReplicaId),
    /// Forgets that these names were dismissed.
    Release(BTreeSet<String>),
}

/// A replica that answers and stays out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The replica as configured.
    pub(crate) peer: PeerAddress,
    /// The id that answers there.
    pub(crate) id: ReplicaId,
    /// Why, and what to do.
    pub(crate) why: String,
    /// Whether it can come back by itself, empty and under a new id.
    pub(crate) remedy: Remedy,
}

/// What a replica that stays out can do about it by itself.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// Nothing.
    Wait,
    /// Put its folder aside.
    StartAnew,
}

/// What one answer leads to.
enum Judgement {
    Rest,
    Refuse(Remedy, String),
    Step(Step),
}

/// Reads an answer; `None` when it is not the configured replica's, or of another history.
pub(crate) fn heard(
    peer: PeerAddress,
    answer: &wire::HelloResponse,
    ours: Option<HistoryId>,
) -> Option<Heard> {
    let theirs = history_from_wire(&answer.history).ok()?;
    let is_ours = theirs.is_none() || theirs == ours;
    let past = match (answer.initialized && !answer.learner, theirs) {
        (false, _) => Past::NoVote,
        (true, Some(_)) => Past::Votes,
        (true, None) => Past::VotesElsewhere,
    };
    (answer.name == peer.name && is_ours).then(|| Heard {
        peer,
        id: ReplicaId::from_u64(answer.id),
        past,
    })
}

/// Decides on one round.
pub(crate) fn decide(standing: &Standing<'_>, heard: &[Heard]) -> Decision {
    let mut decision = Decision {
        step: Step::Rest,
        refused: Vec::new(),
    };
    if !standing.is_committed {
        return decision;
    }
    let voters = match standing.membership.get_joint_config().as_slice() {
        [] => return decision,
        [voters] => voters,
        [.., newer] => {
            decision.step = Step::Finish(newer.clone());
            return decision;
        }
    };
    let mut grown = BTreeSet::new();
    for heard in heard {
        match judge(standing, voters, heard) {
            Judgement::Rest => {}
            Judgement::Refuse(remedy, why) => decision.refused.push(Refusal {
                peer: heard.peer.clone(),
                id: heard.id,
                why,
                remedy,
            }),
            // All at once where possible: an even number of voters tolerates no more than one less.
            Judgement::Step(Step::Promote(more)) => grown.extend(more),
            Judgement::Step(step) if decision.step == Step::Rest => decision.step = step,
            Judgement::Step(_) => {}
        }
    }
    if decision.step == Step::Rest {
        decision.step = if !grown.is_empty() {
            Step::Promote(grown)
        } else if !standing.gone.is_empty() {
            Step::Release(standing.gone.clone())
        } else {
            Step::Rest
        };
    }
    decision
}

fn judge(standing: &Standing<'_>, voters: &BTreeSet<ReplicaId>, heard: &Heard) -> Judgement {
    let Heard { peer, id, .. } = heard;
    let PeerAddress { name, address } = peer;
    let members = standing.membership;
    let has_name = |id: &ReplicaId| members.get_node(id).is_some_and(|it| it.name == *name);
    let old: BTreeSet<ReplicaId> = voters.iter().copied().filter(has_name).collect();
    if old.contains(&standing.own) {
        return Judgement::Rest;
    }
    let mut learners = members.learner_ids();
    if let Some(lost) = learners.find(|learner| has_name(learner) && learner != id) {
        return Judgement::Step(Step::Forget(lost));
    }
    match members.get_node(id) {
        Some(member) if member.name != *name => Judgement::Refuse(
            Remedy::Wait,
            format!(
                "`{name}` at {address} answers as {id}, which is `{}`",
                member.name
            ),
        ),
        Some(_) if standing.lost.contains_key(id) => rolled_back(standing, heard),
        Some(_) if voters.contains(id) || !is_caught_up(standing, *id) => Judgement::Rest,
        Some(_) if old.is_empty() => {
            let voters = voters.iter().copied();
            Judgement::Step(Step::Promote(voters.chain([*id]).collect()))
        }
        Some(_) if standing.resting.contains(name) => rests(name),
        Some(_) => {
            let voters = voters.difference(&old).copied();
            let voters = voters.chain([*id]).collect();
            Judgement::Step(Step::Replace(name.clone(), voters))
        }
        None => judge_stranger(standing, heard, !old.is_empty()),
    }
}

/// Judges a replica whose id is no member's.
fn judge_stranger(standing: &Standing<'_>, heard: &Heard, is_replacement: bool) -> Judgement {
    let Heard { peer, id, past } = heard;
    let PeerAddress { name, address } = peer;
    let dismissed = dismissed_from(standing.membership);
    if dismissed.contains_key(name) {
        let why = format!(
            "`{name}` was removed from the group by an operator and stays out; \
             `lockstep members add {name}` takes it in again"
        );
        return Judgement::Refuse(Remedy::Wait, why);
    }
    if is_replacement && standing.resting.contains(name) {
        return rests(name);
    }
    match past {
        Past::NoVote => Judgement::Step(Step::Admit(
            *id,
            Member {
                name: name.clone(),
                address: address.clone(),
                since_unix_ms: standing.unix_ms,
                dismissed,
            },
        )),
        Past::Votes => Judgement::Refuse(
            Remedy::StartAnew,
            format!(
                "`{name}` at {address} answers as {id}, which was removed from the group or \
                 replaced; it comes back empty, under a new id"
            ),
        ),
        Past::VotesElsewhere => Judgement::Refuse(
            Remedy::Wait,
            format!(
                "`{name}` at {address} answers as {id}, which has a vote in another group: its \
                 data folder must be moved away"
            ),
        ),
    }
}

/// It may have voted, and have been counted on, with what it has forgotten.
fn rolled_back(standing: &Standing<'_>, heard: &Heard) -> Judgement {
    let Heard { peer, id, .. } = heard;
    let lost = standing.lost.get(id).map(ToString::to_string);
    let why = format!(
        "`{}` at {} answers as {id}, whose data folder is an older copy: it no longer holds {}, \
         which it had acknowledged; it comes back empty, under a new id",
        peer.name,
        peer.address,
        lost.unwrap_or_default()
    );
    Judgement::Refuse(Remedy::StartAnew, why)
}

fn rests(name: &str) -> Judgement {
    let why = format!(
        "`{name}` was replaced a short while ago, and another data folder answers there again: if \
         two processes run under this name, stop one of them; if not, it is taken in later"
    );
    Judgement::Refuse(Remedy::Wait, why)
}

fn is_caught_up(standing: &Standing<'_>, id: ReplicaId) -> bool {
    let matched = standing.matched.get(&id);
    matched.is_some_and(|matched| standing.last.saturating_sub(*matched) <= BEHIND_MAX)
}

#[cfg(test)]
mod tests;
