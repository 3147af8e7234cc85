//! The handle to one replica's consensus: propose, read, barrier, status.

use bytes::Bytes;
use lockstep_position::{HistoryId, LogId, ReplicaId, Term};
use lockstep_storage::{DataFolder, StorageError};
use openraft::async_runtime::WatchReceiver;
use openraft::errors::ClientWriteError;
use openraft::impls::ProgressResponder;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::error::{BarrierError, MembersError, ProposeError, ReadError, StartError};
use crate::library::{LeaderTerm, Payload, Raft, log_id_of};
use crate::notice::Notices;
use crate::peer::Peers;
use crate::read::Reads;
use crate::tasks::NodeTasks;
use crate::{
    Config, Machine, MembersChange, Outsider, PeerAddress, RaftStatus, Role, Voice, members_change,
    start,
};

/// Says where the machine is, in opaque bytes; called when a leader answers a read.
pub type Probe = Arc<dyn Fn() -> Vec<u8> + Send + Sync>;

/// A handle to one replica's consensus. Cheap to clone.
#[derive(Clone)]
pub struct Node(pub(crate) Arc<Inner>);

/// What all handles share.
pub(crate) struct Inner {
    pub(crate) raft: Raft,
    pub(crate) folder: Arc<DataFolder>,
    pub(crate) peers: Peers,
    pub(crate) reads: Reads,
    pub(crate) lease: Duration,
    pub(crate) role: watch::Receiver<Role>,
    pub(crate) applied: watch::Receiver<Option<LogId>>,
    pub(crate) configured: Vec<PeerAddress>,
    pub(crate) outsiders: watch::Receiver<Vec<Outsider>>,
    pub(crate) notices: Notices,
    pub(crate) stop: CancellationToken,
    pub(crate) stopped: watch::Receiver<bool>,
}

/// A proposal that was committed and applied here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The entry that carries it.
    pub log_id: LogId,
    /// What the machine returned for it.
    pub outcome: Vec<u8>,
}

/// A leader's confirmed answer to "what is committed now?".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadIndex {
    /// The leader that answered.
    pub leader: ReplicaId,
    /// Every entry that was committed before the question has at most this index.
    pub index: u64,
    /// The leader's probe bytes at the moment of answering.
    pub probe: Vec<u8>,
}

/// Proof that this replica holds everything that was committed at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BarrierPassed {
    /// The index that was waited for; it is applied.
    pub index: u64,
    /// Boot clock when the question was asked: the replica was fresh as of
    /// then. Unit: nanoseconds since boot, suspend included.
    pub asked_at_ns: u64,
    /// The leader's answer.
    pub read: ReadIndex,
}

impl Node {
    /// Opens the data folder, recovers (newest snapshot, then the log up to
    /// what was known to be committed), and starts the peer server and the
    /// consensus core. Bootstraps by itself when all configured peers answer
    /// and none has ever been a member.
    ///
    /// # Errors
    ///
    /// See [`StartError`].
    pub async fn start(
        config: Config,
        machine: impl Machine,
        voice: Voice,
    ) -> Result<(Self, NodeTasks), StartError> {
        start::start(config, Box::new(machine), voice).await
    }

    /// This replica's id.
    #[must_use]
    pub fn id(&self) -> ReplicaId {
        *self.0.raft.node_id()
    }

    /// Whether this replica knows of a group that it belongs to or follows.
    #[must_use]
    pub fn is_bootstrapped(&self) -> bool {
        let metrics = self.0.raft.server_metrics();
        let members = metrics.borrow_watched().membership_config.clone();
        members.nodes().next().is_some()
    }

    /// The history that this data folder belongs to, once known.
    #[must_use]
    pub fn history(&self) -> Option<HistoryId> {
        self.0.peers.address().history.get().copied()
    }

    /// Notes the history that this data folder belongs to, durably. Noting
    /// the same again does nothing. From then on peers of another history are
    /// refused.
    ///
    /// # Errors
    ///
    /// [`StorageError`] when the folder belongs to another history or cannot
    /// be written.
    pub async fn remember_history(&self, history: HistoryId) -> Result<(), StorageError> {
        if self.history() == Some(history) {
            return Ok(());
        }
        let folder = Arc::clone(&self.0.folder);
        let path = folder.path().to_owned();
        tokio::task::spawn_blocking(move || folder.remember_history(history))
            .await
            // The runtime is being shut down.
            .unwrap_or(Err(StorageError::Closed { path }))?;
        self.0.peers.address().history.get_or_init(|| history);
        Ok(())
    }

