//! Who could lead next: a pure choice from what a leader knows of its followers.

use lockstep_position::ReplicaId;
use std::cmp::Reverse;
use std::time::Duration;

use crate::{MemberStatus, RaftStatus};

/// Why a replica cannot be handed the lead. Nothing was tried.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSuccessor {
    /// No member is called so.
    #[error("no member is called `{asked}`; {}", named(voters))]
    Unknown {
        /// What was asked for.
        asked: String,
        /// The names of the voters that could be.
        voters: Vec<String>,
    },
    /// It follows without a vote.
    #[error("`{name}` has no vote; {}", named(voters))]
    NotAVoter {
        /// The member asked for.
        name: String,
        /// The names of the voters that could be.
        voters: Vec<String>,
    },
    /// It is the leader.
    #[error("`{name}` leads already; {}", named(voters))]
    Leads {
        /// The leader.
        name: String,
        /// The names of the voters that could be.
        voters: Vec<String>,
    },
    /// It is away: the group would be without a leader until it elects one.
    #[error("`{name}` has not answered for more than {limit:?}")]
    Silent {
        /// The voter asked for.
        name: String,
        /// How long a voter may be silent.
        limit: Duration,
    },
    /// The group has one voter.
    #[error("no other replica votes")]
    Alone,
    /// Every other voter is away.
    #[error("no other voter has answered for more than {limit:?}")]
    AllSilent {
        /// How long a voter may be silent.
        limit: Duration,
    },
}

fn named(voters: &[String]) -> String {
    match voters {
        [] => "no other replica votes".to_owned(),
        [one] => format!("the other voter is {one}"),
        several => format!("the other voters are {}", several.join(", ")),
    }
}

impl RaftStatus {
    /// The voters that may be handed the lead: those that answer, the most
    /// caught-up first, among equals by name. Known to the leader only.
    ///
    /// # Errors
    ///
    /// [`NoSuccessor::Alone`] or [`NoSuccessor::AllSilent`].
    pub fn successors(&self) -> Result<Vec<ReplicaId>, NoSuccessor> {
        let mut voters = self.other_voters();
        if voters.is_empty() {
            return Err(NoSuccessor::Alone);
        }
        voters.retain(|voter| self.answers(voter));
        if voters.is_empty() {
            return Err(NoSuccessor::AllSilent { limit: self.lease });
        }
        voters.sort_by_key(|voter| (Reverse(voter.matched), voter.name.clone(), voter.id));
        Ok(voters.into_iter().map(|voter| voter.id).collect())
    }

    /// The voter that is called `asked`, which is a configured name or an id.
    /// Known to the leader only.
    ///
    /// # Errors
    ///
    /// [`NoSuccessor`] says why it cannot lead, and who could.
    pub fn successor(&self, asked: &str) -> Result<ReplicaId, NoSuccessor> {
        let voters = || {
            let mut names: Vec<String> = self
                .other_voters()
                .iter()
                .map(|it| it.name.clone())
                .collect();
            names.sort();
            names
        };
        let is_asked =
            |member: &&MemberStatus| member.name == asked || member.id.to_string() == asked;
        let mut called: Vec<&MemberStatus> = self.members.iter().filter(is_asked).collect();
        // The successor of a lost replica bears its name while both are members.
        called.sort_by_key(|member| Reverse(member.voter));
        let name = |member: &MemberStatus| member.name.clone();
        match called.first() {
            None => Err(NoSuccessor::Unknown {
                asked: asked.to_owned(),
                voters: voters(),
            }),
            Some(member) if !member.voter => Err(NoSuccessor::NotAVoter {
                name: name(member),
                voters: voters(),
            }),
            Some(member) if member.id == self.id => Err(NoSuccessor::Leads {
                name: name(member),
                voters: voters(),
            }),
            Some(member) if !self.answers(member) => Err(NoSuccessor::Silent {
                name: name(member),
                limit: self.lease,
            }),
            Some(member) => Ok(member.id),
        }
    }

    fn other_voters(&self) -> Vec<&MemberStatus> {
        let others = self.members.iter();
        others
            .filter(|member| member.voter && member.id != self.id)
            .collect()
    }

