//! How often each sort of change comes.

use fastrand::Rng;

/// One sort of change.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// An endpoint is replaced by a new one.
    Update,
    /// A service comes.
    Create,
    /// A service goes.
    Delete,
    /// A service goes and comes again under its name.
    Recreate,
    /// An endpoint goes from one slice of its service to another.
    Move,
    /// A slice becomes two, or all become one.
    Split,
    /// Many endpoints are replaced at once.
    Mass,
}

/// Shares of the sorts.
#[derive(Copy, Clone, Debug)]
pub struct Mix {
    shares: &'static [(Change, u32)],
}

// === impl Mix ===

impl Mix {
    /// Everything that happens in a cluster.
    pub const CHURN: Self = Self {
        shares: &[
            (Change::Update, 60),
            (Change::Create, 10),
            (Change::Delete, 10),
            (Change::Recreate, 5),
            (Change::Move, 5),
            (Change::Split, 5),
            (Change::Mass, 5),
        ],
    };

    /// Only newer endpoints: the newest serial of every service grows for ever.
    pub const GROWING: Self = Self {
        shares: &[(Change::Update, 97), (Change::Mass, 3)],
    };

    /// Rolls the dice.
    pub(super) fn choose(&self, dice: &mut Rng) -> Change {
        let all = self.shares.iter().map(|(_, share)| share).sum();
        let mut left = dice.u32(0..all);
        for (change, share) in self.shares {
            if left < *share {
                return *change;
            }
            left -= share;
        }
        Change::Update
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_what_they_say() {
        let mut dice = Rng::with_seed(1);
        let updates = (0..10_000)
            .filter(|_| Mix::CHURN.choose(&mut dice) == Change::Update)
            .count();
        assert!((5_700..6_300).contains(&updates), "{updates}");
    }
}
