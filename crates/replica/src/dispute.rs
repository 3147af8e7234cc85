//! Who is wrong when replicas hold different things at one revision: the voters
//! decide, and without a majority the leader is believed.
//!
//! One of them alone cannot know. Were the follower always the one to go, one
//! leader with a broken memory would take all the others down with it.

use lockstep_position::{Position, ReplicaId};
use std::collections::BTreeSet;

/// What one replica holds at the revision in dispute.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// Who says so.
    pub(crate) replica: ReplicaId,
    /// What it holds.
    pub(crate) position: Position,
}

/// Replicas that contradict each other, as one of them sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dispute {
    /// What this replica holds.
    pub(crate) own: Word,
    /// What others hold at the same revision; whoever has not got there is left out.
    pub(crate) others: Vec<Word>,
    /// Who votes in the group.
    pub(crate) voters: BTreeSet<ReplicaId>,
}

/// What follows for the replica whose dispute it is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// A majority of the voters holds what it holds: somebody else is wrong.
    Upheld,
    /// A majority of the voters holds one other thing: it is wrong.
    Outvoted,
    /// Neither.
    Undecided,
}

impl Verdict {
    /// The verdict as one word.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Upheld => "upheld",
            Self::Outvoted => "outvoted",
            Self::Undecided => "undecided",
        }
    }
}

impl Dispute {
    /// Those who contradict this replica.
    pub(crate) fn opponents(&self) -> impl Iterator<Item = &Word> {
        let own = self.own.position;
        self.others
            .iter()
            .filter(move |it| own.contradicts(&it.position))
    }

    /// Counts the voters.
    pub(crate) fn verdict(&self) -> Verdict {
        let majority = self.voters.len() / 2 + 1;
        let believers = |position: &Position| {
            let words = self.others.iter().chain([&self.own]);
            let agrees = |word: &&Word| agree(&word.position, position);
            let voting = words.filter(agrees).map(|word| word.replica);
            let voting: BTreeSet<ReplicaId> = voting.collect();
            voting.intersection(&self.voters).count()
        };
        if believers(&self.own.position) >= majority {
            return Verdict::Upheld;
        }
        let mut opponents = self.opponents();
        if opponents.any(|word| believers(&word.position) >= majority) {
            Verdict::Outvoted
        } else {
            Verdict::Undecided
        }
    }
}

fn agree(one: &Position, other: &Position) -> bool {
    let comparable = one.history == other.history && one.revision == other.revision;
    comparable && !one.contradicts(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Outvoted, Undecided, Upheld};
    use lockstep_position::{Digest, Revision};

    fn word(replica: u64, digest: u128) -> Word {
        Word {
            replica: ReplicaId::from_u64(replica),
            position: Position {
                revision: Revision::from_u64(4),
                state_digest: Digest::from_u128(digest),
                ..Position::default()
            },
        }
    }

    fn judged(own: Word, others: &[Word], voters: u64) -> Verdict {
        Dispute {
            own,
            others: others.to_vec(),
            voters: (1..=voters).map(ReplicaId::from_u64).collect(),
        }
        .verdict()
    }

    #[test]
    fn the_majority_of_the_voters_decides() {
        for (own, others, voters, expected) in [
            (word(1, 7), vec![word(2, 8), word(3, 8)], 3, Outvoted),
            (word(1, 7), vec![word(2, 8), word(3, 7)], 3, Upheld),
            (word(1, 7), vec![word(2, 8)], 3, Undecided),
            (word(1, 7), vec![word(2, 8), word(3, 9)], 3, Undecided),
            (word(1, 7), vec![word(2, 8)], 2, Undecided),
            (word(1, 7), vec![word(2, 8), word(3, 8)], 5, Undecided),
            (
                word(1, 7),
                vec![word(2, 8), word(3, 8), word(4, 8)],
                5,
                Outvoted,
            ),
            // A learner has no vote, and one who says it twice has one.
            (word(9, 7), vec![word(1, 8), word(2, 8)], 3, Outvoted),
            (word(1, 7), vec![word(2, 8), word(9, 8)], 3, Undecided),
            (word(1, 7), vec![word(2, 8), word(2, 8)], 3, Undecided),
            (word(1, 7), vec![], 1, Upheld),
        ] {
            assert_eq!(judged(own, &others, voters), expected, "{own:?} {others:?}");
        }
    }

    #[test]
    fn who_stands_at_another_revision_says_nothing_about_this_one() {
        let mut ahead = word(3, 7);
        ahead.position.revision = Revision::from_u64(5);
        let dispute = Dispute {
            own: word(1, 7),
            others: vec![word(2, 8), ahead],
            voters: (1..=3).map(ReplicaId::from_u64).collect(),
        };
        assert_eq!(dispute.verdict(), Undecided);
        assert_eq!(dispute.opponents().count(), 1);
    }
}
