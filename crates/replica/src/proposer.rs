//! Commands into log entries.

use bytes::Bytes;
use lockstep_position::{LogId, Term};
use lockstep_raft::{BarrierError, Node, ReadError};
use lockstep_state::{Batch, Command, Outcome, Part, Propose, ProposeError, State, codec};
use std::{sync::Arc, time::Duration};
use tokio::time::timeout;

use crate::{machine::read_outcome, prober::reason, published::Published};

/// Room in an entry for what surrounds the commands: version, term, part, length.
const BATCH_OVERHEAD_BYTES: usize = 64;

/// How long a new leader waits for its own first entry before it asks again.
const SETTLE_LIMIT: Duration = Duration::from_secs(5);

/// How long an entry may take to commit and apply before the proposer stops
/// waiting. Far above a busy disk, far below a person's patience.
const PROPOSE_LIMIT: Duration = Duration::from_secs(10);

/// Appends batches through this replica's node.
#[derive(Clone)]
pub struct Proposer {
    node: Node,
    published: Arc<Published>,
    entry_bytes_max: usize,
}

impl Proposer {
    pub(crate) fn new(node: Node, published: Arc<Published>, entry_bytes_max: usize) -> Self {
        Self {
            node,
            published,
            entry_bytes_max,
        }
    }

    async fn append(&self, batch: Batch) -> Result<(LogId, Outcome), ProposeError> {
        let term = batch.term;
        let payload = Bytes::from(codec::encode_batch(&batch));
        let proposal = timeout(PROPOSE_LIMIT, self.node.propose(term, payload)).await;
        let committed = proposal
            .map_err(|_| out_of_time())?
            .map_err(propose_error)?;
        match read_outcome(&committed.outcome) {
            Some(outcome) => Ok((committed.log_id, outcome)),
            None => Err(ProposeError::Stopped),
        }
    }
}

// === impl Propose for Proposer ===

impl Propose for Proposer {
    async fn propose(
        &self,
        term: Term,
        commands: Vec<Command>,
    ) -> Result<(LogId, Outcome), ProposeError> {
        let limit_bytes = self.entry_bytes_max.saturating_sub(BATCH_OVERHEAD_BYTES);
        let mut last = Err(ProposeError::Stopped);
        for batch in in_parts(term, commands, limit_bytes)? {
            last = self.append(batch).await;
            // A part that was refused makes the parts after it worthless.
            if !matches!(last, Ok((_, Outcome::Staged | Outcome::Done))) {
                break;
            }
        }
        last
    }

    async fn settle(&self, term: Term) -> Result<Arc<State>, ProposeError> {
        // Asked first, so that a leader without a quorum appends nothing again and again.
        if let Err(error) = self.node.barrier(SETTLE_LIMIT).await {
            return Err(barrier_error(term, error));
        }
        // What is committed is not all: a batch that this leader gave up waiting
        // for may still be on its way. It comes before this entry, which holds nothing.
        match self.append(Batch::whole(term, Vec::new())).await? {
            (_, Outcome::Done | Outcome::Staged) => Ok(self.published.newest()),
            (_, Outcome::StaleTerm | Outcome::OutOfOrder) => {
                Err(ProposeError::NotLeader { term, leader: None })
            }
        }
    }

    fn applied(&self) -> Arc<State> {
        self.published.newest()
    }
}

fn out_of_time() -> ProposeError {
    ProposeError::OutcomeUnknown {
        reason: format!("not committed within {PROPOSE_LIMIT:?}"),
    }
}

fn barrier_error(term: Term, error: BarrierError) -> ProposeError {
    match error {
        BarrierError::Read(ReadError::Stopped) => ProposeError::Stopped,
        BarrierError::Read(ReadError::NoLeader) => ProposeError::NotLeader { term, leader: None },
        error @ (BarrierError::Read(_) | BarrierError::NotApplied { .. }) => {
            ProposeError::OutcomeUnknown {
                reason: reason(error),
            }
        }
    }
}

fn propose_error(error: lockstep_raft::ProposeError) -> ProposeError {
    use lockstep_raft::ProposeError as Raft;
    match error {
        Raft::NotLeader { term, leader } => ProposeError::NotLeader { term, leader },
        Raft::TooLarge {
            size_bytes,
            limit_bytes,
        } => ProposeError::TooLarge {
            size_bytes,
            limit_bytes,
        },
        Raft::OutcomeUnknown => ProposeError::OutcomeUnknown {
            reason: error.to_string(),
        },
        Raft::Stopped => ProposeError::Stopped,
    }
}

/// Splits a change into batches that each fit into an entry.
fn in_parts(
    term: Term,
    commands: Vec<Command>,
    limit_bytes: usize,
) -> Result<Vec<Batch>, ProposeError> {
    let mut parts: Vec<Vec<Command>> = vec![Vec::new()];
    let mut filled = 0;
    for command in commands {
        let size_bytes = codec::size(&command);
        if size_bytes > limit_bytes {
            return Err(ProposeError::TooLarge {
                size_bytes,
                limit_bytes,
            });
        }
        if filled + size_bytes > limit_bytes {
            parts.push(Vec::new());
            filled = 0;
        }
        filled += size_bytes;
        if let Some(part) = parts.last_mut() {
            part.push(command);
        }
    }
    let of = u32::try_from(parts.len()).unwrap_or(u32::MAX);
    let numbered = (0..of).zip(parts);
    Ok(numbered
        .map(|(number, commands)| Batch {
            term,
            part: Part { number, of },
            commands,
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERM: Term = Term::from_u64(1);

    fn node(name: &str) -> Command {
        Command::PutNode(name.into(), "zone-a".into())
    }

    #[test]
    fn a_small_change_is_one_batch() {
        let commands = vec![node("a"), node("b")];
        assert_eq!(
            in_parts(TERM, commands.clone(), 1000),
            Ok(vec![Batch::whole(TERM, commands)])
        );
    }

    #[test]
    fn a_large_change_travels_in_parts_that_keep_the_order() {
        let commands: Vec<_> = (0..10)
            .map(|number| node(&format!("node-{number}")))
            .collect();
        let parts = in_parts(TERM, commands.clone(), 3 * codec::size(&commands[0])).unwrap();
        let numbers: Vec<_> = parts
            .iter()
            .map(|batch| (batch.part.number, batch.part.of))
            .collect();
        assert_eq!(numbers, [(0, 4), (1, 4), (2, 4), (3, 4)]);
        let joined: Vec<_> = parts.into_iter().flat_map(|batch| batch.commands).collect();
        assert_eq!(joined, commands);
    }

    #[test]
    fn a_command_over_the_limit_is_refused_with_its_size() {
        let error = in_parts(TERM, vec![node("a")], 4).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a command of 10 bytes exceeds the entry limit of 4 bytes",
        );
    }
}
