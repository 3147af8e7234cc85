//! One running replica, and how it leaves: in order, step by step, within a limit.
//!
//! ```text
//! not ready ─▶ the lead to another voter ─▶ streams and requests end ─▶ consensus closes
//! ```

use anyhow::anyhow;
use lockstep_replica::Replica;
use std::{fmt, future::Future, time::Duration};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::{config::Endpoints, leadership::Leadership, own_threads::Threads, tasks::Tasks};

/// How long leaving may take in all: well within the 30 s that Kubernetes gives a pod.
const STOP_LIMIT: Duration = Duration::from_secs(12);

/// One running replica.
pub struct Running {
    pub(crate) replica: Replica,
    pub(crate) endpoints: Endpoints,
    pub(crate) leadership: Leadership,
    pub(crate) signals: Signals,
    /// What serves proxies and operators and follows the source.
    pub(crate) serving: Tasks,
    /// What they all stand on.
    pub(crate) consensus: Tasks,
    // Dropped last: tasks above run on them.
    pub(crate) _threads: Threads,
}

/// What the parts of a replica hear of its end.
#[derive(Clone, Default)]
pub(crate) struct Signals {
    /// It takes no new clients.
    pub(crate) leaving: CancellationToken,
    /// It ends what is open.
    pub(crate) stop: CancellationToken,
}

/// What the other replicas of the group do when one stops.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Others {
    /// They go on, and one of them is to lead.
    GoOn,
    /// They stop as well: there is nobody to hand the lead to.
    StopToo,
}

/// Where a replica is on its way out.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Step {
    HandOver,
    Serving,
    Consensus,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HandOver => "handing the lead over",
            Self::Serving => "ending streams and requests",
            Self::Consensus => "closing consensus and the data folder",
        })
    }
}

// === impl Running ===

impl Running {
    /// The replica.
    #[must_use]
    pub fn replica(&self) -> &Replica {
        &self.replica
    }

    /// Where it listens.
    #[must_use]
    pub fn endpoints(&self) -> Endpoints {
        self.endpoints
    }

    /// Runs until `stop` resolves, or until a part of the replica ends.
    ///
    /// # Errors
    ///
    /// What ended by itself, and why.
    pub async fn run_until(
        mut self,
        stop: impl Future<Output = ()>,
        others: Others,
    ) -> anyhow::Result<()> {
        let ended = tokio::select! {
            () = stop => None,
            end = self.serving.first_end() => Some(end),
            end = self.consensus.first_end() => Some(end),
        };
        verdict(ended, self.stop(others).await)
    }

    /// Hands the lead over if it has it, ends open streams with OK, then everything
    /// else, and closes the data folder. Gives up after 12 s.
    ///
    /// # Errors
    ///
    /// The first part that failed on its way out, or the step that took too long.
    pub async fn stop(mut self, others: Others) -> anyhow::Result<()> {
        let started = Instant::now();
        let mut step = Step::HandOver;
        let stopped = timeout(STOP_LIMIT, self.leave(others, &mut step)).await;
        match stopped {
            Ok(result) => {
                tracing::info!(took = ?started.elapsed(), "stopped");
                result
            }
            Err(_) => Err(anyhow!("gave up after {STOP_LIMIT:?} of stopping: {step}")),
        }
    }

    async fn leave(&mut self, others: Others, step: &mut Step) -> anyhow::Result<()> {
        tracing::info!("stopping: not ready any more");
        self.signals.leaving.cancel();
        if others == Others::GoOn {
            self.leadership.give_up().await;
        }
        *step = Step::Serving;
        self.signals.stop.cancel();
        let served = self.serving.all_ended().await;
        tracing::info!("streams and requests have ended");
        *step = Step::Consensus;
        self.replica.shutdown().await;
        let closed = self.consensus.all_ended().await;
        served.and(closed)
    }
}

/// What to say of a run: the first failure. A part that only ended may have
/// ended because of another one that failed, and be seen before it.
fn verdict(
    first: Option<(&'static str, anyhow::Result<()>)>,
    rest: anyhow::Result<()>,
) -> anyhow::Result<()> {
    match first {
        None => rest,
        Some((name, Ok(()))) => {
            rest.and_then(|()| Err(anyhow!("{name} ended although nobody stopped it")))
        }
        Some((name, Err(error))) => Err(error.context(format!("{name} failed"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(first: Option<(&'static str, anyhow::Result<()>)>, rest: anyhow::Result<()>) -> String {
        verdict(first, rest).map_or_else(|error| format!("{error:#}"), |()| String::new())
    }

    #[test]
    fn a_run_ends_with_the_failure_that_ended_it() {
        let failed = || Err(anyhow::anyhow!("the disk is full"));
        assert_eq!(said(None, Ok(())), "");
        assert_eq!(said(None, failed()), "the disk is full");
        assert_eq!(
            said(Some(("the replica", failed())), Ok(())),
            "the replica failed: the disk is full"
        );
        assert_eq!(
            said(Some(("the ingest", Ok(()))), Ok(())),
            "the ingest ended although nobody stopped it"
        );
        assert_eq!(
            said(Some(("the ingest", Ok(()))), failed()),
            "the disk is full"
        );
    }
}
