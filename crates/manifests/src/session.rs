//! One run of following a folder.

use lockstep_catalog::{FactSession, FactSource, SourceEvent};
use lockstep_model::{Fact, FactKey, FactKind};
use std::{collections::BTreeMap, time::Duration};
use tokio::time::{Instant, timeout_at};

use crate::{
    ManifestSource, Problem,
    difference::{changes, lists},
    stir::Stir,
};

/// How long a folder must be left alone before it is read: an editor that saves in
/// several steps is not caught between two of them.
const SETTLED_AFTER: Duration = Duration::from_millis(20);
/// How long it may be touched without end before it is read all the same.
const SETTLED_MAX: Duration = Duration::from_millis(500);

/// How often we look whether the folder was replaced, or without watches whether it changed.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// How often a folder that is left alone, and is there, says so.
const ALIVE_INTERVAL: Duration = Duration::from_secs(5);

const _: () = assert!(SETTLED_AFTER.as_millis() < SETTLED_MAX.as_millis());

/// One run of following a folder; dropping it ends it.
#[derive(Debug)]
pub struct ManifestSession {
    source: ManifestSource,
    /// `None` if the system gives no watches: then edits are seen at the next look.
    stir: Option<Stir>,
    phase: Phase,
    look_at: Instant,
    alive_at: Instant,
    /// What was told.
    told: BTreeMap<FactKey, Fact>,
    /// What was logged.
    problems: Vec<Problem>,
}

#[derive(Debug)]
enum Phase {
    Begun,
    Settled,
    /// Touched: to be read when it has been left alone, or at the latest.
    Touched {
        quiet: Instant,
        latest: Instant,
    },
}

impl Phase {
    fn touched(latest: Instant) -> Self {
        let quiet = Instant::now() + SETTLED_AFTER;
        Self::Touched { quiet, latest }
    }
}

impl ManifestSession {
    /// Watches before anything is read, so that no edit falls between the two.
    pub(crate) fn new(source: ManifestSource) -> Self {
        let stir = watch(&source);
        if stir.is_none() {
            let (folder, interval) = (source.describe(), LOOK_INTERVAL);
            tracing::warn!(folder, ?interval, "edits of manifests are noticed late");
        }
        Self {
            source,
            stir,
            phase: Phase::Begun,
            look_at: Instant::now() + LOOK_INTERVAL,
            alive_at: Instant::now() + ALIVE_INTERVAL,
            told: BTreeMap::new(),
            problems: Vec::new(),
        }
    }

    /// Makes up for what no watch tells: a folder that was removed and made again, or one
    /// that is there.
    fn look(&mut self) -> Vec<SourceEvent> {
        self.look_at = Instant::now() + LOOK_INTERVAL;
        let path = self.source.path();
        let is_watched = self
            .stir
            .as_ref()
            .is_some_and(|stir| !stir.is_replaced(path));
        if !is_watched {
            self.stir = watch(&self.source);
            self.phase = Phase::touched(self.look_at);
        }
        self.alive()
    }

    fn alive(&mut self) -> Vec<SourceEvent> {
        let is_due = self.alive_at <= Instant::now();
        if !is_due || std::fs::read_dir(self.source.path()).is_err() {
            return Vec::new();
        }
        self.alive_at = Instant::now() + ALIVE_INTERVAL;
        FactKind::ALL.map(|kind| SourceEvent::Alive { kind }).into()
    }

    fn read(&mut self) -> BTreeMap<FactKey, Fact> {
        let folder = self.source.reread();
        let facts = folder.facts();
        let problems = folder.problems();
        self.source.put(folder);
        for problem in &problems {
            if !self.problems.contains(problem) {
                tracing::warn!(folder = self.source.describe(), %problem, "bad manifest");
            }
        }
        self.problems = problems;
        facts
    }

    fn begin(&mut self) -> Vec<SourceEvent> {
        self.phase = Phase::Settled;
        self.told = self.read();
        let lists = lists(&self.told).into_iter();
        lists.map(SourceEvent::Listed).collect()
    }

    fn go_on(&mut self) -> Vec<SourceEvent> {
        self.phase = Phase::Settled;
        let now = self.read();
        let changes = changes(&self.told, &now);
        self.told = now;
        changes
    }
}

fn watch(source: &ManifestSource) -> Option<Stir> {
    match Stir::watch(source.path()) {
        Ok(stir) => Some(stir),
        Err(error) => {
            tracing::debug!(folder = source.describe(), %error, "no watch of manifests");
            None
        }
    }
}

/// Waits until the folder is touched.
async fn touched(stir: &mut Option<Stir>) {
    match stir {
        Some(stir) => stir.touched().await,
        None => std::future::pending().await,
    }
}

impl FactSession for ManifestSession {
    async fn next(&mut self) -> Vec<SourceEvent> {
        loop {
            // A touch is noted before anything else is waited for, so that none is lost
            // when the caller stops waiting.
            let events = match self.phase {
                Phase::Begun => self.begin(),
                Phase::Settled => match timeout_at(self.look_at, touched(&mut self.stir)).await {
                    Ok(()) => {
                        self.phase = Phase::touched(Instant::now() + SETTLED_MAX);
                        Vec::new()
                    }
                    Err(_) => self.look(),
                },
                Phase::Touched { quiet, latest } => {
                    match timeout_at(quiet.min(latest), touched(&mut self.stir)).await {
                        Ok(()) => {
                            self.phase = Phase::touched(latest);
                            Vec::new()
                        }
                        Err(_) => self.go_on(),
                    }
                }
            };
            if !events.is_empty() {
                return events;
            }
        }
    }
}
