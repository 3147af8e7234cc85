//! The state machine as Raft drives it.

use lockstep_position::LogId;
use lockstep_raft::{Image, InstallError, Machine};
use lockstep_state::{Changed, Outcome, State, StateImage, codec};
use std::{io, sync::Arc};

use crate::published::Published;

/// The live state. Its one writer is the task that Raft calls it from.
pub(crate) struct StateMachine {
    state: State,
    changed: Changed,
    published: Arc<Published>,
}

impl StateMachine {
    pub(crate) fn new(published: Arc<Published>) -> Self {
        Self {
            state: State::default(),
            changed: Changed::default(),
            published,
        }
    }
}

// === impl Machine for StateMachine ===

impl Machine for StateMachine {
    fn apply(&mut self, log_id: LogId, payload: &[u8]) -> Vec<u8> {
        if self.published.is_broken() {
            return Vec::new();
        }
        match codec::decode_batch(payload) {
            Ok(batch) => {
                let applied = self.state.apply(log_id, batch);
                self.changed.extend(applied.changed);
                // Each revision, also where a run of entries is published as one: a
                // replica that starts again can then be compared at all that it replays.
                self.published.note(*self.state.position());
                vec![outcome_byte(applied.outcome)]
            }
            // Going on would leave this replica different from those that can
            // read the entry, in silence. It stops where it is instead.
            Err(error) => {
                self.published
                    .break_off(format!("entry {log_id} cannot be applied: {error}"));
                Vec::new()
            }
        }
    }

    fn skip(&mut self, log_id: LogId) {
        if !self.published.is_broken() {
            self.state.skip(log_id);
        }
    }

    fn publish(&mut self) {
        let changed = std::mem::take(&mut self.changed);
        self.published.publish(&self.state, &changed);
    }

    fn image(&self) -> Box<dyn Image> {
        Box::new(FrozenState(self.state.image()))
    }

    fn install(&mut self, image: &mut dyn io::Read) -> Result<Option<LogId>, InstallError> {
        let state = State::from_image(image).map_err(|error| InstallError::Invalid {
            reason: error.to_string(),
        })?;
        let applied = state.position().applied;
        self.state = state;
        // Every open stream must look again: an installed state skips revisions.
        self.changed = Changed::everything();
        Ok(applied)
    }
}

struct FrozenState(StateImage);

impl Image for FrozenState {
    fn write(self: Box<Self>, out: &mut dyn io::Write) -> io::Result<()> {
        self.0.write(out)
    }
}

fn outcome_byte(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Done => 0,
        Outcome::Staged => 1,
        Outcome::StaleTerm => 2,
        Outcome::OutOfOrder => 3,
    }
}

/// Reads back what [`StateMachine`] answered to a proposal.
pub(crate) fn read_outcome(bytes: &[u8]) -> Option<Outcome> {
    match bytes {
        [0] => Some(Outcome::Done),
        [1] => Some(Outcome::Staged),
        [2] => Some(Outcome::StaleTerm),
        [3] => Some(Outcome::OutOfOrder),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lockstep_position::{Revision, Term};
    use lockstep_state::{Batch, Command};

    fn log_id(index: u64) -> LogId {
        LogId {
            term: Term::from_u64(1),
            index,
        }
    }

    #[test]
    fn an_entry_that_cannot_be_read_stops_the_replica_where_it_is() {
        let published = Arc::new(Published::default());
        let mut machine = StateMachine::new(published.clone());
        machine.apply(log_id(4), b"\x09");
        let node = Command::PutNode("node-a".into(), "zone-a".into());
        machine.apply(
            log_id(5),
            &codec::encode_batch(&Batch::whole(log_id(5).term, vec![node])),
        );
        machine.publish();
        assert_eq!(
            published.broken().as_deref(),
            Some("entry T1-I4 cannot be applied: version 9 of batch, this program reads version 2"),
        );
        assert_eq!(published.newest().position().applied, None);
    }

    #[test]
    fn every_revision_of_a_run_can_be_compared_though_only_the_last_is_published() {
        let published = Arc::new(Published::default());
        let mut machine = StateMachine::new(published.clone());
        for index in 1..=3 {
            let node = Command::PutNode(format!("node-{index}").into(), "zone-a".into());
            let batch = Batch::whole(log_id(index).term, vec![node]);
            machine.apply(log_id(index), &codec::encode_batch(&batch));
        }
        assert_eq!(published.newest().position().revision, Revision::ZERO);
        machine.publish();
        let recent = published.recent(Revision::ZERO);
        let revisions: Vec<u64> = recent.iter().map(|it| it.revision.as_u64()).collect();
        assert_eq!(revisions, [1, 2, 3]);
        assert_eq!(recent.last(), Some(published.newest().position()));
    }

    #[test]
    fn every_outcome_reads_back() {
        for outcome in [
            Outcome::Done,
            Outcome::Staged,
            Outcome::StaleTerm,
            Outcome::OutOfOrder,
        ] {
            assert_eq!(read_outcome(&[outcome_byte(outcome)]), Some(outcome));
        }
        assert_eq!(read_outcome(b"?"), None);
    }

    #[test]
    fn an_image_that_is_none_leaves_the_state_alone() {
        let mut machine = StateMachine::new(Arc::new(Published::default()));
        machine.skip(log_id(3));
        let error = machine.install(&mut &b"\x07"[..]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the image is not valid: version 7 of the image, this program reads version 2",
        );
        assert_eq!(machine.state.position().applied, Some(log_id(3)));
    }
}
