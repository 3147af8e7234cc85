//! Starts one replica and holds it together.

use lockstep_model::FactKind;
use lockstep_position::{Position, ReplicaId, Revision};
use lockstep_raft::{Config, Fatal, Node, NodeTasks, RaftStatus, Role, StartError, Voice};
use std::{collections::BTreeMap, convert::Infallible, future::Future, sync::Arc, time::Duration};
use tokio::sync::watch;

use crate::{
    Freshness, FreshnessState, Proposer, ReplicaView, StalenessPolicy,
    fresher::{self, seek},
    hearing::compare,
    label::LeaderStanding,
    machine::StateMachine,
    prober::probe,
    probes::{Probes, boot_now},
    published::Published,
    quarantine::Quarantine,
    source_proofs::SourceProofs,
    source_reach::SourceReach,
};

/// How a replica starts: what its Raft node needs.
pub type ReplicaConfig = Config;

/// A handle to one running replica. Cheap to clone.
#[derive(Clone)]
pub struct Replica {
    node: Node,
    published: Arc<Published>,
    probes: Arc<Probes>,
    proofs: SourceProofs,
    pub(crate) reach: SourceReach,
    entry_bytes_max: usize,
    name: Arc<str>,
}

/// What keeps a replica going; resolves when it has ended.
pub struct ReplicaTasks {
    node: Node,
    node_tasks: NodeTasks,
    published: Arc<Published>,
    probes: Arc<Probes>,
    proofs: SourceProofs,
}