    /// Proposes one entry in a term that this replica leads; returns when it
    /// is committed and applied here.
    ///
    /// # Errors
    ///
    /// See [`ProposeError`]: they tell "not appended" from "unknown".
    ///
    /// # Cancellation
    ///
    /// Dropping the future does not take the entry back. Without a quorum it
    /// may wait for long: who cannot wait must stop waiting, and treat the
    /// outcome as unknown.
    pub async fn propose(&self, term: Term, payload: Bytes) -> Result<Committed, ProposeError> {
        let limit_bytes = self.0.peers.limits().entry_bytes_max;
        if payload.len() > limit_bytes {
            return Err(ProposeError::TooLarge {
                size_bytes: payload.len(),
                limit_bytes,
            });
        }
        let (responder, completed) = ProgressResponder::complete_only();
        self.0
            .raft
            .write(Payload(payload))
            .with_leader(LeaderTerm::new(term.as_u64()))
            .responder(responder)
            .await
            .map_err(|_| ProposeError::Stopped)?;
        match completed.await {
            Ok(Ok(written)) => Ok(Committed {
                log_id: log_id_of(&written.log_id),
                outcome: written.data,
            }),
            Ok(Err(ClientWriteError::ForwardToLeader(forward))) => Err(ProposeError::NotLeader {
                term,
                leader: forward.leader_id,
            }),
            Ok(Err(
                ClientWriteError::LogEntryDiscarded(_)
                | ClientWriteError::ChangeMembershipError(_)
                | ClientWriteError::PreconditionFailed(_),
            )) => Err(ProposeError::OutcomeUnknown),
            Err(_) => Err(ProposeError::Stopped),
        }
    }

    /// Watches the part that this replica plays.
    #[must_use]
    pub fn role(&self) -> watch::Receiver<Role> {
        self.0.role.clone()
    }

    /// Watches the last entry applied here; changes only after
    /// [`Machine::publish`].
    #[must_use]
    pub fn applied(&self) -> watch::Receiver<Option<LogId>> {
        self.0.applied.clone()
    }

    /// Where this replica is.
    #[must_use]
    pub fn status(&self) -> RaftStatus {
        crate::status::status_of(&self.0)
    }

    /// Asks the leader, which confirms with a quorum that it still leads,
    /// what is committed. Callers that arrive before the question is sent
    /// share it.
    ///
    /// # Errors
    ///
    /// See [`ReadError`]. Always answers within 500 ms.
    pub async fn read_index(&self) -> Result<ReadIndex, ReadError> {
        let answer = self.0.reads.ask(crate::read::READ_TIMEOUT).await?;
        Ok(answer.read)
    }

    /// Waits until everything that was committed before the call is applied here.
    ///
    /// # Errors
    ///
    /// See [`BarrierError`]; within `limit` in any case.
    pub async fn barrier(&self, limit: Duration) -> Result<BarrierPassed, BarrierError> {
        let started = Instant::now();
        let answer = self.0.reads.ask(limit).await?;
        let index = answer.read.index;
        let mut applied = self.applied();
        let left = limit.saturating_sub(started.elapsed());
        let reached =
            applied.wait_for(|applied| applied.is_some_and(|applied| applied.index >= index));
        match tokio::time::timeout(left, reached).await {
            Ok(Ok(_)) => Ok(BarrierPassed {
                index,
                asked_at_ns: answer.asked_at_ns,
                read: answer.read,
            }),
            Ok(Err(_)) => Err(BarrierError::Read(ReadError::Stopped)),
            Err(_) => Err(BarrierError::NotApplied { index, limit }),
        }
    }

    /// Changes the members of the group; only the leader can. Returns when the
    /// change is committed, with what is true then in one sentence.
    ///
    /// # Errors
    ///
    /// See [`MembersError`].
    pub async fn change_members(&self, change: &MembersChange) -> Result<String, MembersError> {
        members_change::change(&self.0.raft, &self.0.configured, change).await
    }

    /// Takes a snapshot now, whatever the compaction settings say; does
    /// nothing before the first entry or after a stop.
    pub async fn trigger_snapshot(&self) {
        // A stopped core has nothing to take one of.
        let _ = self.0.raft.trigger().snapshot().await;
    }

    /// Stops the node; the future resolves when its data folder is closed.
    pub fn shutdown(&self) -> impl Future<Output = ()> + Send + 'static {
        self.0.stop.cancel();
        let mut stopped = self.0.stopped.clone();
        async move {
            // An error means that the tasks are gone, with the runtime.
            let _ = stopped.wait_for(|stopped| *stopped).await;
        }
    }
}
