//! Keeps the lead with a replica that reaches the source.
//!
//! ```text
//!  every replica:  ask the source ─▶ tell the others for how long it has answered
//!  the leader:     without its source for a while ─▶ ask the others ─▶ hand over to one that has it
//! ```
//!
//! When it is time, and who it is, decides [`HandOver`].

use lockstep_ingest::{HandOver, Metrics, Reach, Report};
use lockstep_replica::Replica;
use std::{convert::Infallible, future::pending};
use tokio::{
    sync::watch,
    time::{Instant, MissedTickBehavior, interval},
};

use crate::{leadership::Leadership, operator::leader_of};

/// One replica's part in it.
pub(crate) struct SourceLead {
    pub(crate) replica: Replica,
    pub(crate) leadership: Leadership,
    pub(crate) reach: watch::Receiver<Reach>,
    pub(crate) machine: HandOver,
    pub(crate) metrics: Metrics,
}

// === impl SourceLead ===

impl SourceLead {
    /// Never ends.
    pub(crate) async fn run(mut self) -> Infallible {
        let mut role = self.replica.role();
        let mut led_by = None;
        let mut looks = interval(self.machine.question_interval());
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            role.mark_unchanged();
            let leader = leader_of(&self.replica.raft());
            if leader.is_some() && leader != led_by {
                led_by = leader;
                self.machine.moved(Instant::now());
            }
            self.say();
            let over = tokio::select! {
                changed = role.changed() => changed.is_err(),
                changed = self.reach.changed() => changed.is_err(),
                _ = looks.tick() => {
                    self.look().await;
                    false
                }
            };
            if over {
                return pending().await;
            }
        }
    }

    /// What the others hear when they ask.
    fn say(&mut self) {
        let reached_for = self.reach.borrow_and_update().reached_for(Instant::now());
        self.metrics.reached(reached_for.is_some());
        self.replica.note_source_reach(reached_for);
    }

    /// Hands the lead over if that is due, and if somebody else is better off.
    async fn look(&mut self) {
        let trouble = self.reach.borrow().missed_for(Instant::now());
        let raft = self.replica.raft();
        if raft.role.leading().is_none() || !self.machine.is_due(Instant::now(), trouble) {
            return;
        }
        // Without any that answers the lead is lost in another way.
        let Ok(order) = raft.successors() else { return };
        let reports = self.replica.ask_source_reach().await.into_iter();
        let reports: Vec<Report> = reports
            .map(|(voter, reached_for)| Report { voter, reached_for })
            .collect();
        let Some(to) = self.machine.choose(&order, &reports) else {
            tracing::debug!("nobody has the source, the lead stays");
            return;
        };
        tracing::warn!(
            to = raft.name_of(to),
            "hands over to a replica that reaches the source"
        );
        match self.leadership.hand_over(&[to]).await {
            Ok(handed) => {
                self.metrics.handed_over();
                tracing::info!(to = raft.name_of(handed.leader), term = %handed.term, "the lead was handed over");
            }
            Err(why) => tracing::warn!(%why, "the lead was not handed over"),
        }
    }
}
