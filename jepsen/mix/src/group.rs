//! The replicas of a run, and what becomes of their processes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use lockstep_jepsen_checkers::{Life, LifeState, Replica as Name, Seen};
use rustix::process::Signal;

use crate::recorder::Recorder;
use lockstep_jepsen_gear::debt::Debts;
use lockstep_jepsen_gear::disk::Disk;
use lockstep_jepsen_gear::replica::Replica;

/// When a replica that ended by itself is started again, as a kubelet does.
const AGAIN: Duration = Duration::from_secs(1);

/// All replicas with their disks, by place, from 0.
pub(crate) struct Group<'a> {
    pub(super) replicas: Vec<Replica>,
    pub(super) disks: Vec<Disk>,
    debts: &'a Debts,
    recorder: Recorder,
    /// Those that a fault keeps down.
    held: BTreeSet<usize>,
    /// Those that ended by themselves, and when they start again.
    again: BTreeMap<usize, Instant>,
}

/// The name of a place.
pub(crate) fn name(place: usize) -> Name {
    Name(u16::try_from(place + 1).unwrap_or(u16::MAX))
}

// === impl Group ===

impl<'a> Group<'a> {
    /// A group of which nobody runs yet.
    pub(crate) fn new(debts: &'a Debts, recorder: Recorder) -> Self {
        Self {
            replicas: Vec::new(),
            disks: Vec::new(),
            debts,
            recorder,
            held: BTreeSet::new(),
            again: BTreeMap::new(),
        }
    }

    fn note(&self, place: usize, state: LifeState) {
        let replica = name(place);
        let seen = Seen::Life(Life { replica, state });
        self.recorder.saw(replica, seen);
    }

    /// Starts a replica, if it does not run.
    ///
    /// # Errors
    ///
    /// When there is no such replica, or its program cannot be executed.
    pub(crate) fn start(&mut self, place: usize) -> anyhow::Result<()> {
        self.held.remove(&place);
        self.again.remove(&place);
        let replica = self.replicas.get_mut(place).context("no such replica")?;
        if replica.process().is_none() {
            replica.start(self.debts)?;
            self.note(place, LifeState::Up);
        }
        Ok(())
    }

    /// Ends replicas without a word, all at once; they stay down until they are started.
    ///
    /// # Errors
    ///
    /// When one does not die.
    pub(crate) fn kill(&mut self, places: &[usize]) -> anyhow::Result<()> {
        self.signal(places, Signal::KILL)?;
        for place in places {
            self.held.insert(*place);
            self.again.remove(place);
            let replica = self.replicas.get_mut(*place).context("no such replica")?;
            let is_running = replica.process().is_some();
            let ended = replica.kill()?;
            // By the kill, unless it had ended by itself a moment before.
            if is_running || ended.is_some() {
                let code = ended.and_then(|status| status.code());
                self.note(*place, LifeState::Down(code));
            }
        }
        Ok(())
    }

    /// Asks a replica to end, and leaves it down.
    ///
    /// # Errors
    ///
    /// When it cannot be asked.
    pub(crate) fn terminate(&mut self, place: usize) -> anyhow::Result<()> {
        self.held.insert(place);
        self.signal(&[place], Signal::TERM)
    }

    /// Stops replicas where they are.
    ///
    /// # Errors
    ///
    /// When one cannot be stopped.
    pub(crate) fn pause(&self, places: &[usize]) -> anyhow::Result<()> {
        self.signal(places, Signal::STOP)?;
        // Noted when it is so, and no more when it may not be so: a claim is held against the
        // time in between.
        for place in places {
            self.note(*place, LifeState::Paused);
        }
        Ok(())
    }

    /// Lets replicas go on.
    ///
    /// # Errors
    ///
    /// When one cannot be told.
    pub(crate) fn go_on(&self, places: &[usize]) -> anyhow::Result<()> {
        for place in places {
            self.note(*place, LifeState::Up);
        }
        self.signal(places, Signal::CONT)
    }

    fn signal(&self, places: &[usize], signal: Signal) -> anyhow::Result<()> {
        for place in places {
            let replica = self.replicas.get(*place).context("no such replica")?;
            if let Some(process) = replica.process() {
                process.signal(signal)?;
            }
        }
        Ok(())
    }

    /// Notes who has ended by itself, and starts those whose time has come.
    ///
    /// # Errors
    ///
    /// When a program cannot be executed.
    pub(crate) fn tend(&mut self) -> anyhow::Result<()> {
        let now = Instant::now();
        for place in 0..self.replicas.len() {
            let ended = self.replicas.get_mut(place).and_then(Replica::ended);
            if let Some(status) = ended {
                self.note(place, LifeState::Down(status.code()));
                if !self.held.contains(&place) {
                    self.again.insert(place, now + AGAIN);
                }
            }
        }
        let due = self.again.iter().filter(|(_, at)| **at <= now);
        let due: Vec<usize> = due.map(|(place, _)| *place).collect();
        due.into_iter().try_for_each(|place| self.start(place))
    }

    /// Takes a stopped replica's disk away: it comes back with an empty one.
    ///
    /// # Errors
    ///
    /// When the files cannot be removed.
    pub(crate) fn forget(&self, place: usize) -> anyhow::Result<()> {
        let replica = self.replicas.get(place).context("no such replica")?;
        let data = &replica.plan().data;
        fs::remove_dir_all(data).with_context(|| format!("cannot remove {}", data.display()))
    }

    /// The disk of a replica.
    ///
    /// # Errors
    ///
    /// When there is no such replica.
    pub(crate) fn disk(&self, place: usize) -> anyhow::Result<&Disk> {
        self.disks.get(place).context("no such disk")
    }
}