/// Why a replica ended by itself.
#[derive(Debug, thiserror::Error)]
pub enum ReplicaEnd {
    /// Raft or the disk failed.
    #[error(transparent)]
    Raft(#[from] Fatal),
    /// It holds something else than the group, or cannot read the group's log.
    #[error("{0}")]
    Broken(String),
    /// Its data folder belongs to another history than the group.
    #[error("the history of the group could not be noted")]
    History(#[from] lockstep_raft::StorageError),
}

impl Replica {
    /// Starts a replica: recovers what its disk holds, then joins its group.
    ///
    /// # Errors
    ///
    /// [`StartError`] when the configuration, the data folder or the address
    /// cannot be used.
    pub async fn start(
        config: ReplicaConfig,
        policy: StalenessPolicy,
    ) -> Result<(Self, ReplicaTasks), StartError> {
        let entry_bytes_max = config.limits.entry_bytes_max;
        let name = config.name.as_str().into();
        let published = Arc::new(Published::default());
        let machine = StateMachine::new(published.clone());
        let probes = Arc::new(Probes::new(policy));
        let proofs = SourceProofs::default();
        let reach = SourceReach::default();
        let voice = voice(&published, &probes, &proofs, &reach);
        let (node, node_tasks) = Node::start(config, machine, voice).await?;
        if node.has_evidence() {
            published.suspect();
        }
        let tasks = ReplicaTasks {
            node: node.clone(),
            node_tasks,
            published: published.clone(),
            probes: probes.clone(),
            proofs: proofs.clone(),
        };
        Ok((
            Self {
                node,
                published,
                probes,
                proofs,
                reach,
                entry_bytes_max,
                name,
            },
            tasks,
        ))
    }

    /// This replica's id.
    #[must_use]
    pub fn id(&self) -> ReplicaId {
        self.node.id()
    }

    /// The way for the leader to change the state.
    #[must_use]
    pub fn proposer(&self) -> Proposer {
        Proposer::new(
            self.node.clone(),
            self.published.clone(),
            self.entry_bytes_max,
        )
    }

    /// What answers are made from.
    #[must_use]
    pub fn view(&self) -> ReplicaView {
        ReplicaView::new(
            self.node.clone(),
            self.published.clone(),
            self.probes.clone(),
            self.name.clone(),
        )
    }

    /// The newest applied state and its history of positions.
    #[must_use]
    pub fn published(&self) -> &Arc<Published> {
        &self.published
    }

    /// Follows the part that this replica plays.
    #[must_use]
    pub fn role(&self) -> watch::Receiver<Role> {
        self.node.role()
    }

    /// Where this replica's Raft node is.
    #[must_use]
    pub fn raft(&self) -> RaftStatus {
        self.node.status()
    }

    /// Where this replica's state is.
    #[must_use]
    pub fn position(&self) -> Position {
        *self.published.newest().position()
    }

    /// How old what this replica serves may be, at this moment.
    #[must_use]
    pub fn freshness(&self) -> Freshness {
        self.probes.freshness(&self.published)
    }

    /// How often each state of freshness was entered.
    #[must_use]
    pub fn freshness_entries(&self) -> [(FreshnessState, u64); FreshnessState::ALL.len()] {
        self.probes.entries()
    }

    /// Where proofs are noted that the source delivers, while this replica
    /// leads. From the first call on, the lack of proofs counts against the
    /// source; before that its age is not known.
    #[must_use]
    pub fn source_proofs(&self) -> SourceProofs {
        self.proofs.expect();
        self.proofs.clone()
    }

    /// Time since the source last proved that it delivers, for each kind and at
    /// most; empty while no leader says.
    #[must_use]
    pub fn source_ages(&self) -> BTreeMap<FactKind, Duration> {
        self.probes.source_ages(boot_now())
    }

    /// What it does about staleness; see [`conduct`](crate::conduct).
    #[must_use]
    pub fn policy(&self) -> StalenessPolicy {
        self.probes.policy()
    }

    /// The node below, for hand-over of leadership and snapshots.
    #[must_use]
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Stops the replica; returns when its data folder is closed.
    pub fn shutdown(&self) -> impl Future<Output = ()> + Send + 'static {
        self.node.shutdown()
    }
}

impl ReplicaTasks {
    /// Runs the replica: `Ok` after [`Replica::shutdown`].
    ///
    /// # Errors
    ///
    /// [`ReplicaEnd`] when it ended by itself: the process should say so and end.
    pub async fn finished(self) -> Result<(), ReplicaEnd> {
        let Self {
            node,
            node_tasks,
            published,
            probes,
            proofs,
        } = self;
        let role = node.role();
        let found = tokio::select! {
            ended = node_tasks.finished() => return Ok(ended?),
            found = probe(node.clone(), published.clone(), probes.clone()) => found,
            found = compare(node.clone(), published.clone()) => found,
            why = published.wait_broken() => Quarantine::unreadable(why),
            never = seek(node.clone(), published.clone(), probes.clone()) => match never {},
            never = follow_lead(role, proofs) => match never {},
            error = keep_history(node.clone(), published.clone()) => return Err(error.into()),
        };
        Err(found.carry_out(&node, &published, &probes).await)
    }
}

/// What this replica says to others.
fn voice(
    published: &Arc<Published>,
    probes: &Arc<Probes>,
    proofs: &SourceProofs,
    reach: &SourceReach,
) -> Voice {
    let (read, judged) = (Arc::clone(published), Arc::clone(published));
    let (probes, proofs, reach) = (Arc::clone(probes), proofs.clone(), reach.clone());
    let standing = move || LeaderStanding {
        position: *read.newest().position(),
        source: proofs.ages(),
    };
    Voice {
        probe: Arc::new(move || standing().to_bytes()),
        standing: Arc::new(move |question| {
            let reached_for = reach.reached_for();
            fresher::answer(question, &probes.freshness(&judged), &judged, reached_for)
        }),
    }
}

/// Begins to expect proofs of the source with each lead, and forgets them with its end.
async fn follow_lead(mut role: watch::Receiver<Role>, proofs: SourceProofs) -> Infallible {
    let mut led = None;
    loop {
        let leads = role.borrow_and_update().leading();
        match leads {
            Some(_) if led == leads => {}
            Some(_) => proofs.begin(),
            None => proofs.forget(),
        }
        led = leads;
        if role.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Notes the history in the data folder once the log has told it; ends only by failing.
async fn keep_history(node: Node, published: Arc<Published>) -> lockstep_raft::StorageError {
    let mut position = published.position();
    loop {
        let history = position.borrow_and_update().history;
        if history != lockstep_position::HistoryId::NONE
            && node.history() != Some(history)
            && let Err(error) = node.remember_history(history).await
        {
            return error;
        }
        // The sender lives in `published`, which this task holds.
        if position.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl std::fmt::Debug for Replica {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let revision: Revision = self.position().revision;
        write!(f, "replica {} at {revision}", self.name)
    }
}
