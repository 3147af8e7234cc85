//! Reads: what is committed now, asked of the leader.
//!
//! All callers that arrive before a question is sent share it, so that a
//! storm of them costs a handful of questions.

use lockstep_position::ReplicaId;
use lockstep_proto::peer::v1 as wire;
use openraft::ReadPolicy;
use openraft::async_runtime::WatchReceiver;
use openraft::errors::{LinearizableReadError, RaftError};
use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tonic::Code;

use crate::library::{Library, Raft};
use crate::peer::{Lane, Peers};
use crate::{Probe, ReadError, ReadIndex};

/// How long any question may take; a leader that was cut off may never answer.
pub(crate) const READ_TIMEOUT: Duration = Duration::from_millis(500);

/// A leader's answer, and when it was asked.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) read: ReadIndex,
    pub(crate) asked_at_ns: u64,
}

type Reply = oneshot::Sender<Result<Answer, ReadError>>;

/// Where callers queue up. A cheap handle.
#[derive(Clone)]
pub(crate) struct Reads(mpsc::UnboundedSender<Reply>);

/// Asks for those who queue up.
pub(crate) struct Asker {
    replies: mpsc::UnboundedReceiver<Reply>,
    raft: Raft,
    peers: Peers,
    probe: Probe,
}

impl Reads {
    /// A queue, and the one who works it off.
    pub(crate) fn new(raft: Raft, peers: Peers, probe: Probe) -> (Self, Asker) {
        let (sender, replies) = mpsc::unbounded_channel();
        let asker = Asker {
            replies,
            raft,
            peers,
            probe,
        };
        (Self(sender), asker)
    }

    /// Asks the leader what is committed, together with whoever else wants to know.
    pub(crate) async fn ask(&self, limit: Duration) -> Result<Answer, ReadError> {
        let limit = limit.min(READ_TIMEOUT);
        let (sender, receiver) = oneshot::channel();
        self.0.send(sender).map_err(|_| ReadError::Stopped)?;
        match tokio::time::timeout(limit, receiver).await {
            Ok(answer) => answer.unwrap_or(Err(ReadError::Stopped)),
            Err(_) => Err(ReadError::Timeout { limit }),
        }
    }
}

impl Asker {
    /// Works the queue off until nobody can queue up any more.
    pub(crate) async fn run(mut self) {
        while let Some(first) = self.replies.recv().await {
            let mut waiting = vec![first];
            while let Ok(next) = self.replies.try_recv() {
                waiting.push(next);
            }
            let answer = self.ask().await;
            for reply in waiting {
                // A caller may have given up.
                let _ = reply.send(answer.clone());
            }
        }
    }

    async fn ask(&self) -> Result<Answer, ReadError> {
        let metrics = self.raft.server_metrics();
        let (leader, member) = {
            let now = metrics.borrow_watched();
            let leader = now.current_leader.ok_or(ReadError::NoLeader)?;
            let member = now.membership_config.get_node(&leader).cloned();
            (leader, member.ok_or(ReadError::NoLeader)?)
        };
        let asked_at_ns = boot_clock_ns();
        let question = async {
            if leader == self.peers.address().id {
                let index = local_index(&self.raft).await?;
                let probe = (self.probe)();
                return Ok((index, probe));
            }
            let address = self.peers.address_of(&member);
            self.ask_peer(leader, address).await
        };
        let limit = READ_TIMEOUT;
        let (index, probe) = tokio::select! {
            answer = question => answer?,
            () = tokio::time::sleep(limit) => return Err(ReadError::Timeout { limit }),
            // Whoever waits behind a question to a dead leader should not wait longer than needed.
            () = self.leader_is_not(leader) => return Err(ReadError::NoLeader),
        };
        let read = ReadIndex {
            leader,
            index,
            probe,
        };
        Ok(Answer { read, asked_at_ns })
    }

    async fn ask_peer(
        &self,
        leader: ReplicaId,
        address: &str,
    ) -> Result<(u64, Vec<u8>), ReadError> {
        let refused = |what: String| ReadError::Refused { what };
        let mut client = self
            .peers
            .client(address, Lane::Quick)
            .ok_or_else(|| refused(format!("`{address}` is not a `host:port`")))?;
        let request = wire::ReadIndexRequest {
            route: Some(self.peers.route_to(Some(leader))),
        };
        match client.read_index(request).await {
            Ok(answer) => {
                let answer = answer.into_inner();
                Ok((answer.index, answer.probe.into()))
            }
            Err(status) if status.code() == Code::DeadlineExceeded => Err(ReadError::Timeout {
                limit: READ_TIMEOUT,
            }),
            Err(status) => Err(refused(format!("{address}: {}", status.message()))),
        }
    }

    async fn leader_is_not(&self, leader: ReplicaId) {
        let mut metrics = self.raft.server_metrics();
        while metrics.borrow_watched().current_leader == Some(leader) {
            if metrics.changed().await.is_err() {
                return;
            }
        }
    }
}

/// What is committed now, if this replica leads and a quorum confirms it.
pub(crate) async fn local_index(raft: &Raft) -> Result<u64, ReadError> {
    let linearizer = raft.get_read_linearizer(ReadPolicy::ReadIndex);
    match tokio::time::timeout(READ_TIMEOUT, linearizer).await {
        Ok(Ok(linearizer)) => Ok(linearizer.read_log_id().index()),
        Ok(Err(error)) => Err(refusal(error)),
        Err(_) => Err(ReadError::Timeout {
            limit: READ_TIMEOUT,
        }),
    }
}

fn refusal(error: RaftError<Library, LinearizableReadError<Library>>) -> ReadError {
    match error {
        RaftError::APIError(LinearizableReadError::ForwardToLeader(_)) => ReadError::Refused {
            what: "it does not lead any more".to_owned(),
        },
        RaftError::APIError(LinearizableReadError::QuorumNotEnough(_)) => ReadError::Refused {
            what: "it cannot reach a quorum".to_owned(),
        },
        RaftError::Fatal(_) => ReadError::Stopped,
    }
}

/// Nanoseconds since boot; counts time in suspend, unlike the monotonic clock.
fn boot_clock_ns() -> u64 {
    let now = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or(0);
    let nanos = u64::try_from(now.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(nanos)
}
