//! When a leader without its source should hand over, and to whom: a pure state machine.
//!
//! Leading without the source is bad for as long as another replica has it, and no worse than
//! anything else while none has. What must not be is a lead that goes round because every
//! replica loses the source in turn: so it rests after each move, the longer the more moves
//! there were.

use lockstep_position::ReplicaId;
use std::{collections::VecDeque, time::Duration};
use tokio::time::Instant;

/// For how long a move of the lead is remembered.
const REMEMBERED: Duration = Duration::from_secs(3600);

/// How often the rest doubles at most: 30 s become 32 min.
const DOUBLINGS_MAX: u32 = 6;

/// Moves that are remembered: enough for the longest rest.
const MOVES_MAX: usize = DOUBLINGS_MAX as usize + 1;

/// What a replica knows of the moves of the lead. Each replica notes each move that it sees,
/// so that the next leader knows what the one before knew.
#[derive(Clone, Debug)]
pub struct HandOver {
    patience: Duration,
    moves: VecDeque<Instant>,
}

/// What another voter says of its way to the source.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The voter.
    pub voter: ReplicaId,
    /// For how long the source has answered it each time; `None` if it does not.
    pub reached_for: Option<Duration>,
}

impl HandOver {
    /// `patience` is how long a leader may be without its source, and the rest after the
    /// first move.
    #[must_use]
    pub fn new(patience: Duration) -> Self {
        Self {
            patience,
            moves: VecDeque::new(),
        }
    }

    /// Notes that the lead moved, for whatever reason.
    pub fn moved(&mut self, now: Instant) {
        self.moves.push_back(now);
        while self.moves.len() > MOVES_MAX {
            self.moves.pop_front();
        }
    }

    /// Whether the leader, which has been in trouble for so long, should hand over if it can.
    #[must_use]
    pub fn is_due(&self, now: Instant, trouble: Option<Duration>) -> bool {
        let is_patient = trouble.is_none_or(|trouble| trouble < self.patience);
        let last = self.moves.back();
        let since_last = last.map(|last| now.saturating_duration_since(*last));
        !is_patient && since_last.is_none_or(|since| since >= self.rest(now))
    }

    /// The voter to hand over to: the first in `order`, the most caught-up one, that has had
    /// the source for a while. `None` when nobody has, and leading on is as good as anything.
    #[must_use]
    pub fn choose(&self, order: &[ReplicaId], reports: &[Report]) -> Option<ReplicaId> {
        // Longer than between two questions: one good answer may be a chance.
        let steady = self.patience / 3;
        let has_source = |voter: &&ReplicaId| {
            let mut reports = reports.iter().filter(|report| report.voter == **voter);
            reports.any(|report| report.reached_for.is_some_and(|time| time >= steady))
        };
        order.iter().find(has_source).copied()
    }

    /// How often each replica asks whether it reaches the source.
    #[must_use]
    pub fn question_interval(&self) -> Duration {
        self.patience / 6
    }

    /// How long the lead stays where it is after it moved.
    fn rest(&self, now: Instant) -> Duration {
        let is_remembered = |moved: &&Instant| now.saturating_duration_since(**moved) < REMEMBERED;
        let moves = self.moves.iter().filter(is_remembered).count();
        let doublings = u32::try_from(moves.saturating_sub(1)).unwrap_or(DOUBLINGS_MAX);
        self.patience * 2_u32.pow(doublings.min(DOUBLINGS_MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const PATIENCE: Duration = Duration::from_secs(30);

    fn voter(number: u64) -> ReplicaId {
        ReplicaId::from_u64(number)
    }

    fn report(number: u64, seconds: Option<u32>) -> Report {
        Report {
            voter: voter(number),
            reached_for: seconds.map(|seconds| SECOND * seconds),
        }
    }

    #[test]
    fn a_leader_is_patient_with_its_source() {
        let machine = HandOver::new(PATIENCE);
        let now = Instant::now();
        assert!(!machine.is_due(now, None));
        assert!(!machine.is_due(now, Some(SECOND * 29)));
        assert!(machine.is_due(now, Some(PATIENCE)));
    }

    #[test]
    fn the_lead_goes_to_the_most_caught_up_voter_that_has_the_source_for_a_while() {
        let machine = HandOver::new(PATIENCE);
        let order = [voter(2), voter(3), voter(4)];
        let all = [report(4, Some(99)), report(3, Some(10)), report(2, Some(9))];
        assert_eq!(machine.choose(&order, &all), Some(voter(3)));
        assert_eq!(machine.choose(&order[..1], &all), None);
    }

    #[test]
    fn while_nobody_has_the_source_the_lead_stays() {
        let machine = HandOver::new(PATIENCE);
        let order = [voter(2), voter(3)];
        assert_eq!(
            machine.choose(&order, &[report(2, None), report(3, None)]),
            None
        );
        assert_eq!(machine.choose(&order, &[]), None);
        // Nor does it go to whom the leader does not hear.
        assert_eq!(machine.choose(&[], &[report(2, Some(99))]), None);
    }

    /// Seconds between moves while every replica is in trouble all the time, and another one
    /// seems to have the source whenever it is asked.
    fn gaps(seconds: u32) -> Vec<u32> {
        let (mut machine, start) = (HandOver::new(PATIENCE), Instant::now());
        machine.moved(start);
        let (mut last, mut gaps) = (0, Vec::new());
        for second in 1..=seconds {
            let now = start + SECOND * second;
            if machine.is_due(now, Some(PATIENCE)) {
                machine.moved(now);
                gaps.push(second - last);
                last = second;
            }
        }
        gaps
    }

    #[test]
    fn a_lead_that_goes_round_rests_longer_each_time() {
        assert_eq!(gaps(3000), [30, 60, 120, 240, 480, 960]);
        // As moves are forgotten the rest gets shorter, though never as short as at first.
        let day = gaps(24 * 3600);
        assert!(day.iter().skip(3).all(|gap| *gap >= 240), "{day:?}");
    }

    #[test]
    fn moves_of_long_ago_are_forgotten() {
        let (mut machine, start) = (HandOver::new(PATIENCE), Instant::now());
        for minute in 0..10 {
            machine.moved(start + SECOND * 60 * minute);
        }
        let last = start + SECOND * 540;
        machine.moved(last + SECOND * 7200);
        let trouble = Some(PATIENCE);
        assert!(!machine.is_due(last + SECOND * 7229, trouble));
        assert!(machine.is_due(last + SECOND * 7230, trouble));
    }
}
