//! The loop of the leader.

use futures::future::{Either, select};
use lockstep_catalog::{Catalog, FactSession, FactSource, SourceEvent, Suspects};
use lockstep_model::{FactKey, FactKind, Settings};
use lockstep_position::{HistoryId, Term};
use lockstep_state::{Command, Outcome, Propose, ProposeError};
use std::{pin::pin, sync::Arc, time::Duration};
use tokio::{
    sync::watch,
    time::{Instant, Interval, MissedTickBehavior, interval_at, sleep},
};

use crate::{
    Metrics,
    audits::{Audits, Lists, Step},
    retry::Backoff,
};

/// How often a cursor that moved without a command is replicated. Far below
/// the five minutes for which an API server remembers its history.
const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(10);

/// How many repairs of one audit are named in the log.
const NAMED_MAX: usize = 20;

/// The term that this replica leads; `None` while it does not.
pub type Lead = Option<Term>;

/// Who wants to know that the source was just proved to deliver what it has of a kind.
pub type Alive = Arc<dyn Fn(FactKind) + Send + Sync>;

/// The ingest of one replica.
pub struct Ingest<S, P> {
    /// Where facts come from.
    pub source: Arc<S>,
    /// The way into the log.
    pub proposer: P,
    /// The settings that this replica proposes when it leads.
    pub settings: Arc<Settings>,
    /// The history that begins if none has begun yet.
    pub history: HistoryId,
    /// Told of each proof, before what it proves is proposed.
    pub alive: Alive,
    /// Time between two audits, about.
    pub audit_interval: Duration,
    /// What is counted.
    pub metrics: Metrics,
}

// === impl Ingest ===

impl<S: FactSource, P: Propose> Ingest<S, P> {
    /// Follows the source whenever this replica leads; ends when the replica ends.
    ///
    /// Losing the lead drops the session at once, also in the middle of a
    /// proposal: nothing more is asked of the source, and a batch that is still
    /// under way is refused by its term.
    pub async fn run(self, mut lead: watch::Receiver<Lead>) {
        loop {
            let leading = *lead.borrow_and_update();
            let changed = pin!(lead.changed());
            let over = match leading {
                None => changed.await.is_err(),
                Some(term) => match select(changed, pin!(self.lead(term))).await {
                    Either::Left((changed, _)) => changed.is_err(),
                    Either::Right(((), changed)) => changed.await.is_err(),
                },
            };
            if over {
                return;
            }
        }
    }

    /// Follows the source in one term, session after session, until it is
    /// dropped because the term is over, or the replica stops.
    async fn lead(&self, term: Term) {
        let mut backoff = Backoff::default();
        loop {
            let error = self.session(term, &mut backoff).await;
            if error == ProposeError::Stopped {
                return;
            }
            // A leader that lost its quorum is refused as well, and may get the
            // quorum back in the same term. When it does not, `run` drops this.
            self.metrics.failed();
            let wait = backoff.failed();
            tracing::warn!(%term, %error, ?wait, "ingest session ended, starting another");
            sleep(wait).await;
        }
    }

    /// One session: from the committed state on, until a proposal fails.
    async fn session(&self, term: Term, backoff: &mut Backoff) -> ProposeError {
        let state = match self.proposer.settle(term).await {
            Ok(state) => state,
            Err(error) => return error,
        };
        let mut catalog = Catalog::resume(&state, self.settings.clone(), self.history);
        let mut session = self.source.follow(catalog.cursors());
        let _following = self.metrics.follow();
        tracing::info!(%term, revision = %state.position().revision, "following the source");
        let mut checkpoints = checkpoints();
        let mut audits = Audits::new(&*self.source, self.audit_interval);
        // What this leader wants otherwise than the one before, its settings
        // for one, does not wait for a source that may be silent for long.
        let mut commands = catalog.reconcile(&state);
        // Kept for the session, it would hold in memory all that is replaced since.
        drop(state);
        loop {
            if !commands.is_empty() {
                match self.propose(term, commands).await {
                    Ok(()) => backoff.worked(),
                    Err(error) => return error,
                }
            }
            commands = tokio::select! {
                events = session.next() => self.learn(&mut catalog, &mut audits, events),
                _ = checkpoints.tick() => catalog.checkpoint(&self.proposer.applied()),
                step = audits.next() => self.audit(&mut catalog, &mut audits, step),
            };
        }
    }

    /// Takes in what the source told, and says what to propose; nothing if nothing changed.
    fn learn(
        &self,
        catalog: &mut Catalog,
        audits: &mut Audits<'_, S>,
        events: Vec<SourceEvent>,
    ) -> Vec<Command> {
        self.metrics.told(events.len());
        for event in events {
            if let Some(kind) = event.proves() {
                (self.alive)(kind);
            }
            audits.observe(&event);
            catalog.observe(event);
        }
        catalog.reconcile(&self.proposer.applied())
    }

    /// Goes on with an audit, and says what to propose.
    fn audit(&self, catalog: &mut Catalog, audits: &mut Audits<'_, S>, step: Step) -> Vec<Command> {
        match step {
            // What is not known completely is about to be listed anyway.
            Step::Due if catalog.is_complete() => audits.list(),
            Step::Due => {}
            Step::Listed(lists, suspects) => self.suspect(catalog, audits, lists, suspects),
            Step::Settled(suspects) => {
                self.metrics.audited();
                self.name(&catalog.repair(suspects));
                return catalog.reconcile(&self.proposer.applied());
            }
        }
        Vec::new()
    }

    fn suspect(
        &self,
        catalog: &Catalog,
        audits: &mut Audits<'_, S>,
        lists: Lists,
        mut suspects: Suspects,
    ) {
        match lists {
            Ok(lists) => {
                catalog.suspect(&mut suspects, lists);
                audits.watch(suspects);
            }
            Err(error) => {
                self.metrics.audit_failed();
                tracing::warn!(%error, "the audit of the source failed");
            }
        }
    }

    fn name(&self, repaired: &[FactKey]) {
        for key in repaired {
            self.metrics.repaired(key.kind);
        }
        for key in repaired.iter().take(NAMED_MAX) {
            tracing::error!(object = %key, "the source's watch lost a change: repaired from a list");
        }
        tracing::info!(repairs = repaired.len(), "the source was audited");
    }

    async fn propose(&self, term: Term, commands: Vec<Command>) -> Result<(), ProposeError> {
        let count = commands.len();
        let started = Instant::now();
        let (log_id, outcome) = self.proposer.propose(term, commands).await?;
        match outcome {
            Outcome::Done | Outcome::Staged => {
                self.metrics.applied(count, started.elapsed());
                tracing::debug!(%log_id, commands = count, "batch applied");
                Ok(())
            }
            Outcome::StaleTerm => Err(ProposeError::NotLeader { term, leader: None }),
            Outcome::OutOfOrder => Err(ProposeError::OutcomeUnknown {
                reason: format!("{log_id} did not follow the part before it"),
            }),
        }
    }
}

fn checkpoints() -> Interval {
    let mut ticks = interval_at(Instant::now() + CHECKPOINT_INTERVAL, CHECKPOINT_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