    fn answers(&self, member: &MemberStatus) -> bool {
        member.acked_ago.is_some_and(|ago| ago <= self.lease)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DiskStatus, OutsideStatus, Role};
    use lockstep_position::Term;

    const LEASE: Duration = Duration::from_millis(300);

    fn member(number: u64, voter: bool, matched: u64, acked_ms: Option<u64>) -> MemberStatus {
        MemberStatus {
            id: ReplicaId::from_u64(number),
            name: format!("replica-{number}"),
            address: String::new(),
            voter,
            matched: Some(matched),
            acked_ago: acked_ms.map(Duration::from_millis),
            since_unix_ms: None,
        }
    }

    /// As replica 1 sees it, which leads.
    fn status(members: &[MemberStatus]) -> RaftStatus {
        RaftStatus {
            id: ReplicaId::from_u64(1),
            name: "replica-1".to_owned(),
            role: Role::Leader {
                term: Term::from_u64(2),
            },
            history: None,
            last: None,
            committed: None,
            applied: None,
            snapshot: None,
            purged: None,
            lease: LEASE,
            quorum_acked_ago: None,
            members: [&[member(1, true, 9, None)], members].concat(),
            outside: OutsideStatus::default(),
            disk: DiskStatus::default(),
        }
    }

    fn numbers(status: &RaftStatus) -> Result<Vec<u64>, NoSuccessor> {
        let ids = status.successors()?;
        Ok(ids.into_iter().map(ReplicaId::as_u64).collect())
    }

    #[test]
    fn the_most_caught_up_voter_that_answers_comes_first() {
        let all = [
            member(2, true, 7, Some(10)),
            member(3, true, 9, Some(301)),
            member(4, true, 8, Some(300)),
            member(5, false, 9, Some(10)),
            member(6, true, 9, None),
        ];
        assert_eq!(numbers(&status(&all)), Ok(vec![4, 2]));
        let equal = [member(3, true, 7, Some(0)), member(2, true, 7, Some(9))];
        assert_eq!(numbers(&status(&equal)), Ok(vec![2, 3]));
    }

    #[test]
    fn without_another_voter_that_answers_nobody_can_lead() {
        assert_eq!(numbers(&status(&[])), Err(NoSuccessor::Alone));
        let learner = [member(2, false, 9, Some(0))];
        assert_eq!(numbers(&status(&learner)), Err(NoSuccessor::Alone));
        let silent = [member(2, true, 9, Some(301)), member(3, true, 9, None)];
        assert_eq!(
            numbers(&status(&silent)),
            Err(NoSuccessor::AllSilent { limit: LEASE })
        );
    }

    #[test]
    fn a_replica_is_asked_for_by_name_or_id() {
        let status = status(&[member(2, true, 9, Some(0))]);
        let second = Ok(ReplicaId::from_u64(2));
        assert_eq!(status.successor("replica-2"), second);
        assert_eq!(status.successor("0000000000000002"), second);
    }

    #[test]
    fn of_two_members_with_one_name_the_voter_is_meant() {
        let old = MemberStatus {
            name: "replica-3".to_owned(),
            ..member(2, false, 0, None)
        };
        let status = status(&[old, member(3, true, 9, Some(0))]);
        assert_eq!(status.successor("replica-3"), Ok(ReplicaId::from_u64(3)));
    }

    #[test]
    fn who_cannot_lead_is_refused_with_those_who_can() {
        let status = status(&[
            member(3, true, 9, Some(0)),
            member(2, true, 9, Some(400)),
            member(4, false, 9, Some(0)),
        ]);
        let refused = |asked| status.successor(asked).unwrap_err().to_string();
        let others = "the other voters are replica-2, replica-3";
        assert_eq!(
            refused("replica-9"),
            format!("no member is called `replica-9`; {others}")
        );
        assert_eq!(
            refused("replica-4"),
            format!("`replica-4` has no vote; {others}")
        );
        assert_eq!(
            refused("replica-1"),
            format!("`replica-1` leads already; {others}")
        );
        assert_eq!(
            refused("replica-2"),
            "`replica-2` has not answered for more than 300ms"
        );
    }
}
